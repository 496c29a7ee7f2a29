"""Reads the CSV files of an instructor: roster, overrides, comments and late-day balances.

All of Excel's formats are accepted: commas, semicolons or tabs; UTF-8, UTF-16 or Windows-1252. The error for an
unusable file lists every bad line.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import chain, repeat
from pathlib import Path

from autograder.exceptions import ArgumentsError
from autograder.homework.rubric import Rubric
from autograder.submissions.submission import Identity, Student
from autograder.submissions.text import number

LARGEST = 2**24  # size limit of a table
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Equivalent headers of Gradescope's roster, Canvas's gradebook, Moodle's tables and handwritten files.
HEADERS = {
    "name": ("name", "student", "full name"),
    "sid": ("sid", "sis user id", "student id", "id number"),
    "email": ("email", "sis login id", "login id", "email address"),
    "canvas": ("id",),
    "login": ("username", "github_username", "github"),
    "section": ("section", "sections", "section name", "groups"),
    "due": ("due",),
    "extension_hours": ("extension_hours",),
    "excused": ("excused",),
}
NAMES = ("first name", "first_name"), ("last name", "last_name", "surname")
MOODLE = re.compile(r"\D+(\d+)")  # in the column "Identifier" of a grading worksheet: "Participant 700112"
YES, NO = ("x", "yes", "y", "true", "1", "ex", "excused"), ("no", "n", "false", "0")
TIME = "2026-11-27T23:59+01:00"  # an example
LAST_MOMENT = time(23, 59, 59, 999_999)  # the time of a due date without one

# The header and an example line of each table; a roster may have other columns.
PEOPLE = "name,sid,email,section", "Ada Abel,3000001,ada@example.org,Monday"
OVERRIDES = "student,criterion,points,reason", "ada@example.org,total,90,oral exam"
COMMENTS = "student,about,comment", "ada@example.org,total,please see me about the masks"
BALANCES = "student,days", "ada@example.org,3"
TOTAL, EXCUSED, WITHHELD = "total", "excused", "withheld"
WORDS = {"ex": EXCUSED, WITHHELD: WITHHELD}  # allowed instead of points for the total
Cells = dict[str, str]


@dataclass(frozen=True)
class Person:
    """A student in the roster. `due` is an individual due date, or the class's with an extension."""

    student: Student
    section: str = ""
    due: datetime | None = None
    excused: bool = False


@dataclass(frozen=True)
class Line:
    """What an instructor's table says about a student: an override, a comment, or the late days left before this homework.

    `student` is an address, an id, a submission or a name. `about` is "total", a criterion's id or, for a comment, a file or a
    line of a file such as "module.py:12". `points` may be EXCUSED or WITHHELD for a total, or are late days. `text` is the
    reason or the comment, which the student reads.
    """

    student: str
    about: str
    points: float | str
    text: str
    where: str = ""
    author: str = ""
    date: str = ""

    @property
    def who(self) -> str:
        return ", ".join(filter(None, (self.author, self.date)))

    def __str__(self) -> str:
        what = self.points if isinstance(self.points, str) else f"{self.about} set to {number(self.points)}"
        return f"{what}: {self.text}" + (f" ({self.who})" if self.who else "")


@dataclass(frozen=True)
class Inputs:
    """The contents of all input files."""

    roster: Sequence[Person] = ()
    overrides: Sequence[Line] = ()
    comments: Sequence[Line] = ()
    late_days: Sequence[Line] = ()


