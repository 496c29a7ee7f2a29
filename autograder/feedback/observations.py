"""Observations about wrong values that no misconception explains.

They come from public examples only, and state only what was tried: other arguments for which every wrong result would be correct,
changes that make the call correct, and arguments that affect the wrong result but not the correct one, or the reverse.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.feedback.sentences import line
from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.probes import ProbeResult, arguments, is_unsteady, moved, part
from autograder.grading.thresholds import FEW
from autograder.homework import other_arguments
from autograder.values.compare import equal
from autograder.values.differences import IN_ORDER, UNSTEADY, difference


def observe(example: CallResult, examples: Sequence[CallResult] = (), outcomes: Sequence[ProbeResult] = ()) -> str:
    """A few sentences about a failing public example that are also true of its probes and of the other failing `examples`."""
    if example.test_call.rules.error or example.response.ended is not None:
        return ""
    if is_unsteady(outcomes):
        return UNSTEADY
    if not _returned(example):
        return _right_with(outcomes)
    wrong = [example, *(r for r in examples if r.test_call is not example.test_call and r.failed and _returned(r))]
    made_up = [outcome.call_result for outcome in outcomes if outcome.call_result.failed]
    if text := _other_arguments([*wrong, *made_up]):
        return text
    differs = differs_by(example)
    if differs.startswith(IN_ORDER):
        return differs
    if "transpose" in differs and not all(differs_by(r) == differs for r in made_up):
        differs = ""
    return " ".join(filter(None, (differs, dependence(outcomes), _right_with(outcomes))))


def differs_by(example: CallResult) -> str:
    """How the result of a public example differs; "" without a result."""
    call, value = example.test_call, example.response.value
    return difference(call.expected, value, call.allowed, call.parts) if _returned(example) else ""


def _right_with(outcomes: Sequence[ProbeResult]) -> str:
    """A sentence on the changes to the call that make its result correct."""
    right = dict.fromkeys(one.probe.change for one in outcomes if one.probe.change and not one.call_result.failed)
    return line("right_with", list(right)[:FEW]) if right else ""


def _returned(call_result: CallResult) -> bool:
    return call_result.returned and not call_result.test_call.rules.error


# Results that are correct for other arguments


def _other_arguments(wrong: Sequence[CallResult]) -> str:
    """A sentence on other arguments for which every one of these results would be correct, if its call can have them."""
    for sentence in others(wrong[0].test_call):
        values = [(call_result, others(call_result.test_call).get(sentence)) for call_result in wrong]
        if all(_returned(r) and _mixed(r, value) for r, value in values if value is not None):
            return sentence
    return ""


@lru_cache(maxsize=1024)
def others(test_call: TestCall) -> dict[str, Any]:
    """The reference's results for other arguments, each with the sentence for code that returns it."""
    given = arguments(test_call)
    found = other_arguments.others(test_call.reference, given, test_call.expected, test_call.allowed)
    return {line(macro, words): value for macro, words, value in found}


def _mixed(call_result: CallResult, value: Any) -> bool:
    """Whether a result equals `value`, apart from the correct parts of a tuple."""
    test_call, actual = call_result.test_call, call_result.response.value
    expected, allowed = test_call.expected, test_call.allowed
    if not isinstance(expected, tuple) or not isinstance(value, tuple) or not isinstance(actual, tuple | list):
        return equal(value, actual, allowed)
    if not len(expected) == len(value) == len(actual):
        return False
    wrong = [(v, a) for e, v, a in zip(expected, value, actual, strict=True) if not equal(e, a, allowed)]
    return bool(wrong) and all(equal(v, a, allowed) for v, a in wrong)


# Arguments that affect only one of the two results, such as an unused one, or rows that should not affect other rows


def dependence(outcomes: Sequence[ProbeResult]) -> str:
    """A sentence for each of a few moved arguments, about the whole argument or else about rows; "" if there is none."""
    facts = [fact for outcome in outcomes if outcome.probe.moved for fact in _facts(outcomes[0], outcome)]
    coarsest = min((level for level, _, _ in facts), default=0)
    of_argument: dict[str, str] = {}
    for level, argument, sentence in facts:
        if level == coarsest:
            of_argument.setdefault(argument, sentence)
    return " ".join(list(of_argument.values())[:FEW])


def _facts(base: ProbeResult, move: ProbeResult) -> Iterator[tuple[int, str, str]]:
    """What moves in only one of the two results: 0 for a whole argument, 1 for a row of it, 2 for a row of both."""
    before, after, argument, row = base.call_result, move.call_result, move.probe.moved, move.probe.row
    names = [f"`{name}`" for name in before.test_call.parts] or ["result"]
    words = argument if row is None else f"row {row} of {argument}"
    for number, name in enumerate(names):
        right = moved(*(part(call_result.test_call.expected, number, names) for call_result in (before, after)))
        yours = moved(*(part(call_result.response.value, number, names) for call_result in (before, after)))
        if right is None or yours is None or right.shape != yours.shape:
            continue
        for first, second, only_yours in ((yours, right, True), (right, yours, False)):
            if (first == 1).any() and (second == 0).all():
                yield int(row is not None), argument, line("depends", words, f"your {name}", only_yours)
            elif row is not None and right.ndim == 2:
                rows = np.flatnonzero((first == 1).any(axis=1) & (second == 0).all(axis=1))
                yield from ((2, argument, line("depends", words, f"row {n} of your {name}", only_yours)) for n in rows)
