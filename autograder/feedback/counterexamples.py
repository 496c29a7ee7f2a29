"""A counterexample for a student: a call to paste into Python, both results, and what is known about the difference.

Observations on wrong values that no misconception explains come from public examples only, and state only what was tried: other
arguments for which every wrong result would be correct, changes that make the call correct, and arguments that affect the
wrong result but not the correct one, or the reverse.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.feedback.sentences import line
from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.examples import Probe, ProbeResult, is_unsteady, moved, tuple_part
from autograder.grading.thresholds import FEW
from autograder.homework import other_arguments
from autograder.homework.other_arguments import is_telling
from autograder.homework.rubric import Rubric
from autograder.shared.compare import equal, magnitude
from autograder.shared.differences import difference, reordered
from autograder.shared.display import display, function_source, literal, pair
from autograder.submissions.text import cleaned_code

LONGEST = 3000  # characters of a result


def lines(call_result: CallResult, rubric: Rubric, yours: str = "yours:", imports: bool = True) -> str:
    """Return the call, the expected result and the actual one, as lines of Python; "" for `yours` leaves the actual one out."""
    labels = [label for label in ("expected:", yours) if label]
    width = max(map(len, labels)) + 3
    results = []
    for label, text in zip(labels, _results(call_result, rubric), strict=False):
        rows = [row for row in text.split("\n") if row.strip()]
        results.append(f"# {label}".ljust(width) + f"\n#{' ' * (width - 1)}".join(rows))
    target = call_result.target
    call = "\n".join(_call(call_result))
    numpy = ["import numpy as np"] if re.search(r"\bnp\.", call) else []
    head = [*numpy, f"from {target.module} import {target.function}", ""] if imports else []
    return "\n".join([*head, call, *results])


def _call(call_result: CallResult) -> Iterator[str]:
    """Yield the call as lines of Python, its larger arguments by name."""
    test_call = call_result.test_call
    arguments = []
    for name, value in zip(test_call.names, (*test_call.args, *test_call.kwargs.values()), strict=True):
        prefix = f"{name}=" if name in test_call.kwargs else ""
        if callable(value):
            lambda_ = value.__name__ == "<lambda>"
            yield f"{name} = {function_source(value)}" if lambda_ else function_source(value)
            arguments.append(prefix + (name if lambda_ else value.__name__))
        elif isinstance(value, np.ndarray | dict | list):
            yield f"{name} = {literal(value)}"
            arguments.append(prefix + name)
        else:
            arguments.append(prefix + literal(value))
    yield f"{test_call.target.function}({', '.join(arguments)})"


def _results(call_result: CallResult, rubric: Rubric) -> tuple[str, str]:
    """Return the expected and the actual result, as text."""
    test_call, response = call_result.test_call, call_result.response
    error, value = test_call.rules.error, response.value
    expected = (
        f"{error}, because the docstring does not allow these arguments" if error else display(test_call.expected)
    )
    if response.ended is not None:
        came_back = line("ended", response.ended, rubric=rubric)
    elif response.error is not None and response.error.hint == "missing":
        came_back = line("failure", call_result, rubric=rubric)
    elif (raised := response.error) is not None:
        text = cleaned_code(raised.text.partition("\n")[0])
        location = f"  (line {raised.line} of {cleaned_code(raised.file)})" if raised.line else ""
        came_back = f"{raised.kind}{': ' if text else ''}{text}{location}"
    elif error:
        came_back = display(value)
    else:
        expected, came_back = pair(test_call.expected, value)
    return expected, came_back if len(came_back) <= LONGEST else came_back[:LONGEST] + " ..."


# Observations


def observe(example: CallResult, examples: Sequence[CallResult] = (), outcomes: Sequence[ProbeResult] = ()) -> str:
    """Return a few sentences about a failing public example.

    They are also true of its probes and of the other failing `examples`.
    """
    if example.test_call.rules.error or example.response.ended is not None or is_unsteady(outcomes):
        return ""
    if not _returned(example):
        return _right_with(outcomes)
    failing = [example, *(r for r in examples if r.test_call is not example.test_call and r.failed and _returned(r))]
    made_up = [call_result for _, call_result in outcomes if call_result.failed]
    if text := _other_arguments([*failing, *made_up]):
        return text
    test_call, value = example.test_call, example.response.value
    differs = difference(test_call.expected, value, test_call.allowed, test_call.parts)
    if reordered(test_call.expected, value, test_call.allowed):
        return differs
    # The entries that a transposed array of the same shape has wrong say nothing about other calls.
    if made_up and isinstance(value, np.ndarray) and value.ndim > 1:
        is_transposed = equal(test_call.expected, np.swapaxes(value, -1, -2), test_call.allowed)
        differs = "" if is_transposed and value.shape == test_call.expected.shape else differs
    return " ".join(filter(None, (differs, dependence(outcomes), _right_with(outcomes))))


def _right_with(outcomes: Sequence[ProbeResult]) -> str:
    """Return a sentence on the changes to the call that make its result correct."""
    passing = [probe for probe, call_result in outcomes if probe.change and not call_result.failed]
    changes = dict.fromkeys(probe.change for probe in passing if is_telling(probe.test_call.expected))
    return line("right_with", list(changes)[:FEW]) if changes else ""


def _returned(call_result: CallResult) -> bool:
    return call_result.returned and not call_result.test_call.rules.error


# Results that are correct for other arguments


def _other_arguments(results: Sequence[CallResult]) -> str:
    """Return a sentence on other arguments for which every one of these results would be correct, if its call can have them."""
    for sentence in other_results(results[0].test_call):
        values = [(call_result, other_results(call_result.test_call).get(sentence)) for call_result in results]
        if all(
            _returned(r) and equal(value, r.response.value, r.test_call.allowed)
            for r, value in values
            if value is not None
        ):
            return sentence
    return ""


@lru_cache(maxsize=1024)
def other_results(test_call: TestCall) -> dict[str, Any]:
    """Return the reference's results for other arguments, each with the sentence for code that returns it."""
    arguments = test_call.arguments
    results = other_arguments.results_by_change(test_call.reference, arguments, test_call.expected, test_call.allowed)
    return {line("right_for", words): value for words, value in results}