def read(
    rubric: Rubric,
    roster_file: Path | None = None,
    override_files: Sequence[Path] = (),
    comment_files: Sequence[Path] = (),
    late_days_file: Path | None = None,
) -> tuple[Inputs, list[str]]:
    """Read the files; also returns a sentence for each unusable line, except in the roster.

    Raises ArgumentsError for an unusable file or roster, and for late days without a late policy.
    """
    if late_days_file and rubric.late is None:
        raise ArgumentsError(f"{late_days_file}: late days need a late policy; add `late:` to rubric.yaml")
    problems: list[str] = []

    def table(paths: Iterable[Path], example: tuple[str, str], line: Callable[[Cells, Rubric], Line]) -> list[Line]:
        values = []
        for where, cells in (pair for path in paths for pair in _lines(path, example)):
            try:
                if empty := [name for name in example[0].split(",") if not cells[name]]:
                    raise ValueError(f"the column {empty[0]!r} is empty")
                values.append(replace(line(cells, rubric), where=where, author=cells.get("author", "")))
            except ValueError as error:
                problems.append(f"{where}: {error}")
        return values

    inputs = Inputs(
        roster(roster_file, rubric) if roster_file else (),
        table(override_files, OVERRIDES, _override),
        table(comment_files, COMMENTS, _comment),
        table([late_days_file] if late_days_file else [], BALANCES, _balance),
    )
    return inputs, problems


def refuse(problems: Iterable[str]) -> None:
    """Raise ArgumentsError with all problems, if there are any."""
    if text := "\n".join(problems):
        raise ArgumentsError(text)


def _lines(path: Path, example: tuple[str, str]) -> Iterator[tuple[str, Cells]]:
    """Yield each line as its place ("file.csv:7") and its cells by lower-case header; blank lines are skipped.

    Raises ArgumentsError if the file is not a table, or lacks a column.
    """
    give = "a csv such as\n  " + "\n  ".join(example)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST)
    except OSError as error:
        raise ArgumentsError(f"{path}: cannot be read ({error.strerror or error}); give {give}") from None
    if b"\0" in data and not data.startswith(UTF_16):
        raise ArgumentsError(f"{path}: is not a CSV file; save an Excel workbook as CSV (UTF-8). Give {give}")
    try:
        if data.startswith(UTF_16):
            text = data.decode("utf-16")
        else:
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = data.decode("cp1252")  # Windows-1252, Excel's encoding in Western Europe
        separator = max(",;\t", key=text.partition("\n")[0].count)
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=separator))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ArgumentsError(f"{path}: cannot be read ({error}); save it in UTF-8, as {give}") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    for name in example[0].split(","):
        if name not in header and example != PEOPLE:
            raise ArgumentsError(f"{path}:1: there is no column {name!r}; give {give}")
    for line, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            cells = zip(header, chain(row, repeat("")), strict=False)
            yield f"{path}:{line}", {name: cell.strip() for name, cell in cells}


def roster(path: Path, rubric: Rubric) -> list[Person]:
    """Read a roster; other roles, and Canvas's line "Points Possible", are skipped.

    Raises ArgumentsError for a file that identifies no student, for unusable dates, and for contradictory lines about
    one student.
    """
    problems, people = list[str](), list[Person]()
    lines: dict[Identity, tuple[str, Cells]] = {}
    for where, columns in _lines(path, PEOPLE):
        cells = {name: next((columns[h] for h in headers if columns.get(h)), "") for name, headers in HEADERS.items()}
        names = (next((columns[h] for h in headers if columns.get(h)), "") for headers in NAMES)
        participant, excused = MOODLE.fullmatch(columns.get("identifier", "")), cells["excused"].lower()
        cells["name"] = cells["name"] or " ".join(filter(None, names))
        cells["moodle"] = participant[1] if participant else ""
        cells["excused"] = "yes" if excused in YES else "no" if excused in NO else excused
        if columns.get("role", "").lower() not in ("student", ""):
            continue
        for earlier, before in dict(lines[key] for key in _student(cells).identities if key in lines).items():
            differs = [
                n for n in cells if n != "section" and cells[n] and before[n] and cells[n].lower() != before[n].lower()
            ]
            for name in differs[:1]:
                but = f"{name} is {cells[name]} here and {before[name]} there"
                problems.append(f"{where}: the same student as in {earlier}, but {but}")
            if not differs:
                sections = dict.fromkeys(filter(None, (*before["section"].split(", "), cells["section"])))
                cells = {name: before[name] or cells[name] for name in cells} | {"section": ", ".join(sections)}
                where = f"{earlier}, {where}"
        lines |= dict.fromkeys(_student(cells).identities, (where, cells))
    for where, cells in dict(lines.values()).items():
        try:
            if cells["excused"] not in ("", "yes", "no"):
                raise ValueError(f"excused is {cells['excused']!r}; write yes or no")
            due = _due(cells["due"], cells["extension_hours"], rubric)
            people.append(Person(_student(cells), cells["section"], due, cells["excused"] == "yes"))
        except ValueError as error:
            problems.append(f"{where}: {error}")
    refuse(problems)
    if not people:
        headers = ", ".join((*HEADERS["sid"], *HEADERS["email"], *HEADERS["canvas"], *HEADERS["login"], "identifier"))
        example = "\n  ".join(PEOPLE)
        raise ArgumentsError(
            f"{path}: no student has an email address or ID; known column names: {headers}. Give a csv such as\n  {example}"
        )
    return people


