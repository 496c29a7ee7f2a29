"""Errors of rounding: how large they are, and what tells them from other small errors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.values.compare import compare, deviation

RUIN = 0.05  # a larger error, as a share of the largest value, leaves nothing to compare
FEW_ENTRIES = 20  # so many errors of rounding may by chance all have one sign
ONE_WAY = 0.1  # of more, at least this share has the other sign


def look_rounded(known: Sequence[tuple[Any, Any]], values: Sequence[Any]) -> bool:
    """Whether values differ from the exact ones by rounding: not in a ruin alone, and not all one way.

    `known` are the exact value and the known inexact one for each.
    """
    errors = [_error(*pair, value) for pair, value in zip(known, values, strict=True)]
    found = np.concatenate([np.zeros(0), *errors])
    rises, falls = int((found > 0).sum()), int((found < 0).sum())
    return rises + falls > 0 and (rises + falls < FEW_ENTRIES or min(rises, falls) >= ONE_WAY * (rises + falls))


def mostly_shown(known: Sequence[tuple[Any, Any]], values: Sequence[Any], allowed: Sequence[float]) -> bool:
    """Whether most values that exact mistakes spoil are wrong just as these are. `known` are the right value and the spoilt one."""
    found = [_shown(*pair, value, close) for pair, value, close in zip(known, values, allowed, strict=True)]
    return found.count(True) > found.count(False)


def distance(exact: Any, value: Any) -> float:
    """The largest deviation of a value or of its parts; negative where it has another form, infinite where not all is finite."""
    if exact is None or value is None:
        return 0.0 if exact is value else -1.0  # an error was raised
    if isinstance(exact, tuple | list):
        if not isinstance(value, tuple | list) or len(value) != len(exact):
            return float("inf")
        return max(distance(e, v) for e, v in zip(exact, value, strict=True))
    verdict = compare(exact, value, np.inf)
    if verdict.difference is not None and verdict.difference.kind != "value":
        return -1.0  # of another form, which rounding does not explain
    return deviation(np.asarray(exact), np.asarray(value))


def _error(exact: Any, known: Any, value: Any) -> "np.ndarray[Any, Any]":
    """By how much each entry of a value exceeds the exact one in magnitude; none where the known one is exact, or a ruin."""
    if isinstance(exact, tuple | list):
        if not all(isinstance(one, tuple | list) and len(one) == len(exact) for one in (known, value)):
            return np.zeros(0)
        parts = [_error(*each) for each in zip(exact, known, value, strict=True)]
        return np.concatenate([np.zeros(0), *parts])
    if not 0 < distance(exact, known) <= RUIN or not 0 < distance(exact, value) < np.inf:
        return np.zeros(0)
    wanted, got = np.asarray(exact, dtype=float), np.asarray(value, dtype=float)
    larger: np.ndarray[Any, Any] = (np.abs(got) - np.abs(wanted))[np.isfinite(wanted)]
    return larger


def _shown(right: Any, exact: Any, value: Any, allowed: float) -> bool | None:
    """Whether a value is wrong as that of exact mistakes is: far nearer to it than to the right one. None where they do nothing."""
    apart, left = distance(right, exact), distance(exact, value)
    if 0 <= apart <= allowed:
        return None
    return 0 <= left <= (apart / 10 if apart > 0 else RUIN)
