"""Criteria that were dropped for all or given to all after the fact (`counts` in the rubric), in the tables of a class.

The results have the points as they count already; here a dropped criterion leaves the tables as well.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from autograder.cohort.rows import StudentRow
from autograder.cohort.store import Grade
from autograder.homework.rubric import Rubric


def applied(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows without dropped criteria."""
    dropped = {criterion.id for criterion in rubric.criteria.values() if criterion.counts == "dropped"}
    return [replace(row, grade=_without(dropped, row.grade)) if row.grade else row for row in rows]


def notices(rubric: Rubric) -> list[str]:
    """A sentence for each criterion that was dropped or given to all, with the reason."""
    return [f"{one.id} {one.counted}" for one in rubric.criteria.values() if one.counts]


def _without(dropped: Collection[str], grade: Grade) -> Grade:
    return replace(grade, marks=tuple(mark for mark in grade.marks if mark.criterion not in dropped))