# Arguments that affect only one of the two results, such as an unused one, or rows that should not affect other rows


def dependence(outcomes: Sequence[ProbeResult]) -> str:
    """Return a sentence for each of a few moved arguments, about whole arguments or else about rows; "" if there is none."""
    for of_rows in (False, True):
        of_argument: dict[str, str] = {}
        for probe, result in outcomes:
            if probe.moved and (probe.row is not None) is of_rows:
                for sentence in _facts(outcomes[0][1], probe, result):
                    of_argument.setdefault(probe.moved, sentence)
        if of_argument:
            return " ".join(list(of_argument.values())[:FEW])
    return ""


def _facts(before: CallResult, probe: Probe, after: CallResult) -> Iterator[str]:
    """Yield sentences on moved arguments, if the expected result moves with them and the student's does not, or the reverse.

    After a whole argument is moved, the whole results are compared; after one row of it, this row of the results.
    """
    argument, row = probe.moved, probe.row
    names = [f"`{name}`" for name in before.test_call.parts] or ["result"]
    for number, name in enumerate(names):
        first, second = (tuple_part(call_result.test_call.expected, number, names) for call_result in (before, after))
        correct = moved(first, second)
        if correct is None:
            continue
        scale = magnitude(np.asarray(first))
        first, second = (tuple_part(call_result.response.value, number, names) for call_result in (before, after))
        yours = moved(first, second, scale)
        if yours is None or correct.shape != yours.shape:
            continue
        for moving, still, only_yours in ((yours, correct, True), (correct, yours, False)):
            if row is None and (moving == 1).any() and (still == 0).all():
                yield line("depends", argument, f"your {name}", only_yours)
            elif row is not None and correct.ndim == 2:
                for n in np.flatnonzero((moving == 1).any(axis=1) & (still == 0).all(axis=1)):
                    yield line("depends", f"row {row} of {argument}", f"row {n} of your {name}", only_yours)
