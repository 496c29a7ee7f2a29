"""Reads the CSV files of an instructor: roster, overrides, comments and late-day balances.

All of Excel's formats are accepted: commas, semicolons or tabs; UTF-8, UTF-16 or Windows-1252. The error for an
unusable file lists every bad line.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import chain, repeat
from pathlib import Path
from typing import TypeVar

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
Made = TypeVar("Made")


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
        text = _decoded(data)
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


def _decoded(data: bytes) -> str:
    if data.startswith(UTF_16):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")  # Windows-1252, Excel's encoding in Western Europe


def _made(
    lines: Iterable[tuple[str, Cells]], make: Callable[[str, Cells, Rubric], Made], rubric: Rubric, problems: list[str]
) -> list[Made]:
    """Apply `make` to each line; for a ValueError, add a sentence to `problems`."""
    values = []
    for place, cells in lines:
        try:
            values.append(make(place, cells, rubric))
        except ValueError as error:
            problems.append(f"{place}: {error}")
    return values


def refuse(problems: Iterable[str]) -> None:
    """Raise ArgumentsError with all problems, if there are any."""
    if text := "\n".join(problems):
        raise ArgumentsError(text)


# The roster


@dataclass(frozen=True)
class Person:
    """A student in the roster. `due` is an individual due date, or the class's with an extension."""

    student: Student
    section: str = ""
    due: datetime | None = None
    excused: bool = False


def roster(path: Path, rubric: Rubric) -> list[Person]:
    """The students in a roster; other roles, and Canvas's line "Points Possible", are skipped.

    Raises ArgumentsError for a file that identifies no student, for unusable dates, and for contradictory lines about
    one student.
    """
    problems: list[str] = []
    lines: dict[Identity, tuple[str, Cells]] = {}
    for place, found in _lines(path, PEOPLE):
        cells = _known(found)
        if found.get("role", "").lower() not in ("student", ""):
            continue
        for earlier, other in dict(lines[key] for key in _student(cells).identities if key in lines).items():
            try:
                cells = _merged(other, cells)
                place = f"{earlier}, {place}"
            except ValueError as error:
                problems.append(f"{place}: the same student as in {earlier}, but {error}")
        lines |= dict.fromkeys(_student(cells).identities, (place, cells))
    people = _made(dict(lines.values()).items(), _person, rubric, problems)
    refuse(problems)
    if not people:
        known = ", ".join((*HEADERS["sid"], *HEADERS["email"], *HEADERS["canvas"], *HEADERS["login"], "identifier"))
        example = "\n  ".join(PEOPLE)
        raise ArgumentsError(
            f"{path}: no student has an email address or ID; known column names: {known}. Give a csv such as\n  {example}"
        )
    return people


def _known(cells: Cells) -> Cells:
    """The cells of a line under the names in HEADERS, and "moodle"."""
    known = {name: next((cells[h] for h in headers if cells.get(h)), "") for name, headers in HEADERS.items()}
    parts = (next((cells[h] for h in headers if cells.get(h)), "") for headers in NAMES)
    participant = MOODLE.fullmatch(cells.get("identifier", ""))
    excused = known["excused"].lower()
    return known | {
        "name": known["name"] or " ".join(filter(None, parts)),
        "moodle": participant[1] if participant else "",
        "excused": "yes" if excused in YES else "no" if excused in NO else excused,
    }


def _student(cells: Cells) -> Student:
    return Student(cells["name"], cells["sid"], cells["email"], cells["canvas"], cells["moodle"], login=cells["login"])


def _merged(first: Cells, second: Cells) -> Cells:
    """Merge two lines about one student. Raises ValueError if they contradict each other."""
    for name in (name for name in first if name != "section"):
        if first[name] and second[name] and first[name].lower() != second[name].lower():
            raise ValueError(f"{name} is {second[name]} here and {first[name]} there")
    sections = dict.fromkeys(filter(None, (*first["section"].split(", "), second["section"])))
    return {name: first[name] or second[name] for name in first} | {"section": ", ".join(sections)}


def _person(place: str, cells: Cells, rubric: Rubric) -> Person:
    if cells["excused"] not in ("", "yes", "no"):
        raise ValueError(f"excused is {cells['excused']!r}; write yes or no")
    return Person(_student(cells), cells["section"], _due(cells, rubric), cells["excused"] == "yes")