def _student(cells: Cells) -> Student:
    return Student(**{name: cells[name] for name in ("name", "sid", "email", "canvas", "moodle", "login")})


def _due(day: str, hours: str, rubric: Rubric) -> datetime | None:
    """Return the individual due date of a student, or the class's with an extension."""
    if day and hours:
        raise ValueError("give either due or extension_hours")
    if day:
        try:
            due = datetime.fromisoformat(day)
        except ValueError:
            raise ValueError(f"due is {day!r}; write it as {TIME}") from None
        if re.fullmatch(r"\d{4}-\d\d-\d\d", day):
            due = datetime.combine(due, LAST_MOMENT)
        zone = due.tzinfo or (rubric.due.tzinfo if rubric.due else None)
        if zone is None:
            raise ValueError(f"due is {day!r}, without a time zone; write it as {TIME}")
        return due.replace(tzinfo=zone)
    if not hours:
        return None
    if rubric.due is None:
        raise ValueError(f"extension_hours needs a due date for the class; add due: {TIME} at the top of rubric.yaml")
    try:
        longer = rubric.due + timedelta(hours=float(hours.replace(",", ".")))
        if longer < rubric.due:
            raise ValueError(hours)
    except (ValueError, OverflowError):
        raise ValueError(f"extension_hours is {hours!r}, which is not a number of hours such as 48") from None
    return longer if longer > rubric.due else None


def _override(cells: Cells, rubric: Rubric) -> Line:
    for name in ("author", "date"):
        if cells.get(name) == "":
            raise ValueError(f"the column {name!r} is empty")
    criterion, when, text = cells["criterion"], cells.get("date", ""), cells["points"]
    graded = rubric.criteria.get(criterion)
    if graded is None and criterion != TOTAL:
        raise ValueError(f"there is no criterion {criterion!r}; give an id from grades.csv, or 'total'")
    try:
        date.fromisoformat(when or "2026-11-27")
    except ValueError:
        raise ValueError(f"date is {when!r}; write it as 2026-11-27") from None
    points: float | str = WORDS.get(text.lower(), "")
    if points and graded:
        raise ValueError(f"{text} concerns the whole homework: use it with total, not with {criterion}")
    if not points:
        try:
            points = float(text.replace(",", "."))
        except ValueError:
            raise ValueError(f"{text!r} is neither a number of points nor EX (excused) nor withheld") from None
        most = graded.most if graded else rubric.most
        if not 0 <= points <= most:
            raise ValueError(f"{number(points)} points, but {criterion} allows 0 to {number(most)}")
    return Line(cells["student"], criterion, points, cells["reason"], date=when)


def _comment(cells: Cells, rubric: Rubric) -> Line:
    about = cells["about"]
    if about not in (TOTAL, *rubric.criteria) and not re.fullmatch(r"[^`]+\.py(:[1-9]\d*)?", about):
        raise ValueError(f"about is {about!r}; give a criterion's id, a line such as {rubric.files[0]}:12, or total")
    return Line(cells["student"], about, "", cells["comment"])


def _balance(cells: Cells, rubric: Rubric) -> Line:
    if not re.fullmatch(r"\d{1,3}", cells["days"]):
        raise ValueError(f"days is {cells['days']!r}, which is not a number of days such as 3")
    return Line(cells["student"], TOTAL, int(cells["days"]), "")
