"""Describes wrong results: first type, shape and dtype, then values.

A sentence is true of every entry it mentions. It calls an entry wrong only if `compare` rejects it with the same
`allowed`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from .compare import compare, deviations, equal, magnitude
from .tree import Array, describe, dtype_of, in_order

MANY = 5  # rows, columns, entries or parts named individually
# Share of a difference that "every entry is ..." may leave unexplained, because an eps in the formula blurs factors.
UNEXPLAINED = 1e-3
ALIKE = 1e-3  # relative error of a model of an entry
SEVERAL = 3  # entries that cannot share an amount or a factor by chance
MOST_DIGITS = 6  # decimals of a rounded result
LARGEST_FACTOR = 9  # of a number that is a multiple of the expected one, or a fraction
NEARLY = 1e-3  # largest deviation of a result that is nearly right

FORMS = {
    "type": "the wrong type",
    "length": "a result of the wrong length",
    "shape": "an array of the wrong shape",
    "dtype": "the wrong dtype",
}
KEEP_DTYPE = "floating-point results keep the dtype of the arguments"
NO_RETURN = "Does every path through the function return a value?"
REMEMBERED = (
    "The result was correct when this was the first call, but not after other calls: your code keeps state between calls, "
    "or its results are random."
)
VARIES = (
    "The same call gave different results: look for random numbers, entries never set, or state kept between calls."
)
RETURNS = re.compile(r"^\s*Returns:\s*(.+?)(?:[.;](?=\s)|\.?\s*\Z|\n\s*\n|\n\s*[A-Z]\w*:)", re.DOTALL | re.MULTILINE)


# Type, shape and dtype


def form(
    expected: Any, actual: Any, allowed: float, dtype: bool = False, returned: str = "", names: Sequence[str] = ()
) -> str:
    """Return a sentence on a wrong type, shape or dtype and the expected one; "" if it is correct.

    `returned` is the description of the result in the docstring, `names` are those of a tuple's parts.
    """
    failure, _ = compare(expected, actual, allowed, dtype)
    if failure is None or failure.kind not in FORMS:
        return ""
    label, desired, got = _innermost(expected, actual, allowed, dtype, names)
    label = label[:1].upper() + label[1:]
    both = isinstance(desired, np.ndarray) and type(got) is np.ndarray
    kind = f"an array of {dtype_of(got)}" if both else kind_of(got)
    due = f"it should {'be' if label else 'return'} {_expected_kind(desired, () if label else names)}"
    if returned and not label:
        due = f"the docstring says {returned}"
    match failure.kind:
        case "dtype":
            return (
                f"{f'{label} is' if label else 'It returned'} {dtype_of(got)} instead of {desired.dtype}: {KEEP_DTYPE}."
            )
        case "shape" if label:
            return f"{label} has shape {got.shape}; it should have shape {desired.shape}."
        case "shape":
            text = f"; {due}" if returned else ""
            return f"It returned an array of shape {got.shape} instead of {desired.shape}{text}."
        case "length" if isinstance(desired, tuple) and not label:
            return f"It returned {len(got)} value{'s' * (len(got) != 1)} instead of {len(desired)}; {due}."
        case "length" if not label:
            return f"It returned a list of length {len(got)} instead of {len(desired)}."
        case _:
            advice = f" {NO_RETURN}" if got is None and not label else ""
            return f"{f'{label} is' if label else 'It returned'} {kind}; {due}.{advice}"


def _expected_kind(expected: Any, names: Sequence[str] = ()) -> str:
    if isinstance(expected, tuple):
        return f"a tuple of {len(expected)}" + (f" ({', '.join(f'`{name}`' for name in names)})" if names else "")
    if not isinstance(expected, np.ndarray):
        return kind_of(expected)
    entries = {"b": "bools", "i": "integers", "u": "integers", "f": "floats"}[expected.dtype.kind]
    return f"an array of {entries} of shape {expected.shape}"


def what_returns(docstring: str) -> str:
    """Return the description of the result in a docstring, as a clause; "" if there is none."""
    match = RETURNS.search(docstring)
    text = " ".join(match[1].split()) if match else ""
    while text.count("(") > text.count(")"):  # a remark that continues after a semicolon
        text = text[: text.rindex("(")].rstrip()
    return f"an array of shape {text}" if text.startswith("(") else text


def kind_of(value: Any) -> str:
    """Return the kind of a value, with the number of its parts."""
    if isinstance(value, list | tuple):
        return f"a tuple of {len(value)}" if isinstance(value, tuple) else f"a list of length {len(value)}"
    return "an array" if type(value) is np.ndarray and value.ndim else describe(value)


def _innermost(
    expected: Any, actual: Any, allowed: float, dtype: bool, names: Sequence[str] = ()
) -> tuple[str, Any, Any]:
    """Return the first part that differs, at any depth, and its values.

    Values that are not containers alike have no parts: "" and the values themselves.
    """
    for name, desired, got in _named_parts(expected, actual, names):
        if not equal(desired, got, allowed, dtype):
            inner, desired, got = _innermost(desired, got, allowed, dtype)
            return name + inner.removeprefix("part "), desired, got
    return "", expected, actual


def _named_parts(expected: Any, actual: Any, names: Sequence[str] = ()) -> list[tuple[str, Any, Any]]:
    """Return the parts of two tuples or lists of one length, or dicts with the same keys, by name; none for other values."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        return [(f"part [{key!r}]", desired, actual[key]) for key, desired in expected.items()]
    kind = list if isinstance(expected, list) else tuple | list
    if not all(isinstance(value, kind) for value in (expected, actual)) or len(actual) != len(expected):
        return []
    is_named = len(names) == len(expected)
    places = [f"`{names[number]}`" if is_named else f"part [{number}]" for number in range(len(expected))]
    return list(zip(places, expected, actual, strict=True))


