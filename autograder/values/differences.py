"""How one array differs from another: facts that help to find the line, and no others."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

CLOSE = {"float64": 1e-9, "float32": 1e-5}  # as a share of max(1, the entry)
ROUGH = 1e-6  # for a factor or an offset of all entries, which an eps in the formula blurs
MANY = 5  # rows, columns or entries that are named one by one
Array = np.ndarray[Any, Any]

TRANSFORMS: dict[str, Callable[[Array], Array]] = {
    "the square root of": np.sqrt,
    "the square of": np.square,
    "one divided by": np.reciprocal,
    "the logarithm of": np.log,
    "e to the power of": np.exp,
    "the absolute value of": np.abs,
}


def difference(expected: Any, actual: Any) -> str:
    """One sentence about how `actual` differs from `expected`, or "": every part of a tuple has its own."""
    if isinstance(expected, tuple) and isinstance(actual, tuple | list) and len(actual) == len(expected):
        return _parts(expected, actual)
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray) or actual.dtype.kind not in "biuf":
        return ""
    if actual.shape != expected.shape:
        return _shape(expected, actual)
    if same(actual, expected):
        return ""
    if expected.dtype.kind == "b":
        return _bools(expected, actual.astype(bool)) or _rows(expected, actual)
    return next(filter(None, _values(expected, actual)), "")


def _parts(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """Which parts of a tuple are wrong, and how."""
    pairs = list(enumerate(zip(expected, actual, strict=True)))
    said = {i: difference(e, a) for i, (e, a) in pairs if not equal(e, a)}
    told = " ".join(f"Part [{i}]: {text}" for i, text in said.items() if text)
    if len(said) == len(expected) or not said:
        return told
    places = " and ".join(f"[{i}]" for i in said)
    only = (
        f"Only part {places} of the result is wrong."
        if len(said) == 1
        else f"Only parts {places} of the result are wrong."
    )
    return f"{only} {told}".strip()


def same(one: Array, other: Array, close: float = 0.0) -> bool:
    """Whether two arrays of one shape are equal up to rounding; a nan equals a nan."""
    close = close or rounding(one, other)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=close, atol=close, equal_nan=True))


def equal(one: Any, other: Any) -> bool:
    """Whether two results are equal up to rounding: of the same form, with lists and tuples alike."""
    if isinstance(one, tuple | list):
        alike = isinstance(other, tuple | list) and len(one) == len(other)
        return alike and all(equal(a, b) for a, b in zip(one, other, strict=True))
    if not isinstance(one, np.ndarray | np.generic | int | float) or not isinstance(
        other, np.ndarray | np.generic | int | float
    ):
        return False
    first, second = np.asarray(one), np.asarray(other)
    kinds = {first.dtype.kind, second.dtype.kind}
    return not (kinds - set("biuf")) and ("b" not in kinds or len(kinds) == 1) and same(first, second)


def rounding(*arrays: Array) -> float:
    """How far results in these dtypes may be apart and still count as equal."""
    return CLOSE["float32" if any(array.dtype == np.float32 for array in arrays) else "float64"]


def factor(expected: Array, actual: Array) -> float | None:
    """The one factor by which every entry is off, if there is one and it is not 1."""
    if actual.shape != expected.shape or expected.dtype.kind != "f":
        return None
    finite = np.isfinite(expected) & np.isfinite(actual)
    wanted, got = expected[finite].astype(float), actual[finite].astype(float)
    if not same(expected[~finite], actual[~finite]) or not np.any(np.abs(wanted) > ROUGH):
        return None
    found = float(got @ wanted / (wanted @ wanted))
    usable = abs(found) > ROUGH and abs(found - 1) > 1e-4
    return found if usable and same(got, found * wanted, ROUGH) else None


def _shape(expected: Array, actual: Array) -> str:
    if actual.size == expected.size and same(actual.reshape(expected.shape), expected):
        return "The numbers are right and in the right order; only the shape is another."
    if same(actual.T, expected):
        return "The result is right up to a transpose."
    thing = "entry" if expected.ndim == 1 else "row"
    if expected.ndim and actual.ndim and actual.shape[1:] == expected.shape[1:]:
        short, extra = len(expected) - len(actual), len(actual) - len(expected)
        for (place, kept), (one, other, much) in product(
            (("end", slice(None, -1)), ("start", slice(1, None))),
            ((expected, actual, short), (actual, expected, extra)),
        ):
            if much == 1 and same(one[kept], other):
                which = "last" if place == "end" else "first"
                missing = f"Right, but the {which} {thing} is missing."
                return missing if one is expected else f"Right, but there is one {thing} too many at the {place}."
    return ""


def _bools(expected: Array, actual: Array) -> str:
    if expected.size < 2:
        return ""
    if np.array_equal(actual, ~expected):
        return "Every True should be False and every False True."
    if len({bool(value) for value in actual.flat}) == 1:
        return f"Every entry is {bool(actual.flat[0])}."
    if expected.ndim == 2 and expected.shape[0] == expected.shape[1]:
        if np.array_equal(actual.T, expected):
            return "The result is right up to a transpose."
        wrong = actual != expected
        where = {
            "on the diagonal": np.eye(len(wrong), dtype=bool),
            "above the diagonal": ~np.tri(len(wrong), dtype=bool),
        }
        where["below the diagonal"] = where["above the diagonal"].T
        for name, place in where.items():
            if not (wrong & ~place).any():
                which = "Every entry" if wrong[place].all() else "Something"
                return f"{which} {name} is wrong, and nothing else."
    return ""


def _values(expected: Array, actual: Array) -> Iterator[str]:
    """What can be said, the most telling first."""
    yield _not_finite(expected, actual)
    square = expected.ndim >= 2 and expected.shape[-1] == expected.shape[-2]
    if square and same(np.swapaxes(actual, -1, -2), expected):
        yield "The result is right up to a transpose of the last two axes."
    yield _order(expected, actual)
    if expected.dtype.kind == "f":  # tokens have no factor
        yield _of_all(expected.astype(float), actual.astype(float))
    yield _sums(expected, actual)
    yield _precision(expected, actual)
    yield _rows(expected, actual)


def _not_finite(expected: Array, actual: Array) -> str:
    if np.isfinite(actual[np.isfinite(expected)]).all():
        return ""
    found, wanted = (int((~np.isfinite(values)).sum()) for values in (actual, expected))
    kind = "nan" if np.isnan(actual).sum() == found else "nan or infinite"
    verb = "entry is" if found == 1 else "entries are"
    return f"{found} {verb} {kind}; expected are {wanted or 'none'}."


def _order(expected: Array, actual: Array) -> str:
    """Whether rows, columns or numbers are right and only stand in another order."""
    if expected.ndim >= 2:
        rows, theirs = (values.reshape(-1, values.shape[-1]) for values in (expected, actual))
        places = _places(rows, theirs)
        if places:
            number = next(i for i, place in enumerate(places) if i != place)
            index = [tuple(int(i) for i in np.unravel_index(n, expected.shape[:-1])) for n in (number, places[number])]
            mine, right = (one[0] if len(one) == 1 else one for one in index)
            return f"The rows are right but in another order: your row {mine} is the expected row {right}."
        columns = _places(rows.T, theirs.T)
        if columns:
            number = next(i for i, place in enumerate(columns) if i != place)
            return f"The columns are right but in another order: your column {number} is the expected column {columns[number]}."
    if expected.size > 2 and len(np.unique(expected)) > 2 and same(np.sort(actual, None), np.sort(expected, None)):
        return "The numbers are right but in another order."
    return ""


def _places(rows: Array, theirs: Array) -> list[int]:
    """For each of their rows the expected row that it is; [] unless every row is there once and not all where it belongs."""
    places: list[int] = []
    for row in theirs:
        equal = [i for i, other in enumerate(rows) if i not in places and same(row, other)]
        if not equal:
            return []
        places.append(len(places) if len(places) in equal else equal[0])
    return places if places != sorted(places) else []


def _of_all(expected: Array, actual: Array) -> str:
    """What every entry has in common."""
    finite = np.isfinite(expected) & np.isfinite(actual)
    wanted, got = expected[finite], actual[finite]
    if wanted.size < 2 or np.ptp(wanted) < ROUGH:
        return ""
    if same(got, -wanted):
        return "Every entry has the wrong sign."
    offset = float(np.mean(got - wanted))
    if abs(offset) > ROUGH and same(got, wanted + offset, ROUGH):
        return f"Every entry is off by the same amount, {offset:.6g}."
    number = factor(wanted, got)
    if number is not None:
        return f"Every entry is the right one times the same factor, {number:.6g}."
    with np.errstate(all="ignore"):
        found = (name for name, change in TRANSFORMS.items() if same(got, change(wanted), ROUGH))
        name = next(found, "") if not same(got, wanted, ROUGH) else ""
    if name:
        return f"Every entry is {name} the right one."
    return f"Every entry is the same, {got[0]:.6g}." if np.ptp(got) < ROUGH else ""


def _sums(expected: Array, actual: Array) -> str:
    """Whether rows or columns of weights, which sum to 1, do not."""
    for axis, name in ((-1, "row"), (-2, "column")):
        weights = (expected >= 0).all() and ((expected > 0) & (expected < 1)).any()
        if expected.ndim < -axis or expected.shape[axis] < 2 or not weights:
            continue
        wanted, got = expected.sum(axis), actual.sum(axis)
        if np.allclose(wanted, 1) and not np.allclose(got, 1, atol=1e-3):
            wrong = float(np.ravel(got)[np.argmax(np.abs(np.ravel(got) - 1))])
            return f"Every expected {name} sums to 1; one of yours sums to {wrong:.6g}."
    return ""


def _precision(expected: Array, actual: Array) -> str:
    if not np.allclose(actual, expected, rtol=1e-3, atol=1e-3):
        return ""
    both = expected.dtype == np.float64 == actual.dtype
    if both and _are_float32(actual) and not _are_float32(expected):
        return "Your numbers have only the digits of float32: something is computed in that dtype."
    return f"Nearly right: no entry is off by more than {float(np.nanmax(np.abs(actual - expected))):.1g}."


def _are_float32(values: Array) -> bool:
    return np.array_equal(values, values.astype(np.float32))


def _rows(expected: Array, actual: Array) -> str:
    """Which rows, columns or entries are wrong, if they are few and others are right."""
    close = rounding(expected, actual)
    wrong = ~np.isclose(actual, expected, rtol=close, atol=close, equal_nan=True)
    if expected.ndim == 0 or wrong.all():
        return ""
    if expected.ndim > 1:
        for one, several, lines in (
            ("row", "rows", wrong.any(axis=-1)),
            ("column", "columns", wrong.reshape(-1, wrong.shape[-1]).any(axis=0)),
        ):
            if not lines.all() and wrong.sum() > 1:
                return _but(one, several, lines)
    return _but("entry", "entries", wrong)


def _but(one: str, several: str, wrong: Any) -> str:
    """Which are wrong, or which are right, whatever is the shorter list."""
    few = 2 * wrong.sum() <= wrong.size
    indices = np.argwhere(wrong if few else ~wrong)
    if len(indices) > MANY:
        return ""
    places = [tuple(int(i) for i in index) for index in indices]
    named = ", ".join(str(place[0] if len(place) == 1 else place) for place in places)
    return f"Right {'except' if few else 'only'} for the {one if len(indices) == 1 else several} {named}."
