"""The csv files of an instructor: roster, overrides, comments and late-day balances.

Excel's formats are accepted, also European ones: commas, semicolons or tabs; UTF-8, UTF-16 or Latin-1. An unusable file is rejected
with its name and every bad line.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar

from autograder.exceptions import ArgumentsError
from autograder.feedback.text import number
from autograder.homework.rubric import Rubric
from autograder.submissions.uploads import Identity, Student

LARGEST = 2**24  # size limit of a table
SEPARATORS = ",;\t"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# The equivalent headers of Gradescope's roster, Canvas's gradebook, Moodle's tables and hand-made ones.
NAME = ("name", "student", "full name")
SID = ("sid", "sis user id", "student id", "id number")
EMAIL = ("email", "sis login id", "login id", "email address")
CANVAS = ("id",)
MOODLE = re.compile(r"\D+(\d+)")  # in the column "Identifier" of a grading worksheet: "Participant 700112"
SECTION = ("section", "sections", "section name", "groups")
YES, NO = {"x", "yes", "y", "true", "1", "ex", "excused"}, {"", "no", "n", "false", "0"}
TIME = "2026-11-27T23:59+01:00"  # an example
LAST_MOMENT = time(23, 59, 59, 999_999)  # of a due date without a time

COLUMNS, WHO = ("student", "criterion", "points", "reason"), ("author", "date")
PEOPLE = """a csv such as
  name,sid,email,section
  Ada Abel,3000001,ada@example.org,Monday"""
BY_HAND = """a csv such as
  student,criterion,points,reason
  ada@example.org,total,90,oral exam"""
REMARKS = """a csv such as
  student,about,comment
  ada@example.org,total,please see me about the masks"""
BALANCES = """a csv such as
  student,days
  ada@example.org,3"""
TOTAL, EXCUSED, WITHHELD = "total", "excused", "withheld"
WORDS = {"ex": EXCUSED, WITHHELD: WITHHELD}  # allowed instead of a total
Made = TypeVar("Made")


def _lines(path: Path, example: str, needed: tuple[str, ...] = ()) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line with its place ("file.csv:7") and its cells by header in lower case; blank lines are skipped.

    Raises ArgumentsError, with an example, if the file is not a table or lacks a column of `needed`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST)
    except OSError as error:
        raise ArgumentsError(f"{path}: cannot be read ({error.strerror or error}); give {example}") from None
    if b"\0" in data and not data.startswith(UTF_16):
        raise ArgumentsError(f"{path}: is not a CSV file; save an Excel workbook as CSV (UTF-8). Give {example}")
    try:
        text = _decoded(data)
        separator = max(SEPARATORS, key=text.partition("\n")[0].count)
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=separator))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ArgumentsError(f"{path}: cannot be read ({error}); save it in UTF-8, as {example}") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    absent = [name for name in needed if name not in header]
    if absent:
        raise ArgumentsError(f"{path}:1: there is no column {absent[0]!r}; give {example}")
    for line, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            yield f"{path}:{line}", {name: cell.strip() for name, cell in zip(header, row, strict=False)}


def _decoded(data: bytes) -> str:
    if data.startswith(UTF_16):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")  # Windows-1252, Excel's encoding in Western Europe


def _made(
    lines: Iterable[tuple[str, dict[str, str]]], make: Callable[[str, dict[str, str]], Made | None]
) -> tuple[list[Made], list[str]]:
    """The results of `make` for all lines, except None, and a sentence for each line that raises ValueError."""
    values, problems = [], []
    for place, cells in lines:
        try:
            value = make(place, cells)
            values += [] if value is None else [value]
        except ValueError as error:
            problems.append(f"{place}: {error}")
    return values, problems


def refuse(problems: Iterable[str]) -> None:
    """Raise ArgumentsError with all of them, if there are any."""
    if text := "\n".join(problems):
        raise ArgumentsError(text)


# The roster


@dataclass(frozen=True)
class Person:
    """A student of the roster, from one or more lines (`place`). `due` is the student's own due date, `extension` is added to
    that of the class; `excused` is None if unspecified.
    """

    student: Student
    section: str
    due: datetime | None = None
    extension: timedelta = timedelta(0)
    excused: bool | None = None
    place: str = ""


def roster(path: Path, rubric: Rubric) -> list[Person]:
    """The students of a roster; other roles, and Canvas's line "Points Possible", are skipped.

    Raises ArgumentsError for a file that identifies no student, for unusable dates, and for contradictory lines about one student.
    """
    people, problems = _made(_lines(path, PEOPLE), lambda place, cells: _person(place, cells, rubric))
    merged = _merged(people, problems)
    refuse(problems)
    if not merged:
        columns = ", ".join((*SID, *EMAIL, *CANVAS, "identifier"))
        raise ArgumentsError(
            f"{path}: no student has an email address or ID; known column names: {columns}. Give {PEOPLE}"
        )
    return merged


def _person(place: str, cells: Mapping[str, str], rubric: Rubric) -> Person | None:
    """Raises ValueError."""
    role = cells.get("role", "student").lower()
    if role not in ("student", "") or not _student(cells).identities:
        return None
    due, extension = _due(cells, rubric)
    excused = cells.get("excused", "").lower()
    if excused not in YES | NO:
        raise ValueError(f"excused is {excused!r}; write yes or no")
    return Person(_student(cells), _first(cells, SECTION), due, extension, excused in YES if excused else None, place)


def _merged(people: Iterable[Person], problems: list[str]) -> list[Person]:
    """Each student once; contradictory lines about one student are added to the problems."""
    by_identity: dict[Identity, Person] = {}
    for person in people:
        for earlier in dict.fromkeys(by_identity[key] for key in person.student.identities if key in by_identity):
            try:
                person = _joined(earlier, person)
            except ValueError as error:
                problems.append(f"{person.place}: the same student as in {earlier.place}, but {error}")
        by_identity |= dict.fromkeys(person.student.identities, person)
    return list(dict.fromkeys(by_identity.values()))


def _joined(first: Person, second: Person) -> Person:
    """Merge two lines about one student. Raises ValueError if they contradict each other."""
    if (first.due and second.extension) or (first.extension and second.due):
        raise ValueError("one has due, the other extension_hours")
    parts = [_either(f.name, getattr(first.student, f.name), getattr(second.student, f.name)) for f in fields(Student)]
    sections = dict.fromkeys(part for person in (first, second) for part in person.section.split(", ") if part)
    return Person(
        Student(*parts),
        ", ".join(sections),
        _either("due", first.due, second.due),
        _either("extension_hours", first.extension, second.extension),
        _either("excused", first.excused, second.excused),
        f"{first.place}, {second.place}",
    )


def _either(name: str, first: Any, second: Any) -> Any:
    """The given value. Raises ValueError for two values that differ by more than case."""
    empty = (None, "", timedelta(0))
    if first not in empty and second not in empty and first != second and str(first).lower() != str(second).lower():
        raise ValueError(f"{name} is {_as_written(second)} here and {_as_written(first)} there")
    return second if first in empty else first


def _as_written(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value / timedelta(hours=1):g}"
    if isinstance(value, datetime):
        return value.isoformat(timespec="minutes")
    return str({True: "yes", False: "no"}.get(value, value))


def _due(cells: Mapping[str, str], rubric: Rubric) -> tuple[datetime | None, timedelta]:
    """A student's own due date, and an extension; at most one of the two."""
    own, hours = cells.get("due", ""), cells.get("extension_hours", "")
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
        return due.replace(tzinfo=zone), timedelta(0)
    if hours and rubric.due is None:
        raise ValueError(f"extension_hours needs a due date for the class; add due: {TIME} at the top of rubric.yaml")
    try:
        text = hours or "0"
        extension = float(text.replace(",", "."))
        if not 0 <= extension < float("inf"):
            raise ValueError(text)
        return None, timedelta(hours=extension)
    except (ValueError, OverflowError):
        raise ValueError(f"extension_hours is {hours!r}, which is not a number of hours such as 48") from None


