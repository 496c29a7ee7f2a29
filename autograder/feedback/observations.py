"""What can be said about wrong values without guessing, where no known mistake explains them.

Made from public examples only: the words are ours, the figures are the student's own. What holds on every wrong example of the
function comes first; what does not help to find a line is not said.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.feedback.dependence import dependence
from autograder.feedback.other_arguments import others, right_for
from autograder.grading.experiments import Tried, is_unsteady
from autograder.grading.record import Record
from autograder.grading.thresholds import MOST_CHANGES
from autograder.values.compare import equal
from autograder.values.differences import IN_ORDER, UNEXPLAINED, UNSTEADY, difference, factor

EVERY = 12  # of so many trials one is held against what is said of all, and each of the first


def observe(example: Record, examples: Sequence[Record] = (), tried: Sequence[Tried] = ()) -> str:
    """A few sentences about a wrong public example, or "". `examples` are all public examples of the same function.

    `tried` are the trials of the example; what is said of all calls must hold of those that are wrong.
    """
    step = example.step
    if step.rules.error or example.reply.ended is not None:
        return ""
    if is_unsteady(tried):
        return UNSTEADY
    if not _returned(example):
        return _right_with(tried)
    others = [one for one in examples if one.step is not step and _returned(one)]
    wrong = [example, *(one for one in others if one.fault is not None)]
    made_up = [one.record for one in (*tried[1:EVERY], *tried[EVERY::EVERY]) if one.record.fault is not None]
    said = _other_arguments(wrong, made_up) or _factor(wrong)
    differs = said or differs_by(example)
    if said or differs.startswith(IN_ORDER):
        return differs
    if "transpose" in differs and not all(_differs_so(record, differs) for record in made_up):
        differs = ""
    return " ".join(filter(None, (differs, dependence(tried), _right_with(tried))))


def differs_by(example: Record) -> str:
    """How the values of a public example differ; "" where it returned none."""
    step = example.step
    return difference(step.expected, example.reply.value, step.allowed, step.parts) if _returned(example) else ""


def _differs_so(record: Record, said: str) -> bool:
    return _returned(record) and difference(record.step.expected, record.reply.value, record.step.allowed) == said


def _right_with(tried: Sequence[Tried]) -> str:
    """What can be another in the call so that its result is right."""
    words = dict.fromkeys(one.trial.change for one in tried[1:] if one.trial.change and one.record.fault is None)
    return f"The same call is right with {', and with '.join(list(words)[:MOST_CHANGES])}." if words else ""


def _returned(record: Record) -> bool:
    return record.reply.error is None and record.reply.ended is None and not record.step.rules.error


# Right for other arguments


def _other_arguments(wrong: Sequence[Record], made_up: Sequence[Record]) -> str:
    """What the first result would be right for, if each other wrong one would be so too, or cannot tell.

    Of those that are made up each must be right for it.
    """
    for other in others(wrong[0].step):
        if (
            _mixed(wrong[0], other.value)
            and all(_agrees(record, other.sentence) for record in wrong[1:])
            and all(_returned(r) and _mixed(r, right_for(r.step, other.sentence)) for r in made_up)
        ):
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
    names = wrong[0].step.parts
    for part in range(len(names) or 1):
        factors = [_factor_of(record, part) for record in wrong]
        numbers = [number for number in factors if number is not None]
        if len(numbers) < 2 or len(numbers) < len(wrong):
            continue
        which = f"`{names[part]}`: every" if names else "Every"
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
