"""What can be said about wrong values without guessing, where no known mistake explains them.

Made from public examples only: the words are ours, the figures are the student's own. What holds on every wrong example of the
function comes first; what does not help to find a line is not said.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np

from autograder.feedback.other_arguments import others
from autograder.grading.record import Record
from autograder.homework import reference
from autograder.values.differences import ROUGH, difference, equal, factor, rounding, same

MOST_FEATURES = 2  # that tell the wrong examples from the right ones: more than these say nothing
FORMS: dict[str, Callable[[int], float]] = {
    "{n}": lambda n: n,
    "1 / {n}": lambda n: 1 / n,
    "sqrt({n})": sqrt,
    "1 / sqrt({n})": lambda n: 1 / sqrt(n),
    "{n} / ({n} - 1)": lambda n: n / (n - 1),
    "({n} - 1) / {n}": lambda n: (n - 1) / n,
    "sqrt({n} / ({n} - 1))": lambda n: sqrt(n / (n - 1)),
    "sqrt(({n} - 1) / {n})": lambda n: sqrt((n - 1) / n),
    "{n} squared": lambda n: n * n,
    "1 / {n} squared": lambda n: 1 / (n * n),
}


def observe(example: Record, examples: Sequence[Record] = ()) -> str:
    """A sentence or two about a wrong public example, or "". `examples` are all public examples of the same function."""
    if not _returned(example):
        return ""
    others = [one for one in examples if one.step is not example.step and _returned(one)]
    wrong = [example, *(one for one in others if one.fault is not None)]
    right = [one for one in others if one.fault is None]
    said = _other_arguments(wrong) or _factor(wrong) or _mask(wrong)
    return said or " ".join(
        filter(None, (difference(example.step.expected, example.reply.value), contrast(wrong, right)))
    )


def _returned(record: Record) -> bool:
    return record.reply.error is None and record.reply.ended is None and not record.step.rules.error


# Right for other arguments


def _other_arguments(wrong: Sequence[Record]) -> str:
    """What the first result would be right for, if each other wrong one would be so too, or cannot tell."""
    for other in others(wrong[0].step):
        if _mixed(wrong[0], other.value) and all(_agrees(record, other.sentence) for record in wrong[1:]):
            return other.sentence
    return ""


def _agrees(record: Record, sentence: str) -> bool:
    found = [other for other in others(record.step) if other.sentence == sentence]
    return not found or _mixed(record, found[0].value)


def _mixed(record: Record, value: Any) -> bool:
    """Whether a result is this value; of a tuple the parts that are right need not be."""
    expected, actual = record.step.expected, record.reply.value
    if not isinstance(expected, tuple) or not isinstance(value, tuple) or not isinstance(actual, tuple | list):
        return equal(value, actual)
    if not len(expected) == len(value) == len(actual):
        return False
    wrong = [(v, a) for e, v, a in zip(expected, value, actual, strict=True) if not equal(e, a)]
    return bool(wrong) and all(equal(v, a) for v, a in wrong)


# The same factor on several examples


def _factor(wrong: Sequence[Record]) -> str:
    """One factor on every entry, and what it is, as far as at least two examples of different sizes say so."""
    parts = len(wrong[0].step.expected) if isinstance(wrong[0].step.expected, tuple) else 1
    for part in range(parts):
        factors = [_factor_of(record, part) for record in wrong]
        numbers = [number for number in factors if number is not None]
        if len(numbers) < 2 or len(numbers) < len(wrong):
            continue
        which = f"Part [{part}]: every" if parts > 1 else "Every"
        name = _name(wrong, numbers)
        if name:
            return f"{which} entry is the right one times the same factor, {numbers[0]:.6g}: {name}."
        if np.allclose(numbers, numbers[0], rtol=ROUGH):
            return f"{which} entry is the right one times the same factor, {numbers[0]:.6g}, in every example."
    return ""


def _factor_of(record: Record, part: int) -> float | None:
    expected, actual = record.step.expected, record.reply.value
    if isinstance(expected, tuple):
        if not isinstance(actual, tuple | list) or len(actual) != len(expected):
            return None
        expected, actual = expected[part], actual[part]
    if not isinstance(expected, np.ndarray | float | np.floating) or not isinstance(
        actual, np.ndarray | float | np.floating
    ):
        return None
    return factor(np.asarray(expected), np.asarray(actual))


def _name(wrong: Sequence[Record], numbers: Sequence[float]) -> str:
    """What the factors are, where one form of one length gives them all, and the lengths are not all the same."""
    lengths = [dict(_lengths(record)) for record in wrong]
    for source, first in lengths[0].items():
        values = [found.get(source, 0) for found in lengths]
        if len(set(values)) < 2 or min(values) < 2:
            continue
        for form, of in FORMS.items():
            if np.allclose([of(value) for value in values], numbers, rtol=ROUGH):
                return f"{form.format(n=first)}, where {first} is {source}"
    return _form(lengths, numbers) if max(numbers) - min(numbers) > ROUGH else ""


def _form(lengths: Sequence[dict[str, int]], numbers: Sequence[float]) -> str:
    """The one form that gives each factor from some length of its example, where the factors are not all the same."""
    for form, of in FORMS.items():
        fitting = [
            [(n, source) for source, n in found.items() if n > 1 and np.isclose(of(n), number, rtol=ROUGH)]
            for found, number in zip(lengths, numbers, strict=True)
        ]
        if all(fitting):
            n, source = fitting[0][0]
            return (
                f"{form.format(n=n)}, where {n} is {source}; in other examples it is the same form with another length"
            )
    return ""


def _lengths(record: Record) -> Iterator[tuple[str, int]]:
    """Every length that an example has, by what it is: those of floating arrays first, from the last axis on."""
    names = inspect.signature(reference.functions()[record.target.function]).parameters
    given = list(zip(names, record.step.args, strict=False))
    arrays = [(name, value) for name, value in given if isinstance(value, np.ndarray)]
    for name, value in sorted(arrays, key=lambda one: one[1].dtype.kind != "f"):
        for axis in range(1, value.ndim + 1):
            yield f"the length of {'the last axis' if axis == 1 else f'axis {-axis}'} of `{name}`", value.shape[-axis]
    yield from ((f"`{name}`", value) for name, value in given if isinstance(value, int) and not isinstance(value, bool))


# What the wrong examples have and the right ones have not


def contrast(wrong: Sequence[Record], right: Sequence[Record]) -> str:
    """What tells the wrong examples from the right ones, if one thing does."""
    if not right:
        return ""
    features = [dict(_features(record)) for record in wrong]
    free = [dict(_features(record)) for record in right]
    telling = [
        said
        for name, said in features[0].items()
        if all(found.get(name) == said for found in features) and all(found.get(name) != said for found in free)
    ]
    few = telling if len(telling) <= MOST_FEATURES else []
    if len(wrong) < 2:  # one example has much that others do not have: only what changes the formula counts
        few = [said for said in few if said.startswith("have ") and " rows in " not in said]
    return f"Among the public examples only the wrong ones {' and '.join(few)}." if few else ""


def _features(record: Record) -> Iterator[tuple[str, str]]:
    """What an example is like: its axes and rows, what is passed, flags and words."""
    names = list(inspect.signature(reference.functions()[record.target.function]).parameters)
    given = {**dict(zip(names, record.step.args, strict=False)), **record.step.kwargs}
    first = next((name for name, value in given.items() if isinstance(value, np.ndarray)), "")
    if first:
        shape = given[first].shape
        yield "axes", f"have {len(shape)} {'axis' if len(shape) == 1 else 'axes'} in `{first}`"
        if len(shape) > 1:
            yield "rows", f"have {shape[-2]} {'row' if shape[-2] == 1 else 'rows'} in `{first}`"
        if given[first].dtype == np.float32:
            yield "dtype", f"have a float32 `{first}`"
    for name in names:
        if isinstance(given.get(name), bool | str):
            yield name, f"have `{name}={given[name]!r}`"
        else:
            yield name, f"{'pass' if name in given else 'do not pass'} `{name}`"


# Masks


def _mask(wrong: Sequence[Record]) -> str:
    """Whether what is wrong is just what a mask hides, or just the queries that may see nothing."""
    said = {_masked(record) for record in wrong if _mask_of(record) is not None}
    unmasked = [record for record in wrong if _mask_of(record) is None]
    return said.pop() if len(said) == 1 and not unmasked else ""


def _mask_of(record: Record) -> "np.ndarray[Any, Any] | None":
    values = [*record.step.args, *record.step.kwargs.values()]
    masks = [value for value in values if isinstance(value, np.ndarray) and value.dtype.kind == "b" and value.ndim > 1]
    return masks[0] if masks else None


def _masked(record: Record) -> str:
    mask, expected, actual = _mask_of(record), record.step.expected, record.reply.value
    if isinstance(expected, tuple) and isinstance(actual, tuple | list) and len(actual) == len(expected):
        expected, actual = expected[0], actual[0]
    if mask is None or not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray) or expected.ndim < 2:
        return ""
    if actual.shape != expected.shape or actual.dtype.kind not in "biuf" or same(expected, actual):
        return ""
    close = rounding(expected, actual)
    wrong = ~np.isclose(actual, expected, rtol=close, atol=close, equal_nan=True)
    try:
        entries = np.broadcast_to(mask, wrong.shape)
    except ValueError:
        entries = None
    if entries is not None and np.array_equal(wrong, ~entries):
        return "Right where the mask is True, and wrong wherever it is False."
    try:
        sees_all, sees_some = (np.broadcast_to(seen(mask, axis=-1), wrong.shape[:-1]) for seen in (np.all, np.any))
    except ValueError:
        return ""
    rows = wrong.any(axis=-1)
    if np.array_equal(rows, ~sees_some):
        return "Right except for the queries that may see nothing."
    if np.array_equal(rows, ~sees_all):
        return "Right only for the queries that may see everything: wrong where the mask hides something."
    return ""