def _student(cells: Mapping[str, str]) -> Student:
    parts = (cells.get("first name", ""), cells.get("last name", "") or cells.get("surname", ""))
    name = _first(cells, NAME) or " ".join(filter(None, parts))
    participant = MOODLE.fullmatch(cells.get("identifier", ""))
    moodle = participant[1] if participant else ""
    return Student(name, _first(cells, SID), _first(cells, EMAIL), _first(cells, CANVAS), moodle)


def _first(cells: Mapping[str, str], headers: Iterable[str]) -> str:
    return next((cells[header] for header in headers if cells.get(header)), "")


# Overrides: points set by an instructor, each with a reason; applied last, and shown


@dataclass(frozen=True)
class Override:
    """One line: `criterion` is a criterion's id or "total", `student` an address, an id, a submission or a name.

    `points` may be EXCUSED or WITHHELD in the place of a total.
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


def overrides(paths: Iterable[Path], rubric: Rubric) -> tuple[list[Override], list[str]]:
    """The lines of all files, and every line with something missing, unknown or out of range.

    Raises ArgumentsError if a file cannot be read or lacks a column.
    """
    lines = (line for path in paths for line in _lines(path, BY_HAND, COLUMNS))
    return _made(lines, lambda place, cells: _override(place, cells, rubric))


def _override(place: str, cells: Mapping[str, str], rubric: Rubric) -> Override:
    """Raises ValueError."""
    _refuse_empty(cells, (*COLUMNS, *(name for name in WHO if name in cells)))
    criterion = cells["criterion"]
    graded = rubric.criteria.get(criterion)
    if graded is None and criterion != TOTAL:
        raise ValueError(f"there is no criterion {criterion!r}; give an id from grades.csv, or 'total'")
    when = cells.get("date", "")
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


# Comments of graders; they change no points


@dataclass(frozen=True)
class Comment:
    """One line: `about` is a criterion's id, a file, a line of a file such as "module.py:12", or "total"."""

    student: str
    about: str
    text: str
    place: str
    author: str = ""


