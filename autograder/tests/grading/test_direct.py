"""Trusted code played on the same steps is observed as a student's is."""

from typing import Any

import numpy as np

from autograder.grading.call_results import compared
from autograder.grading.known_responses import play
from autograder.grading.recorder import Check, Recorder

X = np.array([1.0, 2.0])


def double(x: Any) -> Any:
    return 2 * x


def faults(wrong: Any, test: Any) -> list[str]:
    recorder = Recorder("m", {"m.double": double})
    test(Check(recorder, {"m": ("double",)}, "m"))
    call_results = compared(recorder.test_calls, play({"double": wrong}, recorder.test_calls))
    return [call_result.failure.kind if call_result.failure else "" for call_result in call_results]


def changing(x: Any) -> Any:
    x *= 2
    return x.copy()


KEPT: dict[str, Any] = {}


def remembering(x: Any) -> Any:
    return KEPT.setdefault("result", 2 * x)


def one_buffer(x: Any) -> Any:
    buffer = KEPT.setdefault("buffer", np.empty(2))
    buffer[:] = 2 * x
    return buffer


def test_what_is_right_has_no_fault() -> None:
    assert faults(double, lambda check: check.pure.new.dtype.double(X)) == ["", "", ""]


def test_changed_arguments_and_shared_memory_are_seen() -> None:
    assert faults(changing, lambda check: check.pure.double(X))[0] == "changed"
    assert faults(lambda x: x, lambda check: check.new.double(X)) == ["value"]


def test_what_is_left_over_from_an_earlier_call_is_seen() -> None:
    def test(check: Any) -> None:
        x = X.copy()
        first = check.keep.double(x)
        check.overwrite(first, 0.0)
        check.double(X)

    KEPT.clear()
    assert faults(remembering, test) == ["", "", "value"]
    assert faults(double, test) == ["", "", ""]


def test_a_result_that_later_calls_overwrite_is_seen() -> None:
    def test(check: Any) -> None:
        first = check.keep.double(X.copy())
        check.double(3 * X)
        check.stays(first)

    KEPT.clear()
    assert faults(one_buffer, test) == ["", "", "overwritten"]


def test_an_error_is_a_reply() -> None:
    def refuse(x: Any) -> Any:
        raise KeyError("x")

    assert faults(refuse, lambda check: check.double(X)) == ["raised"]
