"""What the grades of a class say about the class and about the criteria: the numbers behind report.html."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, pstdev
from typing import Any

import numpy as np

from autograder.cohort.store import Grade

FEW = 5  # submissions that pass, and that fail, below which a discrimination is given no verdict


@dataclass(frozen=True)
class Item:
    """One criterion over the class. `discrimination` is the point-biserial correlation of passing it with the
    score of all other criteria over the `cases` that earned anything at all: who hands in nothing misses all, and
    would make every criterion look good. None where it says nothing: fewer than five cases, all pass, all fail, or all
    others equal. `rarer` is the number of cases that pass, or that fail, whichever is smaller.
    """

    criterion: str
    name: str
    points: float
    passed: int
    of: int
    cases: int
    rarer: int
    discrimination: float | None

    @property
    def rate(self) -> float:
        return self.passed / self.of

    @property
    def difficulty(self) -> str:
        """In words; the borders are those that item analysis commonly uses."""
        borders = ((0.9, "very easy"), (0.75, "easy"), (0.45, "medium"), (0.25, "hard"))
        return next((word for border, word in borders if self.rate >= border), "very hard")

    @property
    def verdict(self) -> str:
        """What the discrimination means; Ebel's borders (Essentials of Educational Measurement, 1972).

        Without any relation its standard error is about 1 / sqrt(cases): within two of them it may be chance.
        """
        if self.discrimination is None:
            return ""
        if self.rarer < FEW:
            return "too few to say"
        if abs(self.discrimination) <= 2 / sqrt(self.cases):
            return "may be chance"
        borders = ((0.4, "very good"), (0.3, "good"), (0.2, "fair"), (0.0, "weak"))
        return next((word for border, word in borders if self.discrimination >= border), "negative")


def overview(grades: Sequence[Grade]) -> dict[str, float] | None:
    """The totals of a class; None for an empty one."""
    if not grades:
        return None
    scores = [grade.score for grade in grades]
    return {
        "mean": fmean(scores),
        "median": median(scores),
        "lowest": min(scores),
        "highest": max(scores),
        "full": sum(grade.score >= grade.max_score for grade in grades),
    }


def histogram(grades: Sequence[Grade], bins: int = 20) -> list[int]:
    """How many scores lie in each of `bins` equal parts from 0 to the maximum; full marks belong to the last."""
    counts = [0] * bins
    for grade in grades:
        share = grade.score / grade.max_score if grade.max_score else 0.0
        counts[min(bins - 1, max(0, int(share * bins + 1e-9)))] += 1
    return counts


def items(grades: Sequence[Grade]) -> list[Item]:
    """Every criterion, in the order of the results."""
    found: dict[str, tuple[str, float]] = {}
    passed: dict[str, list[bool]] = {}
    pairs: dict[str, list[tuple[bool, float]]] = {}
    for grade in grades:
        for mark in grade.marks:
            found[mark.criterion] = (mark.name, mark.max_score)
            right = mark.score >= mark.max_score
            passed.setdefault(mark.criterion, []).append(right)
            if grade.score > 0:
                pairs.setdefault(mark.criterion, []).append((right, grade.score - mark.score))
    return [_item(name, *found[name], all_, pairs.get(name, [])) for name, all_ in passed.items()]


def _item(
    criterion: str, name: str, points: float, passed: Sequence[bool], cases: Sequence[tuple[bool, float]]
) -> Item:
    right = sum(mine for mine, _ in cases)
    rarer = min(right, len(cases) - right)
    return Item(criterion, name, points, sum(passed), len(passed), len(cases), rarer, _correlation(cases))


def by_module(grades: Sequence[Grade]) -> list[dict[str, Any]]:
    """Of each module: its name, mean, standard deviation (of this class, so by its number) and maximum of the points."""
    scores: dict[str, list[float]] = {}
    most: dict[str, float] = {}
    for grade in grades:
        mine: dict[str, float] = {}
        of: dict[str, float] = {}
        for mark in grade.marks:
            module = mark.criterion.partition(".")[0]
            mine[module] = mine.get(module, 0.0) + mark.score
            of[module] = of.get(module, 0.0) + mark.max_score
        for module, score in mine.items():
            scores.setdefault(module, []).append(score)
        most |= of
    return [
        {"module": module, "mean": fmean(found), "deviation": pstdev(found), "most": most[module]}
        for module, found in scores.items()
    ]


def _correlation(pairs: Sequence[tuple[bool, float]]) -> float | None:
    if len(pairs) < FEW:
        return None
    passed, rest = np.array(pairs, dtype=float).T
    if np.ptp(passed) == 0 or np.ptp(rest) == 0:
        return None
    return float(np.corrcoef(passed, rest)[0, 1])