def comments(paths: Iterable[Path], rubric: Rubric) -> tuple[list[Comment], list[str]]:
    """The comments of all files, and every unusable line. Raises ArgumentsError like `overrides`."""
    lines = (line for path in paths for line in _lines(path, REMARKS, ("student", "about", "comment")))
    return _made(lines, lambda place, cells: _comment(place, cells, rubric))


def _comment(place: str, cells: Mapping[str, str], rubric: Rubric) -> Comment:
    """Raises ValueError."""
    _refuse_empty(cells, ("student", "about", "comment"))
    about = cells["about"]
    if about not in (TOTAL, *rubric.criteria) and not re.fullmatch(r"[^`]+\.py(:[1-9]\d*)?", about):
        raise ValueError(f"about is {about!r}; give a criterion's id, a line such as {rubric.files[0]}:12, or total")
    return Comment(cells["student"], about, cells["comment"], place, cells.get("author", ""))


# Late days: how many each student has left for the rest of the term


@dataclass(frozen=True)
class Balance:
    """One line: the late days that a student has left before this homework."""

    student: str
    days: int
    place: str


def late_days(path: Path, rubric: Rubric) -> tuple[list[Balance], list[str]]:
    """The balances, and every unusable line. Raises ArgumentsError, also if lateness costs nothing."""
    if rubric.late is None:
        raise ArgumentsError(f"{path}: late days need a late policy; add `late:` to rubric.yaml")
    return _made(_lines(path, BALANCES, ("student", "days")), _balance)


def _balance(place: str, cells: Mapping[str, str]) -> Balance:
    """Raises ValueError."""
    _refuse_empty(cells, ("student", "days"))
    if not re.fullmatch(r"\d{1,3}", cells["days"]):
        raise ValueError(f"days is {cells['days']!r}, which is not a number of days such as 3")
    return Balance(cells["student"], int(cells["days"]), place)


def _refuse_empty(cells: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise ValueError for a cell that must not be empty."""
    for name in names:
        if not cells.get(name):
            raise ValueError(f"the column {name!r} is empty")


@dataclass(frozen=True)
class Inputs:
    """All of the instructor's tables."""

    roster: Sequence[Person] = ()
    overrides: Sequence[Override] = ()
    comments: Sequence[Comment] = ()
    late_days: Sequence[Balance] = ()


def read(
    rubric: Rubric,
    roster_file: Path | None = None,
    override_files: Iterable[Path] = (),
    comment_files: Iterable[Path] = (),
    late_days_file: Path | None = None,
) -> tuple[Inputs, list[str]]:
    """The contents of the files, and every unusable line. Raises ArgumentsError for unusable files."""
    set_by_hand, problems = overrides(override_files, rubric)
    remarks, unclear = comments(comment_files, rubric)
    balances, wrong = late_days(late_days_file, rubric) if late_days_file else ([], [])
    people = roster(roster_file, rubric) if roster_file else []
    return Inputs(people, set_by_hand, remarks, balances), [*problems, *unclear, *wrong]
