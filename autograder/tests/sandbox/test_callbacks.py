"""Callback arguments: those that need only NumPy are sent as code, all others are called in the grader."""

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
import pytest

from autograder.sandbox import callbacks, wire
from autograder.sandbox.callbacks import answered, packed, unpacked
from autograder.sandbox.messages import prepared
from autograder.tests.running import LIMITS, TIGHT, opened, replied, responses

MASK = np.tri(2)
X = np.array([[1.0, 2.0], [3.0, -1.0]])


def with_inner(x: Any) -> Any:
    """Needs only NumPy, also in its inner function."""
    return sum((lambda row: np.abs(row) + len(x))(row) for row in x)


def analysis(x: Any) -> Any:
    return MASK @ x


def calling(x: Any) -> Any:
    return [with_inner(row) for row in x]


def with_variable() -> Callable[..., Any]:
    mask = np.tri(2)
    return lambda x: mask @ x


@pytest.mark.parametrize(
    "function", [lambda x: np.cumsum(x, axis=0), lambda x: x - x.max(axis=0), lambda x: x[:, 1:] + x[0, 0], with_inner]
)
def test_function_that_needs_only_numpy_is_sent_as_code(function: Callable[..., Any]) -> None:
    code = packed(function)
    assert np.array_equal(unpacked(code)(X), function(X))
    unpacked(code).__globals__["np"] = None  # a changed global does not persist
    assert np.array_equal(unpacked(code)(X), function(X))
    assert not any(word in code for word in (b"with_inner", b"test_callbacks", b"autograder"))


def test_equal_code_has_equal_bytes() -> None:
    first, second = (eval("lambda x: x + len((7.5, 2.25))") for _ in range(2))
    references = [list(part) for part in first.__code__.co_consts if isinstance(part, tuple)]  # marshal counts them
    assert references and packed(first) == packed(second)


@pytest.mark.parametrize(
    "function",
    [
        analysis, calling, with_variable(), lambda x, mask=MASK: mask @ x, lambda x, *, mask=None: x, lambda x: numpy.abs(x),
        np.abs, len, functools.partial(with_inner), types.SimpleNamespace(__call__=len),
    ],
)  # fmt: skip
def test_other_functions_stay_in_the_grader(function: Any) -> None:
    assert packed(function) == b""


def test_callbacks_with_data_run_in_the_grader_and_others_in_the_students_process() -> None:
    called: list[Any] = []

    def noted(x: Any) -> Any:
        called.append(x)
        return MASK @ x

    assert replied("def f(g, x): return g(x)", noted, X).value.tolist() == (MASK @ X).tolist()
    assert replied("def f(g, x): return g(x)", lambda x: 3 * x, X).value.tolist() == (3 * X).tolist()
    assert len(called) == 1 and prepared("m", "f", [lambda x: 3 * x]).callbacks == {}


KEEPING = """
import threading
def f(g, x):
    global last
    last = g
    return g(x)
def late(x): return last(x)
def threads(g, x):
    found = []
    running = [threading.Thread(target=lambda n=n: found.append(float(g(x + n)[0, 0]))) for n in range(20)]
    [t.start() for t in running], [t.join() for t in running]
    return sorted(found)
def loop(g, x):
    while True: g(x)
def often(g, x, n):
    for _ in range(n): x = g(x)
    return x
"""


def test_callback_cannot_be_used_after_its_call() -> None:
    first, late = responses(KEEPING, ("f", with_variable(), X), ("late", X))
    assert first.error is None
    assert late.error is not None and late.error.text == "this function was used after the call that it belonged to"
    answer = wire.decode(answered(wire.encode(["callback", 2, [X]]), {1: analysis}, 1000))
    assert answer[:2] == ["refused", "ValueError"]


def test_threads_can_use_a_callback() -> None:
    assert responses(KEEPING, ("threads", analysis, X))[0].value == [float(n) for n in range(1, 21)]


def failing(x: Any) -> Any:
    raise LookupError(str(MASK))


def too_large(x: Any) -> Any:
    return np.resize(MASK, 2**20)


@pytest.mark.parametrize(
    ("function", "argument", "kind", "text"),
    [
        (analysis, np.ones(3), "ValueError", "does not allow"),
        (analysis, "text", "TypeError", "does not allow"),
        (failing, X, "TypeError", "does not allow"),
        (too_large, X, "ValueError", "result is larger"),
        (analysis, np.ones((2, callbacks.MAX_ENTRIES)), "ValueError", "arguments are larger"),
    ],
)
def test_errors_are_raised_in_the_students_code(function: Any, argument: Any, kind: str, text: str) -> None:
    error = replied("def f(g, x): return g(x)", function, argument).error
    assert error is not None and error.kind == kind and text in error.text
    assert (error.file, error.line) == ("m.py", 1)


@pytest.mark.parametrize("message", [["callback"], ["callback", "1", []], ["callback", 1, "x"], ["other", 1, []], 5])
def test_malformed_callbacks_are_rejected(message: Any) -> None:
    with pytest.raises(wire.WireError):
        answered(wire.encode(message), {1: analysis}, 1000)


@pytest.mark.slow
def test_callbacks_are_limited_in_number_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(KEEPING, TIGHT) as (sandbox, process):
        process.load(["m"])
        ended = process.run([prepared("m", "loop", [analysis, X])])[0].ended
        assert ended is not None and ended.why == "deadline" and sandbox.processor_seconds > 0
    assert responses(KEEPING, ("often", analysis, X * 0, 20_000))[0].ended is None  # as many as the contract allows
    monkeypatch.setattr(callbacks, "MAX_CALLS", 10)
    *right, last = responses(KEEPING, *(("often", analysis, X, number) for number in (10, 10, 11)))
    assert [response.ended for response in right] == [None, None]
    assert last.ended is not None and last.ended.why == "deadline"


def test_the_cost_of_callbacks_does_not_end_their_call() -> None:
    limits = LIMITS.model_copy(update={"call_seconds": 0.3, "wall_factor": 99})
    assert responses(KEEPING, ("often", analysis, X, 1000), limits=limits)[0].value is not None
