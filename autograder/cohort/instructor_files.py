"""The csv files that an instructor gives: a roster of people, and points set by hand.

As Excel writes them, also in Europe: separated by commas, semicolons or tabs, in UTF-8, UTF-16 or Latin-1. A file that cannot
be used is refused with the file and every bad line.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from autograder.faults import ArgumentsError
from autograder.feedback.results import number
from autograder.homework.rubric import Rubric
from autograder.intake.entries import Student

LARGEST = 2**24  # bytes of a table that is read
SEPARATORS = ",;\t"

# The headers by which Gradescope's roster, Canvas's gradebook, Moodle's tables and hand-made ones name the same thing.
NAME = ("name", "student", "full name")
SID = ("sid", "sis user id", "student id", "id number")
EMAIL = ("email", "sis login id", "login id", "email address")
CANVAS = ("id",)
MOODLE = re.compile(r"\D+(\d+)")  # in a grading worksheet's column "Identifier", as "Participant 700112"
SECTION = ("section", "sections", "section name", "groups")
YES, NO = {"x", "yes", "y", "true", "1", "ex", "excused"}, {"", "no", "n", "false", "0"}
TIME = "2026-11-27T23:59+01:00"  # an example

COLUMNS, WHO = ("student", "criterion", "points", "reason"), ("author", "date")
TOTAL, EXCUSED = "total", "ex"
Made = TypeVar("Made")


def _lines(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line with its place ("file.csv:7"), cells by header in lower case, blank lines left out.

    Raises ArgumentsError for a file that cannot be read or lacks a column of `needed`.
    """
    try:
        with path.open("rb") as file:
            text = _decoded(file.read(LARGEST))
        first = text.partition("\n")[0]
        separator = max(SEPARATORS, key=first.count)
        rows = list(csv.reader(text.splitlines(keepends=True), delimiter=separator))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        advice = "save it as csv, in UTF-8"
        raise ArgumentsError(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}); {advice}"
        ) from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    absent = [name for name in needed if name not in header]
    if absent:
        raise ArgumentsError(f"{path}:1: there is no column {absent[0]!r}; needed are {', '.join(needed)}")
    for line, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            yield f"{path}:{line}", {name: cell.strip() for name, cell in zip(header, row, strict=False)}


