"""What can be said about wrong values without guessing, where no known mistake explains them.

Made from public examples only: the words are ours, the figures are the student's own. What holds on every wrong example of the
function comes first; what does not help to find a line is not said.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.feedback.other_arguments import others
from autograder.feedback.sentences import parts
from autograder.grading.record import Record
from autograder.values.compare import equal
from autograder.values.differences import UNEXPLAINED, difference, factor


def observe(example: Record, examples: Sequence[Record] = ()) -> str:
    """A sentence or two about a wrong public example, or "". `examples` are all public examples of the same function."""
    step = example.step
    if not _returned(example):
        return ""
    others = [one for one in examples if one.step is not step and _returned(one)]
    wrong = [example, *(one for one in others if one.fault is not None)]
    said = _other_arguments(wrong) or _factor(wrong)
    return said or difference(step.expected, example.reply.value, step.allowed, parts(step))


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
    names = parts(wrong[0].step)
    for part in range(len(names) or 1):
        factors = [_factor_of(record, part) for record in wrong]
        numbers = [number for number in factors if number is not None]
        if len(numbers) < 2 or len(numbers) < len(wrong):
            continue
        which = f"{names[part]}: every" if names else "Every"
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
