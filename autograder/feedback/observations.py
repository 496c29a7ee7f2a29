"""What can be said about a wrong value without guessing: right up to a transpose, a constant factor or offset, rows that are off.

Used on public inputs only; the words are ours, the figures are the student's own.
"""

from typing import Any

import numpy as np

CLOSE = 1e-6


def observe(expected: Any, actual: Any) -> str:
    """One sentence about how `actual` differs from `expected`, or ""."""
    if isinstance(expected, tuple) and isinstance(actual, tuple | list) and len(actual) == len(expected):
        said = [(i, observe(e, a)) for i, (e, a) in enumerate(zip(expected, actual, strict=True))]
        return " ".join(f"Part [{i}]: {text}" for i, text in said if text)
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray) or actual.dtype.kind not in "biuf":
        return ""
    if actual.shape != expected.shape:
        return _shape(expected, actual)
    if _same(actual, expected):
        return ""
    if expected.dtype.kind == "b":
        return _bools(expected, actual)
    return _values(expected.astype(float), actual.astype(float))


def _shape(expected: "np.ndarray[Any, Any]", actual: "np.ndarray[Any, Any]") -> str:
    if actual.size == expected.size and _same(actual.reshape(expected.shape), expected):
        return "The numbers are right and in the right order; only the shape is another."
    if actual.T.shape == expected.shape and _same(actual.T, expected):
        return "The result is right up to a transpose."
    return "The shape is wrong; the values were not looked at."


def _bools(expected: "np.ndarray[Any, Any]", actual: "np.ndarray[Any, Any]") -> str:
    if np.array_equal(actual, ~expected):
        return "Every True should be False and every False True."
    if expected.ndim == 2 and expected.shape[0] == expected.shape[1] and np.array_equal(actual.T, expected):
        return "The result is right up to a transpose."
    wrong = np.argwhere(actual != expected)
    return f"{len(wrong)} of {expected.size} entries are wrong, the first at index {tuple(int(i) for i in wrong[0])}."


def _values(expected: "np.ndarray[Any, Any]", actual: "np.ndarray[Any, Any]") -> str:
    if not np.isfinite(actual[np.isfinite(expected)]).all():
        found, wanted = (int((~np.isfinite(values)).sum()) for values in (actual, expected))
        return f"{found} entries are nan or infinite; expected are {wanted}."
    if expected.ndim >= 2 and expected.shape[-1] == expected.shape[-2] and _same(np.swapaxes(actual, -1, -2), expected):
        return "The result is right up to a transpose of the last two axes."
    finite = np.isfinite(expected) & np.isfinite(actual)
    wanted, got = expected[finite], actual[finite]
    if wanted.size >= 2 and np.ptp(wanted) > CLOSE:
        offset = float(np.mean(got - wanted))
        if abs(offset) > CLOSE and _same(got, wanted + offset):
            return f"Every entry is off by the same amount, {offset:.6g}."
        factor = float(got @ wanted / (wanted @ wanted))
        if abs(factor) > CLOSE and f"{factor:.4g}" != "1" and _same(got, factor * wanted):
            return f"Every entry is the right one times the same factor, {factor:.6g}."
    return _rows(expected, actual)


def _rows(expected: "np.ndarray[Any, Any]", actual: "np.ndarray[Any, Any]") -> str:
    wrong = ~np.isclose(actual, expected, rtol=CLOSE, atol=CLOSE)
    if np.allclose(actual, expected, rtol=1e-3, atol=1e-3):
        return f"Nearly right: no entry is off by more than {float(np.nanmax(np.abs(actual - expected))):.1g}."
    if expected.ndim == 0 or not wrong.any():
        return ""
    if expected.ndim == 1:
        entries = [int(i) for i in np.flatnonzero(wrong)]
        return f"Right except for the entries {entries}." if len(entries) < expected.size else "No entry is right."
    rows = wrong.any(axis=-1)
    if rows.all():
        columns = wrong.reshape(-1, expected.shape[-1]).any(axis=0)
        off = [int(i) for i in np.flatnonzero(columns)]
        return f"Right except for the columns {off}." if len(off) < len(columns) else "No row is right."
    indices = [tuple(int(i) for i in index) for index in np.argwhere(rows)[:4]]
    named = [index[0] if len(index) == 1 else index for index in indices]
    more = " and more" if rows.sum() > 4 else ""
    return f"Right except for the rows {', '.join(map(str, named))}{more}."


def _same(one: "np.ndarray[Any, Any]", other: "np.ndarray[Any, Any]") -> bool:
    return bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE))