# Values


def difference(expected: Any, actual: Any, allowed: float, names: Sequence[str] = ()) -> str:
    """Return how the values of a result differ; "" if they do not, or if no sentence helps."""
    if isinstance(expected, tuple) and (parts := _named_parts(expected, actual, names)):
        return _parts_sentence(parts, allowed)
    failure, _ = compare(expected, actual, allowed)
    if failure is None or failure.kind not in ("shape", "value"):
        return ""
    if isinstance(expected, float | np.floating):
        return _rounded(np.asarray(expected), np.asarray(actual), allowed) or _multiple(
            float(expected), float(actual), allowed
        )
    if isinstance(expected, str):
        if expected.casefold() == actual.casefold():
            return "Only upper and lower case differ."
        return "Only white space differs." if expected.split() == actual.split() else ""
    if isinstance(expected, list) and equal(in_order(expected), in_order(actual), allowed):
        return "All elements are correct, but they are in the wrong order."
    if not isinstance(expected, np.ndarray):
        return ""
    if failure.kind == "shape":
        return _shape_sentence(expected, actual, allowed) if actual.dtype.kind in "biuf" else ""
    return next(filter(None, _value_sentences(expected, actual, allowed)), "")


def _parts_sentence(parts: list[tuple[str, Any, Any]], allowed: float) -> str:
    """Return the wrong parts of a tuple, and how each differs."""
    if order := _order(parts, allowed):
        return (
            f"All parts are correct, but they are in the wrong order: {', '.join(parts[label][0] for label in order)}."
        )
    # A tuple within a tuple would have parts of the same names.
    differing = [
        (label, "" if isinstance(desired, tuple) else difference(desired, got, allowed))
        for label, desired, got in parts
        if not equal(desired, got, allowed)
    ]
    details = " ".join(f"{label[0].upper()}{label[1:]}: {text}" for label, text in differing if text)
    if len(differing) in (0, len(parts)):
        return details
    if len(differing) == 1:
        label, text = differing[0]
        return f"Only {label} is wrong" + (f": {text[0].lower()}{text[1:]}" if text else ".")
    return f"Only {' and '.join(label for label, _ in differing)} are wrong. {details}".strip()


def reordered(expected: Any, actual: Any, allowed: float) -> bool:
    """Return whether all parts of a tuple are correct, but in the wrong order."""
    return isinstance(expected, tuple) and bool(_order(_named_parts(expected, actual), allowed))


def _order(parts: list[tuple[str, Any, Any]], allowed: float) -> tuple[int, ...]:
    """Return the place of each part in the expected tuple, if several are exchanged; () otherwise."""
    failing = [label for label, desired, got in parts if not equal(desired, got, allowed)]
    for order in permutations(range(len(parts))) if len(failing) > 1 and len(parts) <= MANY else ():
        if all(equal(parts[index][1], item[2], allowed) for index, item in zip(order, parts, strict=True)):
            return order
    return ()