def _due(cells: Cells, rubric: Rubric) -> datetime | None:
    """The individual due date of a student, or the class's with an extension."""
    own, hours = cells["due"], cells["extension_hours"]
    if own and hours:
        raise ValueError("give either due or extension_hours")
    if own:
        try:
            due = datetime.fromisoformat(own)
        except ValueError:
            raise ValueError(f"due is {own!r}; write it as {TIME}") from None
        if re.fullmatch(r"\d{4}-\d\d-\d\d", own):
            due = datetime.combine(due, LAST_MOMENT)
        zone = due.tzinfo or (rubric.due.tzinfo if rubric.due else None)
        if zone is None:
            raise ValueError(f"due is {own!r}, without a time zone; write it as {TIME}")
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


# Overrides: points set by an instructor, each with a reason; applied last, and shown to the student


@dataclass(frozen=True)
class Override:
    """One override. `criterion` is a criterion's id or "total", `student` an address, an id, a submission or a name.

    The `points` of a total may be EXCUSED or WITHHELD.
    """

    student: str
    criterion: str
    points: float | str
    reason: str
    place: str = ""
    author: str = ""
    date: str = ""

    def __str__(self) -> str:
        what = self.points if isinstance(self.points, str) else f"{self.criterion} set to {number(self.points)}"
        who = ", ".join(filter(None, (self.author, self.date)))
        return f"{what}: {self.reason}" + (f" ({who})" if who else "")


def _override(place: str, cells: Cells, rubric: Rubric) -> Override:
    _refuse_empty(cells, "student", "criterion", "points", "reason", *({"author", "date"} & cells.keys()))
    criterion, when = cells["criterion"], cells.get("date", "")
    graded = rubric.criteria.get(criterion)
    if graded is None and criterion != TOTAL:
        raise ValueError(f"there is no criterion {criterion!r}; give an id from grades.csv, or 'total'")
    try:
        date.fromisoformat(when or "2026-11-27")
    except ValueError:
        raise ValueError(f"date is {when!r}; write it as 2026-11-27") from None
    points = _points(cells["points"], criterion, graded.most if graded else rubric.most)
    return Override(cells["student"], criterion, points, cells["reason"], place, cells.get("author", ""), when)


def _points(text: str, criterion: str, most: float) -> float | str:
    if text.lower() in WORDS:
        if criterion != TOTAL:
            raise ValueError(f"{text} concerns the whole homework: use it with total, not with {criterion}")
        return WORDS[text.lower()]
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{text!r} is neither a number of points nor EX (excused) nor withheld") from None
    if not 0 <= points <= most:
        raise ValueError(f"{number(points)} points, but {criterion} allows 0 to {number(most)}")
    return points


def _refuse_empty(cells: Cells, *names: str) -> None:
    for name in names:
        if not cells[name]:
            raise ValueError(f"the column {name!r} is empty")


# Comments of graders; they change no points


@dataclass(frozen=True)
class Comment:
    """One comment. `about` is a criterion's id, a file, a line of a file such as "module.py:12", or "total"."""

    student: str
    about: str
    text: str
    place: str
    author: str = ""


def _comment(place: str, cells: Cells, rubric: Rubric) -> Comment:
    _refuse_empty(cells, "student", "about", "comment")
    about = cells["about"]
    if about not in (TOTAL, *rubric.criteria) and not re.fullmatch(r"[^`]+\.py(:[1-9]\d*)?", about):
        raise ValueError(f"about is {about!r}; give a criterion's id, a line such as {rubric.files[0]}:12, or total")
    return Comment(cells["student"], about, cells["comment"], place, cells.get("author", ""))


# Late days: how many each student has left for the rest of the term


@dataclass(frozen=True)
class Balance:
    """The late days that a student has left before this homework."""

    student: str
    days: int
    place: str


def _balance(place: str, cells: Cells, rubric: Rubric) -> Balance:
    _refuse_empty(cells, "student", "days")
    if not re.fullmatch(r"\d{1,3}", cells["days"]):
        raise ValueError(f"days is {cells['days']!r}, which is not a number of days such as 3")
    return Balance(cells["student"], int(cells["days"]), place)


@dataclass(frozen=True)
class Inputs:
    """The contents of all input files."""

    roster: Sequence[Person] = ()
    overrides: Sequence[Override] = ()
    comments: Sequence[Comment] = ()
    late_days: Sequence[Balance] = ()


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

    def table(
        paths: Iterable[Path], example: tuple[str, str], make: Callable[[str, Cells, Rubric], Made]
    ) -> list[Made]:
        return _made((line for path in paths for line in _lines(path, example)), make, rubric, problems)

    given = Inputs(
        roster(roster_file, rubric) if roster_file else (),
        table(override_files, OVERRIDES, _override),
        table(comment_files, COMMENTS, _comment),
        table([late_days_file] if late_days_file else [], BALANCES, _balance),
    )
    return given, problems
