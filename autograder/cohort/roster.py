"""A roster: the csv of Gradescope's or Canvas's page of people, for names, sections, and who handed in nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.cohort import csv_file, people
from autograder.cohort.rows import StudentRow
from autograder.faults import ArgumentsError
from autograder.intake.entries import Entry, Student

# The headers by which Gradescope's roster, Canvas's gradebook and hand-made tables name the same thing.
NAME = ("name", "student", "full name")
SID = ("sid", "sis user id", "student id")
EMAIL = ("email", "sis login id", "login id", "email address")
CANVAS = ("id",)
SECTION = ("section", "sections", "section name")


@dataclass(frozen=True)
class Person:
    """A line of the roster."""

    student: Student
    section: str


def read(path: Path) -> list[Person]:
    """Students of a roster; lines for other roles, and Canvas's line "Points Possible", are left out.

    Raises ArgumentsError for a file without anything to know a student by.
    """
    found = [person for _, cells in csv_file.lines(path, ()) if (person := _person(cells)) is not None]
    if not any(people.identities(person.student) for person in found):
        raise ArgumentsError(f"{path}: no column has an address or an id; as a roster has: name, sid, email, section")
    return found


def _person(cells: Mapping[str, str]) -> Person | None:
    role = cells.get("role", "student").lower()
    if role not in ("student", "") or not people.identities(_student(cells)):
        return None
    return Person(_student(cells), _first(cells, SECTION))


def _student(cells: Mapping[str, str]) -> Student:
    parts = (cells.get("first name", ""), cells.get("last name", ""))
    name = _first(cells, NAME) or " ".join(filter(None, parts))
    return Student(name, _first(cells, SID), _first(cells, EMAIL), _first(cells, CANVAS))


def _first(cells: Mapping[str, str], headers: Iterable[str]) -> str:
    return next((cells[header] for header in headers if cells.get(header)), "")


def applied(rows: Sequence[StudentRow], roster: Sequence[Person]) -> list[StudentRow]:
    """The rows with what the roster adds to them, then a row without a submission for each student who has none."""
    positions = people.by_identity(person.student for person in roster)
    seen: set[int] = set()
    completed = []
    for row in rows:
        at = people.found(row.student, positions)
        completed.append(row if at is None else _completed(row, roster[at]))
        seen |= set() if at is None else {at}
    absent = [person for at, person in enumerate(roster) if at not in seen]
    return completed + [_absent(person) for person in absent]


def _completed(row: StudentRow, person: Person) -> StudentRow:
    """What the export says stays; the roster fills what it leaves open, and gives the name that is official."""
    one, other = row.student, person.student
    student = Student(
        other.name or one.name, one.sid or other.sid, one.email or other.email, one.canvas or other.canvas
    )
    return replace(row, student=student, section=person.section)


def _absent(person: Person) -> StudentRow:
    return StudentRow(person.student, Entry("", None), None, "", (), section=person.section, absent=True)