def _fits(model: Array, got: Array, desired: Array, allowed: float) -> bool:
    """Return whether a model of the result is correct for every entry, up to rounding."""
    slack = UNEXPLAINED * np.abs(model - desired) + allowed * magnitude(desired) / 10
    slack = np.minimum(slack, ALIKE * np.abs(got) + allowed * magnitude(desired) * 1e-6)  # results may be tiny
    return bool((np.abs(got - model) <= slack).all())


def _shape_sentence(expected: Array, actual: Array, allowed: float) -> str:
    if actual.size == expected.size and equal(expected, actual.reshape(expected.shape), allowed):
        more = actual.ndim - expected.ndim
        if more in (-1, 1) and actual.squeeze().shape == expected.squeeze().shape:
            fault = "there is an extra axis of length 1" if more > 0 else "an axis of length 1 is missing"
            return f"The values are correct, but {fault}."
    if expected.ndim == 2 and 1 not in expected.shape and equal(expected, actual.T, allowed):
        return "Your result is the transpose of the expected one."
    length = min(len(expected), len(actual)) if expected.ndim and actual.ndim else 0
    same = length and actual.shape[1:] == expected.shape[1:] and equal(expected[:length], actual[:length], allowed)
    if same and not equal(expected[-length:], actual[-length:], allowed):
        return f"Your result is the expected one, but ends too {'early' if length == len(actual) else 'late'}."
    return ""


def _bool_sentence(expected: Array, actual: Array) -> str:
    if expected.size < 2:
        return ""
    if actual.all() or not actual.any():
        return f"Every entry is {actual.all()}."
    if expected.ndim == 2 and expected.shape[0] == expected.shape[1]:
        is_wrong = actual != expected
        on, above = np.eye(len(is_wrong), dtype=bool), ~np.tri(len(is_wrong), dtype=bool)
        where = {"on the diagonal": on, "above the diagonal": above, "below the diagonal": above.T}
        for name, area in where.items():
            if is_wrong.sum() > 1 and not (is_wrong & ~area).any():
                return f"Some entries {name} are wrong; everything else is correct."
    return ""


def _value_sentences(expected: Array, actual: Array, allowed: float) -> Iterator[str]:
    """Sentences about the values, the most specific first."""
    if expected.dtype.kind == "b":
        yield _bool_sentence(expected, actual)
    yield _not_finite(expected, actual)
    if expected.dtype.kind == "f":  # tokens have no factor
        yield _common_to_all(expected.astype(float), actual.astype(float), allowed)
        yield _wrong_sums(expected, actual)
        yield _rounded(expected, actual, allowed)
    away = deviations(expected, actual)
    is_wrong = away > (allowed if expected.dtype.kind == "f" else 0.0)
    yield _wrong_lines(is_wrong)
    if is_wrong.size > 1:
        worst = tuple(int(i) for i in np.unravel_index(_largest(away), away.shape))
        digits = 6 if expected.dtype == np.float32 else 7
        got, due = (f"{v[worst]:{'' if v.dtype.kind == 'b' else f'.{digits}g'}}" for v in (actual, expected))
        example = f"entry {list(worst)} is {got} instead of {due}"
        yield f"{is_wrong.sum()} of {is_wrong.size} entries are wrong: {example}."


def _largest(away: Array) -> int:
    """Return the flat index of the largest number: the first of several that differ only by rounding."""
    filled = np.where(np.isnan(away), np.inf, away).ravel()
    return int(np.argmax(filled >= filled.max() * (1 - 1e-9)))


def _not_finite(expected: Array, actual: Array) -> str:
    got, desired = (int((~np.isfinite(values)).sum()) for values in (actual, expected))
    if got == desired or np.isfinite(actual[np.isfinite(expected)]).all():
        return ""
    kind = "nan" if np.isnan(actual).sum() == got else "nan or infinite"
    verb = "entry is" if got == 1 else "entries are"
    return f"{got} {verb} {kind}; there should be {desired or 'none'}."


@np.errstate(all="ignore")
def _common_to_all(expected: Array, actual: Array, allowed: float) -> str:
    """Return a sentence that is true of every entry."""
    finite = np.isfinite(expected)
    desired, got = expected[finite], actual[finite]
    if desired.size < 2 or np.ptp(desired) <= allowed * magnitude(desired):
        return ""
    if not np.array_equal(expected[~finite], actual[~finite], equal_nan=True):
        return ""
    ratio = float(got @ desired / (desired @ desired))
    scaled = (
        abs(ratio - 1) > 5 * NEARLY and np.abs(got).max() > allowed and _fits(ratio * desired, got, desired, allowed)
    )
    if scaled and desired.size >= SEVERAL and np.count_nonzero(desired) > 1:
        return f"Every entry is multiplied by the same factor, {ratio:.6g}."
    if finite.all() and np.ptp(got) <= allowed * magnitude(got):
        return f"All entries are equal: {got[0]:.6g}."
    return _common_to_lines(expected, actual, allowed) if finite.all() and expected.ndim == 2 else ""


