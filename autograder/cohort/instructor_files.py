"""The csv files that an instructor gives: a roster of people, and points set by hand. Refused with the file and the line."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.faults import ArgumentsError
from autograder.feedback.results import number
from autograder.homework.rubric import Rubric
from autograder.intake.entries import Student

LARGEST = 2**24  # bytes of a table that is read

# The headers by which Gradescope's roster, Canvas's gradebook and hand-made tables name the same thing.
NAME = ("name", "student", "full name")
SID = ("sid", "sis user id", "student id")
EMAIL = ("email", "sis login id", "login id", "email address")
CANVAS = ("id",)
SECTION = ("section", "sections", "section name")

COLUMNS = ("student", "criterion", "points", "reason")
TOTAL = "total"


def _lines(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line with its place ("file.csv:7"), cells by header in lower case, blank lines left out.

    Raises ArgumentsError for a file that cannot be read or lacks a column of `needed`.
    """
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST).decode("utf-8-sig")
        rows = list(csv.reader(text.splitlines(keepends=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ArgumentsError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    absent = [name for name in needed if name not in header]
    if absent:
        raise ArgumentsError(f"{path}:1: there is no column {absent[0]!r}; needed are {', '.join(needed)}")
    for line, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            yield f"{path}:{line}", {name: cell.strip() for name, cell in zip(header, row, strict=False)}


# The roster


@dataclass(frozen=True)
class Person:
    """A line of the roster."""

    student: Student
    section: str


def roster(path: Path) -> list[Person]:
    """Students of a roster; lines for other roles, and Canvas's line "Points Possible", are left out.

    Raises ArgumentsError for a file without anything to know a student by.
    """
    found = [person for _, cells in _lines(path, ()) if (person := _person(cells)) is not None]
    if not any(person.student.identities for person in found):
        raise ArgumentsError(f"{path}: no column has an address or an id; as a roster has: name, sid, email, section")
    return found


def _person(cells: Mapping[str, str]) -> Person | None:
    role = cells.get("role", "student").lower()
    if role not in ("student", "") or not _student(cells).identities:
        return None
    return Person(_student(cells), _first(cells, SECTION))


def _student(cells: Mapping[str, str]) -> Student:
    parts = (cells.get("first name", ""), cells.get("last name", ""))
    name = _first(cells, NAME) or " ".join(filter(None, parts))
    return Student(name, _first(cells, SID), _first(cells, EMAIL), _first(cells, CANVAS))


def _first(cells: Mapping[str, str], headers: Iterable[str]) -> str:
    return next((cells[header] for header in headers if cells.get(header)), "")


# Overrides: points that an instructor sets by hand, each with a reason; they come last and are shown


@dataclass(frozen=True)
class Override:
    """One line: `criterion` is a criterion's id or "total", `student` an address, an id, a submission or a name."""

    student: str
    criterion: str
    points: float
    reason: str
    place: str

    def __str__(self) -> str:
        return f"{self.criterion} set to {number(self.points)}: {self.reason}"


def overrides(path: Path, rubric: Rubric) -> list[Override]:
    """Raises ArgumentsError, with the line, for a csv in which anything is missing, unknown or out of range."""
    found = [_override(place, cells, rubric) for place, cells in _lines(path, COLUMNS)]
    seen: dict[tuple[str, str], str] = {}
    for one in found:
        first = seen.setdefault((one.student.lower(), one.criterion), one.place)
        if first != one.place:
            raise ArgumentsError(f"{one.place}: {one.student} and {one.criterion} stand in {first} already")
    return found


def _override(place: str, cells: Mapping[str, str], rubric: Rubric) -> Override:
    absent = next((name for name in COLUMNS if not cells.get(name)), "")
    if absent:
        raise ArgumentsError(f"{place}: the column {absent!r} is empty")
    criterion = cells["criterion"]
    known = rubric.criteria.get(criterion)
    if known is None and criterion != TOTAL:
        raise ArgumentsError(f"{place}: there is no criterion {criterion!r}; give its id, as in grades.csv, or total")
    most = known.most if known else rubric.most
    try:
        points = float(cells["points"])
    except ValueError:
        raise ArgumentsError(f"{place}: {cells['points']!r} is no number of points") from None
    if not 0 <= points <= most:
        raise ArgumentsError(f"{place}: {number(points)} points, but {criterion} has from 0 to {number(most)}")
    return Override(cells["student"], criterion, points, cells["reason"], place)
