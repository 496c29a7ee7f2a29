"""Overrides: points that an instructor sets by hand, each with a reason, from a csv; they come last and are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.cohort import csv_file
from autograder.cohort.rows import StudentRow
from autograder.cohort.store import Grade
from autograder.faults import ArgumentsError
from autograder.feedback.results import number
from autograder.homework.rubric import Rubric

COLUMNS = ("student", "criterion", "points", "reason")
TOTAL = "total"


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


def read(path: Path, rubric: Rubric) -> list[Override]:
    """Raises ArgumentsError, with the line, for a csv in which anything is missing, unknown or out of range."""
    found = [_override(place, cells, rubric) for place, cells in csv_file.lines(path, COLUMNS)]
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


def applied(rows: Sequence[StudentRow], overrides: Sequence[Override]) -> list[StudentRow]:
    """The rows with their overrides.

    Raises ArgumentsError for a student who is nobody, several, or has no grade whose criterion could be set.
    """
    mine: dict[int, list[Override]] = {}
    for one in overrides:
        mine.setdefault(_position(one, rows), []).append(one)
    return [_applied(row, mine.get(at, [])) for at, row in enumerate(rows)]


def check(rows: Sequence[StudentRow], overrides: Sequence[Override]) -> None:
    """Raises ArgumentsError for a student who is nobody or several; `rows` need no grades yet."""
    for one in overrides:
        _position(one, rows)


def _position(override: Override, rows: Sequence[StudentRow]) -> int:
    wanted = override.student.lower()
    for known_as in (_surely, lambda row: {row.student.name.lower()}):
        found = [at for at, row in enumerate(rows) if wanted in known_as(row)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ArgumentsError(
                f"{override.place}: {override.student} is {len(found)} students; give an address or id"
            )
    raise ArgumentsError(f"{override.place}: nobody here is called {override.student}")


def _surely(row: StudentRow) -> set[str]:
    student = row.student
    return {part.lower() for part in (student.email, student.sid, student.canvas, row.entry.key) if part}


def _applied(row: StudentRow, overrides: Sequence[Override]) -> StudentRow:
    if not overrides:
        return row
    criteria = {one.criterion: one.points for one in overrides if one.criterion != TOTAL}
    if criteria and row.grade is None:
        raise ArgumentsError(f"{overrides[0].place}: {overrides[0].student} has no grade; only the total can be set")
    total = next((one.points for one in overrides if one.criterion == TOTAL), None)
    grade = _with(row.grade, criteria) if row.grade and criteria else row.grade
    return replace(row, grade=grade, total=total, overrides=tuple(map(str, overrides)))


def _with(grade: Grade, criteria: Mapping[str, float]) -> Grade:
    marks = tuple(replace(mark, score=criteria.get(mark.criterion, mark.score)) for mark in grade.marks)
    return replace(grade, marks=marks, score=sum(mark.score for mark in marks))
