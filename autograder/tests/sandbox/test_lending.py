"""Functions that need nothing but NumPy run in the student's process; all others are asked for."""

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.lending import packed, unpacked
from autograder.sandbox.messages import prepared
from autograder.sandbox.wire import Handle
from autograder.tests.running import replied

MASK = np.tri(2)
X = np.array([[1.0, 2.0], [3.0, -1.0]])


def with_inner(x: Any) -> Any:
    """Needs nothing but NumPy, within an inner function too."""
    return sum((lambda row: np.abs(row) + len(x))(row) for row in x)


def reading(x: Any) -> Any:
    return MASK @ x


def calling(x: Any) -> Any:
    return [with_inner(row) for row in x]


def with_variable() -> Callable[..., Any]:
    mask = np.tri(2)
    return lambda x: mask @ x


@pytest.mark.parametrize("function", [lambda x: np.cumsum(x, axis=0), lambda x: x - x.max(axis=0), with_inner])
def test_a_function_of_numpy_alone_arrives_as_it_was(function: Callable[..., Any]) -> None:
    assert np.array_equal(unpacked(packed(function))(X), function(X))


def test_an_argument_that_is_returned_is_the_same_object() -> None:
    assert unpacked(packed(lambda x: x))(X) is X


@pytest.mark.parametrize(
    "function",
    [
        reading, calling, with_variable(), lambda x, mask=MASK: mask @ x, lambda x, *, mask=None: x, lambda x: numpy.abs(x),
        np.abs, len, functools.partial(with_inner), types.SimpleNamespace(__call__=len),
    ],
)  # fmt: skip
def test_every_other_function_is_asked_for(function: Any) -> None:
    assert packed(function) == b""


def test_nothing_that_is_left_in_a_function_is_there_the_next_time() -> None:
    code = packed(lambda x: np.abs(x))
    unpacked(code).__globals__["np"] = None
    assert unpacked(code)(-1.0) == 1.0


def test_the_code_does_not_say_where_it_stands() -> None:
    code = packed(with_inner)
    assert not any(word in code for word in (b"with_inner", b"test_lending", b"autograder"))


def test_only_the_grader_sends_code() -> None:
    message = wire.encode([Handle(3, packed(with_inner))])
    assert wire.decode(message, from_grader=True)[0].code
    with pytest.raises(wire.WireError):
        wire.decode(message)


def test_it_runs_in_the_students_process_and_is_not_asked_for() -> None:
    handle = Handle(9, packed(lambda x: 3 * x))  # a number that nobody answers for
    assert prepared("m", "m", "f", [handle, X]).lent == frozenset()
    assert replied("def f(g, x): return g(x)", handle, X).value.tolist() == (3 * X).tolist()
