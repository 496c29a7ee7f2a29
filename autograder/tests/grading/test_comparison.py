"""Comparing responses with test calls: each kind of failure is recognised."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.grading.call_results import CallResult, Rules, Target, TestCall, alike, compared
from autograder.sandbox.protocol import Call, Ended, Error, Response
from autograder.sandbox.wire import Handle
from autograder.shared.changes import Change

X = np.array([1.0, 2.0])
TARGET = Target("m", "f")
CALL, KEPT = Call("m", "f"), Handle(1, ("result",))


def call(number: int = 1, expected: Any = X, allowed: float = 1e-8, **rules: Any) -> TestCall:
    return TestCall(number, TARGET, CALL, expected=expected, allowed=allowed, rules=Rules(**rules))


def pair(*counted: str) -> TestCall:
    """A call that returns mean and var, of which only the `counted` ones are compared."""
    return replace(call(expected=(X, 2 * X), dtype=True, parts=counted), parts=("mean", "var"))


def raised(kind: str, hint: str = "") -> Response:
    return Response(error=Error((kind,), "", "", 0, hint))


def failure(call_result: CallResult) -> str:
    return call_result.failure.kind if call_result.failure else ""


CASES: list[tuple[str, TestCall, Response]] = [
    ("", call(), Response(X)),
    ("", call(), Response(X + 1e-12)),
    ("value", call(), Response(X + 1)),
    ("type", call(), Response([1.0, 2.0])),
    ("", call(expected=(X, X)), Response([X, X])),
    ("", call(), Response(X.astype("float32"))),
    ("", pair("var"), Response((X.astype("float32"), 2 * X))),
    ("", pair("mean"), Response([X, None])),
    ("", pair("mean", "var"), Response((X, 2 * X))),
    ("value", pair("mean"), Response((X + 1, 2 * X))),
    ("type", pair("var"), Response((X, None))),
    ("value", pair("mean", "var"), Response((X + 1, 2 * X))),
    ("length", pair("mean"), Response((X,))),
    ("dtype", call(dtype=True), Response(X.astype("float32"))),
    ("changed", call(pure=True), Response(X, changed=(Change(0, (), "entry written"),))),
    ("shared", call(new=True), Response(X, shared=True)),
    ("raised", call(), raised("KeyError")),
    ("ended", call(), Response(ended=Ended("deadline"))),
    ("", call(error="ValueError"), raised("ValueError")),
    ("raised", call(error="ValueError"), raised("TypeError")),
    ("raised", call(error="ValueError"), raised("ValueError", "signature")),
    ("no_error", call(error="ValueError"), Response(X)),
    ("", call(expected="B", question="q1"), Response({"q1": " b "})),
    ("value", call(expected="B", question="q1"), Response({"q1": "A"})),
]


@pytest.mark.parametrize(("expected", "test_call", "response"), CASES)
def test_response_has_the_expected_failure(expected: str, test_call: TestCall, response: Response) -> None:
    assert failure(compared([test_call], [response])[0]) == expected


@pytest.mark.parametrize(("differs_by", "same"), [(5e-17, True), (1e-9, False)])
def test_large_wrong_values_are_alike_up_to_rounding_if_the_expected_ones_are_tiny(
    differs_by: float, same: bool
) -> None:
    tiny = call(expected=np.array([1e-14]), allowed=1e-22)
    first, second = (Response(np.array([0.47 + more])) for more in (0.0, differs_by))
    assert alike(tiny, first, second) == same
    assert not alike(tiny, Response(np.array([1e-14])), Response(np.array([1.001e-14])))
