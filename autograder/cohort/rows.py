"""A class as rows, one for each student: what they handed in, what it earned, and what was made of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from autograder.cohort.store import Grade
from autograder.intake.entries import Entry, Student


@dataclass(frozen=True)
class Lateness:
    """How late a submission is, and the points that it loses. `days` are started days after the grace."""

    by: timedelta
    days: int
    deduction: float

    def __str__(self) -> str:
        days, hours, minutes = self.by.days, self.by.seconds // 3600, self.by.seconds % 3600 // 60
        parts = [f"{days} d"] if days else []
        return " ".join([*parts, f"{hours} h {minutes} min late"])


@dataclass(frozen=True)
class StudentRow:
    """A student with the submission that counts (`grade` is None if it is a fault) and those that do not.

    `absent`: in the roster, but without a submission. `total` and `overrides`: set by hand, and what is said about it.
    """

    student: Student
    entry: Entry
    grade: Grade | None
    fault: str = ""
    others: tuple[Entry, ...] = ()
    section: str = ""
    absent: bool = False
    late: Lateness | None = None
    total: float | None = None
    overrides: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """What counts in the end: the total that was set by hand, else the grade without what lateness costs."""
        if self.total is not None:
            return self.total
        return self.grade.score - (self.late.deduction if self.late else 0) if self.grade else None

    @property
    def status(self) -> str:
        return "Missing" if self.absent else "Graded" if self.grade else "Fault"

    @property
    def remark(self) -> str:
        """What an instructor should know about a row."""
        parts = [f"not graded, a fault of the grader: {self.fault}"] if self.status == "Fault" else []
        parts += ["has not handed in anything"] if self.absent else []
        parts += [self.entry.remark] if self.entry.remark else []
        parts += [self.grade.remark] if self.grade is not None and self.grade.remark else []
        return "; ".join([*parts, *self.overrides])


def rows(entries: Sequence[Entry], grades: Mapping[str, Grade], faults: Mapping[str, str]) -> list[StudentRow]:
    """Every student once, in the order of the entries; of several submissions the newest counts."""
    emails = _emails(entries)
    handed_in: dict[object, list[tuple[Student, Entry]]] = {}
    for entry in entries:
        for student in entry.students or (Student(),):
            handed_in.setdefault(_identity(student, entry, emails), []).append((student, entry))
    return [_row(found, grades, faults) for found in handed_in.values()]


def _row(found: list[tuple[Student, Entry]], grades: Mapping[str, Grade], faults: Mapping[str, str]) -> StudentRow:
    latest = max(range(len(found)), key=lambda i: (found[i][1].created_at, _number(found[i][1].key), i))
    student, entry = found[latest]
    others = tuple(other for i, (_, other) in enumerate(found) if i != latest)
    return StudentRow(student, entry, grades.get(entry.key), faults.get(entry.key, ""), others, entry.section)


def _emails(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """The addresses that go with a student id."""
    emails: dict[str, set[str]] = {}
    for student in (student for entry in entries for student in entry.students):
        if student.sid and student.email:
            emails.setdefault(student.sid, set()).add(student.email.lower())
    return emails


def _identity(student: Student, entry: Entry, emails: Mapping[str, set[str]]) -> object:
    """Who it is: by address, else by id; by the name alone nobody is known, and the submission stands alone."""
    if student.email:
        return "email", student.email.lower()
    if student.sid:
        known = emails.get(student.sid, set())
        return ("email", *known) if len(known) == 1 else ("sid", student.sid)
    return ("canvas", student.canvas) if student.canvas else ("entry", entry.key, student.name)


def _number(key: str) -> int:
    digits = key.rpartition("_")[2]
    return int(digits) if digits.isdigit() else 0
