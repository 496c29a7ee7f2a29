"""grades.csv: one row a student, one column a criterion.

The first columns are those that Canvas's importer wants (instructure/canvas-lms, lib/gradebook_importer.rb:
Student, ID, SIS User ID, SIS Login ID, Section), the next those of Gradescope's own grade tables. Canvas
would make an assignment of every further column, so canvas.csv holds the total alone.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.cohort.store import Grade
from autograder.feedback.results import number
from autograder.homework import rubric
from autograder.intake.entries import Entry, Student
from autograder.intake.text import cell

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
GRADESCOPE = (
    "Name",
    "SID",
    "Email",
    "Total Score",
    "Max Points",
    "Status",
    "Submission ID",
    "Submission Time",
)
OWN = ("Late", "Other Submissions", "Remark")


@dataclass(frozen=True)
class StudentRow:
    """A student with the submission that counts (`grade` is None if it is a fault) and those that do not."""

    student: Student
    entry: Entry
    grade: Grade | None
    fault: str
    others: tuple[Entry, ...]


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
    return StudentRow(student, entry, grades.get(entry.key), faults.get(entry.key, ""), others)


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


# The tables


def table(found: Iterable[StudentRow]) -> str:
    """grades.csv; a fault has no score, and says so."""
    found = list(found)
    graded = dict.fromkeys(mark.criterion for row in found if row.grade for mark in row.grade.marks)
    criteria = list(graded or rubric.current().criteria)
    lines: list[list[object]] = [[*CANVAS, *GRADESCOPE, *OWN, *criteria]]
    for row in found:
        points = row.grade.points if row.grade else {}
        marks = [number(points[name]) if name in points else "" for name in criteria]
        lines.append([*_canvas(row), *_gradescope(row), *_own(row), *marks])
    return _csv(lines)


def canvas_table(found: Iterable[StudentRow], title: str) -> str:
    """canvas.csv: the total as one assignment; faults are left out, so that they overwrite nothing."""
    lines: list[list[object]] = [[*CANVAS, title]]
    lines += [[*_canvas(row), number(row.grade.score)] for row in found if row.grade]
    return _csv(lines)


def _canvas(row: StudentRow) -> list[object]:
    student = row.student
    return [student.name, student.canvas, student.sid, student.email, ""]


def _gradescope(row: StudentRow) -> list[object]:
    student, grade, entry = row.student, row.grade, row.entry
    scores = [number(grade.score), number(grade.max_score), "Graded"] if grade else ["", "", "Fault"]
    return [student.name, student.sid, student.email, *scores, entry.key, entry.created_at]


def _own(row: StudentRow) -> list[object]:
    others = "; ".join(other.key for other in row.others)
    return ["late" if row.entry.late else "", others, remark(row)]


def remark(row: StudentRow) -> str:
    """What an instructor should know about a row."""
    parts = [f"not graded, a fault of the grader: {row.fault}"] if row.grade is None else []
    parts += [row.entry.remark] if row.entry.remark else []
    parts += [row.grade.remark] if row.grade is not None and row.grade.remark else []
    return "; ".join(parts)


def _csv(lines: list[list[object]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[cell(value) for value in line] for line in lines])
    return stream.getvalue()
