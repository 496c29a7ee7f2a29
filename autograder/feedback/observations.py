"""What can be said about wrong values without guessing, where no known mistake explains them.

Made from public examples only: the words are ours, the figures are the student's own. What holds on every wrong example of the
function comes first; what does not help to find a line is not said.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.feedback.other_arguments import others
from autograder.grading.record import Record
from autograder.grading.thresholds import MOST_FEATURES
from autograder.homework import reference
from autograder.values.compare import equal
from autograder.values.differences import UNEXPLAINED, difference, factor


def observe(example: Record, examples: Sequence[Record] = ()) -> str:
    """A sentence or two about a wrong public example, or "". `examples` are all public examples of the same function."""
    step = example.step
    if not _returned(example):
        return ""
    others = [one for one in examples if one.step is not step and _returned(one)]
    wrong = [example, *(one for one in others if one.fault is not None)]
    right = [one for one in others if one.fault is None]
    said = _other_arguments(wrong) or _factor(wrong)
    differs = difference(step.expected, example.reply.value, step.allowed, step.parts)
    return said or " ".join(filter(None, (differs, contrast(wrong, right))))


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
    expected, actual, allowed = record.step.expected, record.reply.value, record.step.allowed
    if not isinstance(expected, tuple) or not isinstance(value, tuple) or not isinstance(actual, tuple | list):
        return equal(value, actual, allowed)
    if not len(expected) == len(value) == len(actual):
        return False
    wrong = [(v, a) for e, v, a in zip(expected, value, actual, strict=True) if not equal(e, a, allowed)]
    return bool(wrong) and all(equal(v, a, allowed) for v, a in wrong)


# The same factor on several examples


def _factor(wrong: Sequence[Record]) -> str:
    """One factor on every entry of at least two examples, all that are wrong."""
    parts = len(wrong[0].step.expected) if isinstance(wrong[0].step.expected, tuple) else 1
    for part in range(parts):
        factors = [_factor_of(record, part) for record in wrong]
        numbers = [number for number in factors if number is not None]
        if len(numbers) < 2 or len(numbers) < len(wrong):
            continue
        which = f"Part [{part}]: every" if parts > 1 else "Every"
        if np.allclose(numbers, numbers[0], rtol=0, atol=UNEXPLAINED * abs(numbers[0] - 1)):
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
    return factor(np.asarray(expected), np.asarray(actual), record.step.allowed)


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
