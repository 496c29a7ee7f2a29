"""The responses of known versions of a function to the test calls, computed once and shared by all submissions.

A call is made when its response is first needed, after the calls whose objects it takes. A version that keeps state
between calls makes all calls of the process, in order. No student code runs here.
"""

import hashlib
import pickle
import warnings
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, TestCall, with_needed
from autograder.grading.plan import Plan
from autograder.grading.runner.processes import Direct
from autograder.grading.thresholds import SAME, SAME_ROUNDING
from autograder.homework.library import Misconception, Version
from autograder.sandbox.protocol import Error, Response
from autograder.shared.compare import compare, deviation, equal
from autograder.shared.tree import arrays, leaves


class KnownResponses:
    """The responses of every version of one function, with helpers that have certain misconceptions.

    Equal responses are one object, which saves memory and comparisons.
    """

    def __init__(self, plan: Plan, module: str, function: str, helpers: Mapping[str, tuple[Misconception, ...]]):
        """`helpers` have these misconceptions."""
        homework = plan.homework
        self.homework, self.module, self.function = homework, module, function
        self.misconceptions = tuple(dict.fromkeys(chain(*helpers.values())))
        versions = ((name, homework.version(module, name, misconceptions)) for name, misconceptions in helpers.items())
        self.helpers = {name: version for name, version in versions if version is not None}
        # Whether the helpers keep state between calls, so that each version runs on every call.
        self.keeps = any(helper.memory for helper in self.helpers.values())
        pairs = [
            (t, process)
            for process in reversed(plan.in_order(module))
            for t in process
            if t.target.function == function
        ]
        self.test_calls = {test_call.number: test_call for test_call, _ in pairs}
        # The calls of the first process that makes a call, and those of them that the call needs.
        self._process = {test_call.number: process for test_call, process in pairs}
        self._needed = {number: with_needed(self._process[number], [t]) for number, t in self.test_calls.items()}
        self.by_version: dict[tuple[Misconception, ...], dict[int, Response]] = {}
        self._distinct: dict[tuple[int, bytes], Response] = {}
        self._number_alike: dict[tuple[tuple[Misconception, ...], int], int] = {}

    def version(self, misconceptions: tuple[Misconception, ...]) -> Version | None:
        return self.homework.version(self.module, self.function, misconceptions)

    def response(self, version: Version, number: int) -> Response:
        """Return the response of a version to a call."""
        responses = self.by_version.setdefault(version.misconceptions, {})
        if number not in responses:
            process = self._process[number]
            needed: Sequence[TestCall] = self._needed[number]
            if (
                version.memory or self.keeps
            ):  # the order of all calls of the process matters, also through other functions
                needed, functions = process, version.whole_module(self.helpers)
            else:
                functions = {t.target.function: self.homework.functions[t.target.function] for t in needed}
                functions[self.function] = version.fresh(self.helpers)
            with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                answers = Direct(functions).run(t.call for t in needed)
            for test_call, response in zip(needed, answers, strict=True):
                if self._process.get(test_call.number) is process:
                    error = (response.error.kinds, response.error.text) if response.error is not None else None
                    content = pickle.dumps((response.value, response.changed, response.shared, error))
                    key = (test_call.number, hashlib.sha256(content).digest())
                    responses[test_call.number] = self._distinct.setdefault(key, response)
        return responses[number]

    def differ(self, first: Version, second: Version, number: int) -> bool:
        """Whether the responses of two versions to a call differ, in value."""
        responses = self.response(first, number), self.response(second, number)
        return responses[0] is not responses[1] and not alike(self.test_calls[number], *responses)

    def number_alike(self, version: Version, number: int) -> int:
        """Return how many misconceptions alone give a version's response to a call: few if the call is typical of it."""
        key = version.misconceptions, number
        if key not in self._number_alike:
            every = self.homework.of_function(self.module, self.function)
            singles = (self.version((misconception,)) for misconception in every if not misconception.memory)
            self._number_alike[key] = sum(s is not None and not self.differ(version, s, number) for s in singles)
        return self._number_alike[key]


def alike(test_call: TestCall, first: Response, second: Response) -> bool:
    """Whether two responses to a call have the same value: an error of the same kind, or values within the tolerance."""
    if first.ended is not None or second.ended is not None:
        return False
    if test_call.kind != "call":
        return True
    if first.error is not None and second.error is not None:
        return first.error.kind == second.error.kind
    if error := first.error or second.error:
        return not test_call.rules.error and _breaks_down(error, (first.value, second.value))
    if test_call.rules.error:
        # If an error is expected, all returned values are equivalent, except None, which is a missing return.
        return (first.value is None) == (second.value is None)
    of_type = _of_another_type(test_call, first)
    if of_type:
        return of_type == _of_another_type(test_call, second)  # any numbers in place of booleans are equivalent
    return equal(test_call.counted(first.value), test_call.counted(second.value), _allowed(test_call, first.value))


