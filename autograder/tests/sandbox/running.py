"""What the tests of the sandbox share: a sandbox with one small submission, and what is said by what it imports."""

import atexit
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest

from autograder.sandbox import layers
from autograder.sandbox.answering import Answers, parameters
from autograder.sandbox.budget import Limits
from autograder.sandbox.layers import kernel
from autograder.sandbox.messages import Reply, prepared
from autograder.sandbox.process import StudentProcess
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wire import Parameters

LIMITS = Limits(call_seconds=3)
TIGHT = Limits(call_seconds=0.4, wall_factor=3, disk_mb=4)
HOLDING = layers.holding()
linux = pytest.mark.skipif(not kernel.LINUX, reason="needs Linux")
sealed = pytest.mark.skipif("seccomp" not in HOLDING, reason="needs seccomp")
locked = pytest.mark.skipif("landlock" not in HOLDING, reason="needs Landlock")
as_root = pytest.mark.skipif("user" not in HOLDING, reason="only root gives students a user of their own")
forked = pytest.mark.skipif("fork" not in HOLDING, reason="needs fork")


def plus(x: np.ndarray, y: float = 1.0) -> np.ndarray:
    if y < 0:
        raise ValueError("below zero")
    return x + y


def identity(x: np.ndarray) -> np.ndarray:
    return x


def applied(f: Callable[..., np.ndarray], x: np.ndarray) -> np.ndarray:
    return f(x)


def twice(f: Callable[..., np.ndarray], x: np.ndarray) -> np.ndarray:
    return f(f(x))


def large(n: int) -> np.ndarray:
    return np.zeros(n)


def endless(x: np.ndarray) -> np.ndarray:
    while True:
        x = x + 1


def ending(x: np.ndarray) -> np.ndarray:
    import os

    os._exit(1)


FUNCTIONS = {f.__name__: f for f in (plus, identity, applied, twice, large, endless, ending)}
STAND_INS: Mapping[str, Mapping[str, Parameters]] = {
    "neighbour": {name: parameters(function) for name, function in FUNCTIONS.items()}
}


def times_ten(x: Any) -> Any:
    return x * 10


def answers() -> Answers:
    """What a neighbour, a replaced helper and a lent function answer."""
    return {**{f"neighbour.{name}": f for name, f in FUNCTIONS.items()}, "m.helper": plus, 7: times_ten}


@cache
def shared(limits: Limits, without: tuple[str, ...]) -> Sandbox:
    """A sandbox that many tests use, one after another, since to open one takes longer than most of them."""
    sandbox = Sandbox(limits, answers, without)
    atexit.register(sandbox.close)
    return sandbox


@contextmanager
def opened(
    source: str, limits: Limits = LIMITS, without: tuple[str, ...] = (), files: Mapping[str, bytes] | None = None
) -> Iterator[tuple[Sandbox, StudentProcess]]:
    """A sandbox with a student process, to which m.py is placed but not loaded."""
    sandbox = shared(limits, without)
    sandbox.place({"m.py": source.encode(), **(files or {})})
    process = sandbox.start()
    yield sandbox, process
    sandbox.place({})


def loaded(source: str, limits: Limits = LIMITS, without: tuple[str, ...] = ()) -> Reply:
    """What importing a module in a sandbox comes to."""
    with opened(source, limits, without) as (_, process):
        return process.load("m", ["m"], STAND_INS)


def said(reply: Reply) -> str:
    """The text of the error that a module was made to raise."""
    assert reply.error is not None, reply
    return reply.error.text


def played(source: str, *args: Any, limits: Limits = LIMITS, without: tuple[str, ...] = ()) -> Reply:
    """What f(*args) of a module comes to."""
    with opened(source, limits, without) as (_, process):
        reply = process.load("m", ["m"], STAND_INS)
        assert reply == Reply(), reply
        return process.play([prepared("m", "m", "f", args)])[0]
