"""Criteria that were dropped for all or given to all after the fact (`counts` in the rubric)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.cohort.rows import StudentRow
from autograder.cohort.store import Grade
from autograder.homework.rubric import Criterion, Rubric

SAID = {"dropped": "does not count", "full": "is given to all"}


def applied(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows as they count: without dropped criteria, which leave the maximum too, and with given ones in full."""
    special = {criterion.id: criterion for criterion in rubric.criteria.values() if criterion.counts}
    if not special:
        return list(rows)
    return [replace(row, grade=_counted(row.grade, special)) if row.grade else row for row in rows]


def notices(rubric: Rubric) -> list[str]:
    """A sentence for each such criterion, with the reason."""
    return [f"{one.id} {SAID[one.counts]}: {one.why}" for one in rubric.criteria.values() if one.counts]


def _counted(grade: Grade, special: Mapping[str, Criterion]) -> Grade:
    marks = []
    for mark in grade.marks:
        counts = special[mark.criterion].counts if mark.criterion in special else None
        if counts != "dropped":
            marks.append(replace(mark, score=mark.max_score) if counts == "full" else mark)
    return replace(grade, marks=tuple(marks), score=sum(mark.score for mark in marks))
