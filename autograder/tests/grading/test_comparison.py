"""Comparing responses with test calls: each kind of failure is recognised."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.grading.call_results import (
    CallResult,
    Rules,
    Target,
    TestCall,
    alike,
    alike_in_rounding,
    compared,
    distance,
    explained,
    repeats,
    wrong_alike,
)
from autograder.grading.examples import moved, tuple_part
from autograder.grading.runner.processes import Direct
from autograder.sandbox.protocol import Call, Ended, Error, Look, Response
from autograder.sandbox.wire import Handle
from autograder.shared.changes import Change
from autograder.shared.compare import equal
from autograder.shared.tree import Opaque

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


TINY = call(expected=np.array([1e-14]), allowed=1e-22)
STATED, BOTH = call(error="ValueError"), pair("mean", "var")
BOOLEANS = call(expected=X > 1)
END, FOUR, NAN = Response(ended=Ended("deadline")), Response(np.array([0.47])), Response(X * np.nan)
ONE, TWO, OPAQUE = Response(X + 1), Response(X + 2), Response([X, Opaque("a function")])

# Whether two responses to a call have one cause, and how much of a response a known one explains
ALIKE: list[tuple[TestCall, Response, Response, bool, float]] = [
    (call(), ONE, ONE, True, 1),
    (call(), ONE, Response(X + 1 + 1e-12), True, 1),
    (call(), ONE, TWO, False, 0.25),  # twice as close to it as to the correct value
    (call(), TWO, ONE, False, 0),
    (call(), Response(X + 4), Response(X + 3), False, 1 / 3),
    (call(), ONE, Response(X[:1] + 1), False, 0),
    (call(), Response("a"), ONE, False, 0),
    (call(), Response([1.0]), Response([2.0]), True, 1),  # a list of length 1
    (call(), Response([1.0]), Response((2.0,)), False, 0),
    (call(), NAN, ONE, False, 0),
    (call(), ONE, END, False, 0),
    (call(), Response(None), END, False, 0),
    (call(), raised("KeyError"), ONE, False, 0),
    (call(), raised("KeyError"), raised("KeyError"), True, 1),
    (call(), raised("KeyError"), raised("ValueError"), False, 0),
    (call(), raised("IndexError"), raised("ValueError"), True, 1),
    (STATED, raised("IndexError"), raised("ValueError"), False, 0),
    (STATED, raised("TypeError"), ONE, False, 0),
    (STATED, ONE, TWO, True, 1),
    (STATED, Response(None), TWO, False, 0),
    (call(), NAN, raised("ZeroDivisionError"), True, 1),
    (call(), raised("OverflowError"), NAN, True, 1),
    (call(), NAN, raised("ValueError"), False, 0),
    (call(), ONE, raised("ZeroDivisionError"), False, 0),
    (BOOLEANS, Response(X), Response(X + 1), True, 1),  # any numbers
    (BOOLEANS, Response(X > 1), Response(X + 1), False, 0.0),
    (BOTH, Response((X + 1, 2 * X)), Response((X + 1, 2 * X + 1)), False, 0.25),
    (pair("mean"), Response((X + 1, 2 * X)), Response((X + 1, 2 * X + 1)), True, 1),
    (replace(call(), call=Look(KEPT), about=1), ONE, TWO, True, 1),
    # Up to rounding, if the expected values are tiny
    (TINY, FOUR, Response(FOUR.value + 5e-17), True, 1),
    (TINY, FOUR, Response(FOUR.value + 1e-9), False, 0.5),
    (TINY, Response(np.array([1e-14])), Response(np.array([1.001e-14])), False, 0),
]  # fmt: skip


@pytest.mark.parametrize(("test_call", "first", "second", "same", "share"), ALIKE)
def test_responses_with_one_cause(
    test_call: TestCall, first: Response, second: Response, same: bool, share: float
) -> None:
    assert alike(test_call, first, second) == same
    assert explained(test_call, first, second) == pytest.approx(share, abs=1e-8)


@pytest.mark.parametrize(("first", "second", "same"), [
    (None, ONE, True), (ONE, Response(X + 1), True), (ONE, TWO, False), (OPAQUE, ONE, True), (ONE, OPAQUE, True),
    (END, ONE, True), (ONE, END, True), (raised("KeyError"), raised("ValueError"), True),
    (raised("KeyError"), ONE, False), (ONE, raised("KeyError"), False),
])  # fmt: skip
def test_repeated_call_repeats_its_response(first: Response | None, second: Response, same: bool) -> None:
    assert repeats(second, first) == same


@pytest.mark.parametrize(("value", "same"), [
    (X, False), (X + 0.9e-8, False), (X + 1.1e-8, True), (X + 0.9e-4, True), (X + 1.1e-4, False), (X * np.nan, True),
    (X[:1], False), ([1.0, 2.0], False),
])  # fmt: skip
def test_rounding_errors_are_alike_within_two_orders_of_magnitude(value: Any, same: bool) -> None:
    inexact = Response(X + 1e-6)
    assert alike_in_rounding(call(), Response(X), inexact, Response(value)) == same
    assert alike_in_rounding(call(), Response(X), inexact, raised("KeyError")) is False
    assert alike_in_rounding(call(), Response(X), Response(X + 1e-9), Response(value)) == equal(X, value, 1e-8)


@pytest.mark.parametrize(("value", "away", "same"), [
    (X + 1, 0.5, None), (X + 1.005, 0.5025, True), (X + 1.05, 0.525, False), (X[:1], -1, False), (None, -1, False),
    (X * np.nan, np.inf, False),
])  # fmt: skip
def test_value_is_much_closer_to_a_wrong_one_than_to_the_correct_one(
    value: Any, away: float, same: bool | None
) -> None:
    assert distance(X, value) == pytest.approx(away)
    assert wrong_alike(X, X + 1, value, 1e-8) == (same if same is not None else True)
    assert wrong_alike(X, X + 1e-9, value, 1e-8) is None


def test_two_errors_have_no_distance() -> None:
    assert (distance(None, None), distance(None, X), distance((X, X), (X, X + 1))) == (0, -1, 0.5)


@pytest.mark.parametrize(("before", "after", "scale", "entries"), [
    (X, X + np.array([0.0, 1.0]), 0.0, [0, 1]), (X, X + np.array([1e-8, 3e-5]), 0.0, [-1, 1]),
    (X, X + np.array([1e-9, 1e-5]), 0.0, [0, -1]), (X, X + np.array([1e-7, 3e-5]), 2000.0, [0, -1]),
    (np.inf * X, np.inf * X, 0.0, [0, 0]), (1.0, 2.0, 0.0, 1), (X, X[:1], 0.0, None),
    (X, X * np.nan, 0.0, None), (X * np.nan, X, 0.0, None), (X > 1, X, 0.0, None), (X, None, 0.0, None), (1, 2, 0.0, None),
])  # fmt: skip
def test_entries_that_moved(before: Any, after: Any, scale: float, entries: Any) -> None:
    found = moved(before, after, scale)
    assert entries is found is None or (found is not None and found.tolist() == entries)


@pytest.mark.parametrize(("value", "number", "names", "part"), [
    (X, 0, ("mean",), X), ((1, 2), 1, ("mean", "var"), 2), ([1, 2], 0, ("mean", "var"), 1), ((1,), 0, ("mean", "var"), None),
    (None, 0, ("mean", "var"), None),
])  # fmt: skip
def test_part_of_a_tuple(value: Any, number: int, names: tuple[str, ...], part: Any) -> None:
    assert tuple_part(value, number, names) is part


def test_keyboard_interrupt_in_trusted_code_is_not_a_response() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Direct({"f": interrupted}).run([CALL])