def _decoded(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252")  # Windows' form of Latin-1, in which Excel writes in Western Europe


def _made(
    lines: Iterable[tuple[str, dict[str, str]]], make: Callable[[str, dict[str, str]], Made | None]
) -> tuple[list[Made], list[str]]:
    """What `make` makes of each line, None left out, and what is wrong with those that it refuses with a ValueError."""
    found, problems = [], []
    for place, cells in lines:
        try:
            made = make(place, cells)
            found += [] if made is None else [made]
        except ValueError as error:
            problems.append(f"{place}: {error}")
    return found, problems


def refuse(problems: Iterable[str]) -> None:
    """Raise ArgumentsError with all of them, if there are any."""
    if text := "\n".join(problems):
        raise ArgumentsError(text)


# The roster


@dataclass(frozen=True)
class Person:
    """A line of the roster. `due` is this student's own due date, `extension` what is added to that of the class."""

    student: Student
    section: str
    due: datetime | None = None
    extension: timedelta = timedelta(0)
    excused: bool = False


def roster(path: Path, rubric: Rubric) -> list[Person]:
    """Students of a roster; lines for other roles, and Canvas's line "Points Possible", are left out.

    Raises ArgumentsError for a file without anything to know a student by, and for dates that cannot be used.
    """
    found, problems = _made(_lines(path, ()), lambda place, cells: _person(cells, rubric))
    refuse(problems)
    if not any(person.student.identities for person in found):
        raise ArgumentsError(f"{path}: no column has an address or an id; as a roster has: name, sid, email, section")
    return found


def _person(cells: Mapping[str, str], rubric: Rubric) -> Person | None:
    """Raises ValueError."""
    role = cells.get("role", "student").lower()
    if role not in ("student", "") or not _student(cells).identities:
        return None
    due, extension = _due(cells, rubric)
    excused = cells.get("excused", "").lower()
    if excused not in YES | NO:
        raise ValueError(f"excused is {excused!r}; write yes or no")
    return Person(_student(cells), _first(cells, SECTION), due, extension, excused in YES)


def _due(cells: Mapping[str, str], rubric: Rubric) -> tuple[datetime | None, timedelta]:
    """A student's own due date, and what is added to that of the class; at most one of the two."""
    own, hours = cells.get("due", ""), cells.get("extension_hours", "")
    if own and hours:
        raise ValueError("give either due or extension_hours")
    if own:
        try:
            due = datetime.fromisoformat(own)
        except ValueError:
            raise ValueError(f"due is {own!r}; write it as {TIME}") from None
        zone = due.tzinfo or (rubric.due.tzinfo if rubric.due else None)
        if zone is None:
            raise ValueError(f"due is {own!r}, without a time zone; write it as {TIME}")
        return due.replace(tzinfo=zone), timedelta(0)
    if hours and rubric.due is None:
        raise ValueError(f"extension_hours needs a due date of the class: due: {TIME} at the top of rubric.yaml")
    try:
        return None, timedelta(hours=_number(hours or "0"))
    except (ValueError, OverflowError):
        raise ValueError(f"extension_hours is {hours!r}, which is no number of hours, as 48 is") from None


def _number(text: str) -> float:
    """Not negative; with a decimal point or comma. Raises ValueError."""
    found = float(text.replace(",", "."))
    if not 0 <= found < float("inf"):
        raise ValueError(text)
    return found


def _student(cells: Mapping[str, str]) -> Student:
    parts = (cells.get("first name", ""), cells.get("last name", "") or cells.get("surname", ""))
    name = _first(cells, NAME) or " ".join(filter(None, parts))
    participant = MOODLE.fullmatch(cells.get("identifier", ""))
    moodle = participant[1] if participant else ""
    return Student(name, _first(cells, SID), _first(cells, EMAIL), _first(cells, CANVAS), moodle)


def _first(cells: Mapping[str, str], headers: Iterable[str]) -> str:
    return next((cells[header] for header in headers if cells.get(header)), "")


# Overrides: points that an instructor sets by hand, each with a reason; they come last and are shown


@dataclass(frozen=True)
class Override:
    """One line: `criterion` is a criterion's id or "total", `student` an address, an id, a submission or a name.

    `points` is None for a student who is excused.
    """

    student: str
    criterion: str
    points: float | None
    reason: str
    place: str = ""
    author: str = ""
    date: str = ""

    def __str__(self) -> str:
        what = "excused" if self.points is None else f"{self.criterion} set to {number(self.points)}"
        who = ", ".join(filter(None, (self.author, self.date)))
        return f"{what}: {self.reason}" + (f" ({who})" if who else "")


def overrides(paths: Iterable[Path], rubric: Rubric) -> tuple[list[Override], list[str]]:
    """The lines of all files, and every line in which anything is missing, unknown or out of range.

    Raises ArgumentsError for a file that cannot be read or lacks a column.
    """
    lines = (line for path in paths for line in _lines(path, COLUMNS))
    return _made(lines, lambda place, cells: _override(place, cells, rubric))


def _override(place: str, cells: Mapping[str, str], rubric: Rubric) -> Override:
    """Raises ValueError."""
    absent = next((name for name in (*COLUMNS, *WHO) if name in (*COLUMNS, *cells) and not cells.get(name)), "")
    if absent:
        raise ValueError(f"the column {absent!r} is empty")
    criterion = cells["criterion"]
    known = rubric.criteria.get(criterion)
    if known is None and criterion != TOTAL:
        raise ValueError(f"there is no criterion {criterion!r}; give its id, as in grades.csv, or total")
    when = cells.get("date", "")
    try:
        date.fromisoformat(when or "2026-11-27")
    except ValueError:
        raise ValueError(f"date is {when!r}; write it as 2026-11-27") from None
    points = _points(cells["points"], criterion, known.most if known else rubric.most)
    return Override(cells["student"], criterion, points, cells["reason"], place, cells.get("author", ""), when)


def _points(text: str, criterion: str, most: float) -> float | None:
    if text.lower() == EXCUSED:
        if criterion != TOTAL:
            raise ValueError(f"EX excuses a student from the whole homework: write it for total, not for {criterion}")
        return None
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{text!r} is no number of points; EX excuses a student") from None
    if not 0 <= points <= most:
        raise ValueError(f"{number(points)} points, but {criterion} has from 0 to {number(most)}")
    return points
