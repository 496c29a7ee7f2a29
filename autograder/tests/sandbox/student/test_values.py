"""What leaves a student's process is plain data of bounded size, or a word for what it is instead."""

import enum
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.student.calls import sendable, shares
from autograder.values.kinds import Opaque
from autograder.values.tree import copied

LIMIT = 2**20
Pair = namedtuple("Pair", "a b")


class Colour(enum.StrEnum):
    RED = "red"


class Array(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (None, None), (True, True), (3, 3), (2.5, 2.5), ("text", "text"), (Colour.RED, "red"),
        (2**70, Opaque("a very large integer")),
        ((1, [2]), (1, [2])), (Pair(1, 2), (1, 2)), ({"a": 1}, {"a": 1}), (OrderedDict(a=1), {"a": 1}),
        (np.float32(1.5), np.float32(1.5)), (1j, Opaque("a complex number")), ({1, 2}, Opaque("a set")), (b"x", Opaque("bytes")),
        (print, Opaque("a function")), (int, Opaque("a class")),
        (object(), Opaque("an object of another type")),
        ((n for n in [0]), Opaque("a generator")), ({(1, 2): 3}, Opaque("a dict")),
        (list(range(5000)), Opaque("something too large to send")),
        (np.ones(2, complex), Opaque("a complex array")), (np.array([None]), Opaque("an array of objects")),
        (np.array(["a"]), Opaque("an array of text")), (np.ones(2).view(Array), Opaque("an ndarray subclass")),
        (np.zeros(LIMIT), Opaque("something too large to send")),
    ],
)  # fmt: skip
def test_values_are_sent_as_plain_data(value: Any, sent: Any) -> None:
    found = sendable(value, LIMIT)
    assert found == sent and type(found) is type(sent)
    wire.encode(found)


def test_nesting_ends() -> None:
    endless: list[Any] = []
    endless.append(endless)
    while isinstance(endless, list):
        endless = sendable(endless, LIMIT) if endless and endless[0] is endless else endless[0]
    assert endless == Opaque("something nested too deeply")


def test_objects_that_raise_are_opaque() -> None:
    class Raising(dict[Any, Any]):
        def __iter__(self) -> Any:
            raise SystemExit

    assert sendable(Raising(a=1), LIMIT) == Opaque("an object of another type")


def test_foreign_byte_orders_and_long_doubles_arrive_as_numbers() -> None:
    assert sendable(np.ones(2, ">f8"), LIMIT).dtype == np.float64
    assert sendable(np.longdouble(1), LIMIT).dtype == np.float64


def test_shared_memory_is_found_at_any_depth() -> None:
    x, y = np.ones((4, 3)), np.ones(3)
    assert shares({"a": (x[1:], 1)}, ([y], x.T))
    assert not shares((x + 1, y.copy()), (x, y))


def test_copies_have_arrays_of_their_own() -> None:
    value = {"a": [np.ones(2)], "b": (np.ones(1), "text")}
    other = copied(value)
    assert not shares(other, (value,))
    assert repr(other) == repr(value)