def _breaks_down(error: Error, value: Any) -> bool:
    """Whether Python's own numbers raise this error where NumPy returns the nan or infinity in the value."""
    numbers = [np.asarray(leaf) for leaf in leaves(value)]
    is_finite = all(np.isfinite(array).all() for array in numbers if array.dtype.kind == "f")
    arithmetic = error.kind in ("ZeroDivisionError", "OverflowError") or error.text == "math domain error"
    return arithmetic and not is_finite


def explained(test_call: TestCall, version: Response, response: Response) -> float:
    """How much of a failing response a version explains: 1.0 for all, at most 0.5 if it is only closer."""
    if alike(test_call, version, response):
        return 1.0
    if version.error is not None or response.error is not None or response.ended is not None or test_call.rules.error:
        return 0.0
    values = test_call.expected, test_call.counted(version.value), test_call.counted(response.value)
    parts = [[np.asarray(leaf) for leaf in group] for group in zip(*map(leaves, values), strict=False)]
    explained = 0.0
    for correct, predicted, actual in parts:
        numbers = {correct.dtype.kind, predicted.dtype.kind, actual.dtype.kind} <= {*"biuf"}
        if numbers and correct.shape == predicted.shape == actual.shape:
            # How much closer it is to the predicted value than to the correct one, as a share of its deviation.
            before, after = deviation(actual, correct), deviation(actual, predicted)
            explained += 1 - after / before if after < before < np.inf else 0.0
    return explained / max(1, len(parts)) / 2


def _allowed(test_call: TestCall, value: Any) -> float:
    """Return the tolerance between two wrong responses: larger than the call's if that is meant for a much smaller value."""
    if not 0 < test_call.allowed < SAME:
        return test_call.allowed
    largest = max((float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in arrays(value)), default=0.0)
    return max(test_call.allowed, SAME * min(1.0, largest))


def _of_another_type(test_call: TestCall, response: Response) -> str:
    """Return the type returned instead of an array, or of an array of booleans; "" if the type is correct."""
    if not isinstance(test_call.expected, np.ndarray):
        return ""
    difference, _ = compare(test_call.expected, response.value, np.inf)
    return difference.got if difference is not None and difference.kind == "type" else ""


def alike_in_form(test_call: TestCall, first: Response, second: Response) -> bool:
    """Whether two responses have the same side effects and dtype."""
    if (set(first.changed), first.shared) != (set(second.changed), second.shared):
        return False
    if first.error is not None or second.error is not None or not test_call.rules.dtype:
        return True
    values = test_call.counted(first.value), test_call.counted(second.value)
    difference, _ = compare(*values, test_call.allowed, dtype=True)
    return difference is None or difference.kind != "dtype"


def wrong_in_value(call_result: CallResult) -> bool:
    """Whether a call fails by more than side effects and dtype."""
    if not call_result.failed or call_result.kind in ("changed", "changed_later", "shared", "overwritten"):
        return False
    expected = Response(value=call_result.test_call.expected)
    return call_result.kind != "dtype" or not alike(call_result.test_call, expected, call_result.response)


# Rounding errors, as opposed to other small errors


def alike_in_rounding(test_call: TestCall, exact: Response, inexact: Response, response: Response) -> bool:
    """Whether a response has errors of the same size as the known inexact one."""
    if inexact.error is not None or response.error is not None or test_call.kind != "call":
        return alike(test_call, inexact, response)
    correct = test_call.counted(exact.value)
    far, theirs = (distance(correct, test_call.counted(item.value)) for item in (inexact, response))
    if far <= test_call.allowed:
        return alike(test_call, exact, response)
    return far / SAME_ROUNDING <= theirs <= far * SAME_ROUNDING or theirs == np.inf


def distance(exact: Any, value: Any) -> float:
    """Return the largest deviation of a value or its parts; negative for another shape or type, infinite unless all are finite."""
    if exact is None or value is None:
        return 0.0 if exact is value else -1.0  # an error was raised
    failure, away = compare(exact, value, np.inf)
    return away if failure is None or failure.kind == "value" else -1.0


def wrong_alike(correct: Any, exact: Any, value: Any, allowed: float) -> bool | None:
    """Whether a value is much closer to the exact misconceptions' value than to the correct one; None if these have no effect."""
    apart, residual = distance(correct, exact), distance(exact, value)
    if 0 <= apart <= allowed:
        return None
    return 0 <= residual <= max(apart / SAME_ROUNDING, allowed)