def _common_to_lines(expected: Array, actual: Array, allowed: float) -> str:
    """Return a sentence that is true of the entries of each row or column, if none of these is correct."""
    for name, axis in (("row", 1), ("column", 0)):
        if expected.shape[axis] < SEVERAL or min(np.ptp(expected, axis)) <= allowed * magnitude(expected):
            continue
        scaled = (actual * expected).sum(axis, keepdims=True) / (expected**2).sum(axis, keepdims=True) * expected
        off = np.abs(scaled - expected).max(axis) > NEARLY * magnitude(expected)
        if off.all() and _fits(scaled, actual, expected, allowed):
            return f"In each {name}, every entry is multiplied by the same factor."
    return ""


def _wrong_sums(expected: Array, actual: Array) -> str:
    """Return a sentence on rows or columns of weights that should sum to 1 but do not."""
    for axis, name in ((-1, "row"), (-2, "column")):
        weights = (expected >= 0).all() and ((expected > 0) & (expected < 1)).any()
        if expected.ndim < -axis or expected.shape[axis] < 2 or not weights:
            continue
        desired, got = expected.sum(axis), actual.sum(axis)
        if np.allclose(desired, 1, atol=1e-5) and not np.allclose(got, 1, atol=1e-3):
            worst = float(np.ravel(got)[_largest(np.abs(got - 1))])
            return f"Every {name} should sum to 1; one of yours sums to {worst:.6g}."
    return ""


def _rounded(expected: Array, actual: Array, allowed: float) -> str:
    """Return a sentence on a result that is the expected one, rounded to a few decimals."""
    if not np.isfinite(expected).all() or not np.isfinite(actual).all() or not actual.any():
        return ""
    off = np.abs(actual.astype(float) - expected).max() - allowed * magnitude(expected)
    with np.errstate(over="ignore"):  # float16
        exact = [d for d in range(1, MOST_DIGITS + 1) if np.array_equal(np.round(actual, d), actual)]
    digits = [d for d in exact if off <= 0.5 * 10.0**-d]  # several if the next decimals are 0
    if digits:
        number = f"{digits[0]} to {digits[-1]}" if digits[1:] else str(digits[0])
        return f"Your result is the expected one, rounded to {number} decimal{'s' * (number != '1')}."
    return ""


def _multiple(expected: float, actual: float, allowed: float) -> str:
    """Return a sentence on a number that is a telling multiple of the expected one."""
    if not 1 / LARGEST_FACTOR < abs(expected) < np.inf:
        return ""  # any number fits a small one
    factors = {-1.0: "Only the sign is wrong."}
    for base in (2, 10):
        factors[1 / np.log(base)] = f"Your result is the expected one with logarithms to base {base}."
    for number in range(2, LARGEST_FACTOR + 1):
        factors[number] = f"Your result is {number} times the expected one."
        factors[1 / number] = f"Your result is the expected one divided by {number}."
    return next((text for factor, text in factors.items() if equal(factor * expected, actual, allowed)), "")


def _wrong_lines(is_wrong: Array) -> str:
    """Return the wrong rows, columns or entries, if they are few and others are correct."""
    if is_wrong.ndim == 0 or is_wrong.all():
        return ""
    if is_wrong.ndim > 1:
        columns = is_wrong.reshape(-1, is_wrong.shape[-1]).any(axis=0)
        for name, lines in (("row", is_wrong.any(axis=-1)), ("column", columns)):
            if not lines.all() and is_wrong.sum() > 1:
                return _only(name, f"{name}s", lines)
    return _only("entry", "entries", is_wrong)


def _only(singular: str, plural: str, is_wrong: Any) -> str:
    """Return a sentence on the wrong or the correct places, whichever are fewer."""
    few = 2 * is_wrong.sum() <= is_wrong.size
    places = [[int(i) for i in index] for index in np.argwhere(is_wrong if few else ~is_wrong)]
    if len(places) > MANY:
        return ""
    named = [str(index[0]) if len(index) == 1 and singular != "entry" else str(index) for index in places]
    listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"Only {f'{singular} {listed} is' if len(named) == 1 else f'{plural} {listed} are'} {'wrong' if few else 'correct'}."
