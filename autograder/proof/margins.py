"""Do the tolerances separate right from wrong?

Correct solutions must keep a factor of ten from the tolerance in every check. A mistake may be small in some checks (an eps
shows little beside a large variance), but must exceed the tolerance tenfold in a check of a criterion that it belongs to.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.proof.rows import Check, Row


@dataclass(frozen=True)
class Margin:
    """One check: how far the alternatives are from right at most, and the mistakes at least."""

    check: Check
    right: float
    wrong: float

    @property
    def good(self) -> bool:
        return self.right * 10 <= self.check.allowed


def margins(rows: Iterable[Row]) -> list[Margin]:
    """For each check, the spread of what is right and of what is wrong.

    A mistake counts in the criteria that it belongs to; where it gives the same as the reference, up to a tenth of the
    tolerance, it is right. Errors of rounding are of any size, so that they say nothing of the margin.
    """
    right: dict[Check, float] = {}
    wrong: dict[Check, float] = {}
    for row in rows:
        inexact = any(mistake.inexact for mistake in row.case.mistakes)
        for d in row.deviations:
            if row.case.kind == "alternative":
                right[d.check] = max(right.get(d.check, 0.0), d.value)
            elif d.value > d.check.allowed / 10 and d.check.criterion in row.case.criteria and not inexact:
                wrong[d.check] = min(wrong.get(d.check, float("inf")), d.value)
    return [Margin(c, right.get(c, 0.0), wrong.get(c, float("inf"))) for c in sorted(right.keys() | wrong.keys())]


def unclear(rows: Iterable[Row]) -> list[str]:
    """The mistakes whose values are nowhere far from the tolerance, so that a verdict hangs on it."""
    found = []
    for row in rows:
        own = [d for d in row.deviations if d.check.criterion in row.case.criteria and d.value > d.check.allowed / 10]
        inexact = any(mistake.inexact for mistake in row.case.mistakes)
        if row.case.kind == "mistake" and not inexact and own and all(d.value < 10 * d.check.allowed for d in own):
            found.append(row.case.name)
    return found
