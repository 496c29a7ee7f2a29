"""Late work: how late a submission is by the export's times, and what that costs by the rubric.

Only the kit's own scores are reckoned with. What Gradescope has taken off for lateness is never read, so it cannot be
counted twice.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from autograder.cohort.rows import Lateness, StudentRow
from autograder.homework.rubric import LateEntry, Rubric

DAY = timedelta(days=1)


def lateness(created_at: str, raw: float, due: datetime, rule: LateEntry) -> Lateness | None:
    """None for work in time. `created_at` is a time in ISO form, `raw` the score to take points from."""
    by = datetime.fromisoformat(created_at) - due
    if by <= timedelta(minutes=rule.grace_minutes):
        return None
    days = math.ceil((by - timedelta(minutes=rule.grace_minutes)) / DAY)
    deduction = days * (rule.points_a_day + raw * rule.percent_a_day / 100)
    return Lateness(by, days, min(deduction, raw * (1 - rule.floor_percent / 100)))


def applied(rows: Sequence[StudentRow], rubric: Rubric) -> list[StudentRow]:
    """The rows with what their lateness costs, as they are where the rubric has no `due` or no time is known."""
    if rubric.due is None:
        return list(rows)
    return [_applied(row, rubric.due, rubric.late or LateEntry()) for row in rows]


def _applied(row: StudentRow, due: datetime, rule: LateEntry) -> StudentRow:
    if row.grade is None or not row.entry.created_at:
        return row
    return replace(row, late=lateness(row.entry.created_at, row.grade.score, due, rule))
