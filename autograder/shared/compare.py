"""The comparison of values with expected ones, and the usual tolerances."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .tree import Array, describe, in_order, leaves

# Largest allowed deviation, as a share of max(1, largest expected magnitude). `autograder audit tolerances` shows the deviations
# of correct and wrong solutions; both differ from these numbers by a factor of ten or more.
TOLERANCE = {"float64": 1e-8, "float32": 2e-4}

_NUMBERS, _FLOAT32 = (np.ndarray, np.generic), np.dtype("float32")
_ACCEPTED = {"b": "b", "i": "iu", "u": "iu", "f": "fiu"}  # kinds of dtype by that of the expected one


@dataclass(frozen=True)
class Failure:
    """Why a response fails.

    `kind` is "type", "length", "shape", "dtype" or "value" for a value; for a call also "raised", "ended", "no_error", "changed",
    "changed_later", "unsteady", "overwritten" or "shared". `got` is the wrong type, or the error; `part` is the wrong part of a
    tuple.
    """

    kind: str
    got: str = ""
    part: int | None = None


# The failure, if any, and the largest deviation, as a share of max(1, largest expected magnitude); 0.0 for a wrong shape or type.
Compared = tuple[Failure | None, float]


def tolerance(arguments: Any) -> float:
    """Return the tolerance for results of a call with these arguments: any float32 argument allows float32's rounding."""
    single = any(isinstance(leaf, _NUMBERS) and leaf.dtype == _FLOAT32 for leaf in leaves(arguments))
    return TOLERANCE["float32" if single else "float64"]


def compare(expected: Any, actual: Any, allowed: float, dtype: bool = False) -> Compared:
    """Compare a value with the expected one: structure, then shape, then dtype (if asked), then values."""
    if isinstance(expected, tuple | list):
        return _compare_parts(expected, actual, allowed, dtype)
    if isinstance(expected, np.ndarray):
        return _compare_array(expected, actual, allowed, dtype)
    if isinstance(expected, bool | int | float | np.bool_ | np.integer | np.floating):
        return _compare_number(expected, actual, allowed)
    kind: Any = set | frozenset if isinstance(expected, set | frozenset) else type(expected)
    if not isinstance(actual, kind):
        return Failure("type", describe(actual)), 0.0
    if isinstance(expected, set | frozenset):
        failure, furthest = _compare_parts(in_order(expected), in_order(actual), allowed, dtype)
        return failure and Failure("value"), furthest
    if isinstance(expected, dict):
        if expected.keys() != actual.keys():
            return Failure("value"), np.inf
        failure, furthest = _compare_parts([*expected.values()], [actual[key] for key in expected], allowed, dtype)
        return failure and replace(failure, part=None), furthest
    return (None, 0.0) if expected == actual else (Failure("value"), np.inf)


def equal(expected: Any, actual: Any, allowed: float, dtype: bool = False) -> bool:
    return compare(expected, actual, allowed, dtype)[0] is None


def values_agree(first: Any, second: Any) -> bool:
    """Return whether two values of a student are equal up to rounding."""
    return equal(first, second, tolerance((first, second)))


def _compare_parts(expected: Sequence[Any], actual: Any, allowed: float, dtype: bool) -> Compared:
    if not isinstance(actual, list if isinstance(expected, list) else tuple | list):
        return Failure("type", describe(actual)), 0.0
    if len(actual) != len(expected):
        return Failure("length"), 0.0
    verdicts = [compare(e, a, allowed, dtype) for e, a in zip(expected, actual, strict=True)]
    furthest = max((distance for _, distance in verdicts), default=0.0)
    for number, (failure, _) in enumerate(verdicts):
        if failure is not None:
            return replace(failure, part=number), furthest
    return None, furthest


def _compare_number(expected: Any, actual: Any, allowed: float) -> Compared:
    if all(isinstance(value, int) and not isinstance(value, bool) for value in (expected, actual)):  # of any size
        return (None, 0.0) if expected == actual else (Failure("value"), 1.0)
    if isinstance(expected, float) and type(actual) is int:
        actual = float(actual) if abs(actual) < 2**1023 else np.inf
    desired = np.asarray(expected)
    got = np.asarray(actual) if isinstance(actual, bool | int | float | np.generic | np.ndarray) else None
    if got is None or got.ndim or got.dtype.kind not in _ACCEPTED.get(desired.dtype.kind, ""):
        return Failure("type", describe(actual)), 0.0
    return _compare_entries(desired, got, allowed)


def _compare_array(expected: Array, actual: Any, allowed: float, dtype: bool) -> Compared:
    if isinstance(actual, np.generic) and expected.ndim == 0:
        actual = np.asarray(actual)
    if type(actual) is not np.ndarray:
        return Failure("type", describe(actual)), 0.0
    if actual.shape != expected.shape:
        return Failure("shape"), 0.0
    if actual.size and actual.dtype.kind not in _ACCEPTED[expected.dtype.kind]:  # np.array([]) is float only by default
        return Failure("type", str(actual.dtype)), 0.0
    if dtype and expected.dtype.kind == "f" and actual.dtype != expected.dtype:
        return Failure("dtype"), 0.0
    return _compare_entries(expected, actual, allowed)


def _compare_entries(expected: Array, actual: Array, allowed: float) -> Compared:
    """Compare numbers; only floats may deviate."""
    furthest = deviation(expected, actual)
    is_close = furthest <= (allowed if expected.dtype.kind == "f" else 0.0)
    return None if is_close else Failure("value"), furthest


def deviation(expected: Array, actual: Array) -> float:
    """Return the largest of the deviations."""
    if expected.dtype == actual.dtype and expected.tobytes() == actual.tobytes():
        return 0.0
    return float(deviations(expected, actual).max(initial=0.0))


def deviations(expected: Array, actual: Array) -> Array:
    """Return the difference of each entry as a share of max(1, largest expected magnitude); infinite if only one is finite.

    nan equals nan: no reference returns one, but a misconception may.
    """
    if expected.dtype.kind in "biu" and actual.dtype.kind in "biu":
        return np.where(expected != actual, 1.0, 0.0)
    desired, got = expected.astype(np.float64), actual.astype(np.float64)
    finite = np.isfinite(desired) & np.isfinite(got)
    alike = (desired == got) | (np.isnan(desired) & np.isnan(got))
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs(desired - got) / magnitude(desired)
    return np.where(finite, away, np.where(alike, 0.0, np.inf))


def magnitude(expected: Array) -> float:
    """Return the unit of a tolerance: max(1, largest finite magnitude)."""
    return float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
