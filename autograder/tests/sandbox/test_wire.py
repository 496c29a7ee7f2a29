"""Messages arrive unchanged, and anything else is rejected at a bounded cost."""

import functools
import math
import socket
import struct
import tracemalloc
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgpack
import numpy
import numpy as np
import pytest

from autograder.exceptions import Disconnected, WireError
from autograder.sandbox import wire
from autograder.sandbox.wire import ALLOWED, Connection, Handle, packed, unpacked
from autograder.shared.tree import Opaque
from autograder.tests.making import few
from autograder.tests.running import replied

MESSAGES: list[Any] = [
    None, True, -7, 2**63 - 1, -(2**63), 2**64, -(2**70), 2**13_999 - 1, 1.5, math.inf, "text", "\ud800", b"", b"\xff", [], {}, (),
    "", [1, [2, [3, {"a": None}]]], {"k": 1, 2: "v", (1, ("F",)): 3, None: b"", np.float32(2): 0}, (1, 2.5), [(1,), [2]],
    {"a": (None, "text")}, ((1, (2,)), []), {1}, set(), frozenset({("F", 19)}), {frozenset({1}): {b"x"}}, [(np.ones(2), {3})],
    np.arange(6.0).reshape(2, 3), np.zeros((0, 3)), np.array(True), np.float32(2.5), np.float64(2.5), np.int8(-1),
    np.ones(16 * (1,)), *(Opaque(kind) for kind in wire.OPAQUE_KINDS), *(np.ones((2, 1), dtype) for dtype in wire.DTYPES),
    ["answered", np.ones((2, 2)), ((0, ("w", 1), "length"),), False],
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
def test_messages_arrive_unchanged(message: Any) -> None:
    for arrived in (wire.received(wire.encode(message))[0], wire.decode(wire.encode(message))):
        assert type(arrived) is type(message) and getattr(arrived, "dtype", None) == getattr(message, "dtype", None)
        assert repr(arrived) == repr(message)


Pair = namedtuple("Pair", "one two")


class Text(str):
    pass


@pytest.mark.parametrize(
    ("value", "arrived"),
    [(Pair(1, 2), (1, 2)), (OrderedDict(a=1), {"a": 1}), (Text("x"), "x"), (HTTPStatus.OK, 200)],
    ids=lambda value: type(value).__name__,
)
def test_objects_of_subclasses_arrive_as_plain_data(value: Any, arrived: Any) -> None:
    found = wire.received(wire.encode([value]))[0][0]
    assert found == arrived and type(found) is type(arrived)


MARK = msgpack.packb(msgpack.ExtType(6, b"\0"))  # of a tuple


@pytest.mark.parametrize(
    "key", [wire.encode([1]), wire.encode((np.ones(2),)), wire.encode(Opaque("a dict")), MARK], ids=repr
)
def test_keys_must_be_plain(key: bytes) -> None:
    for data in (b"\x81" + key + b"\xc0", b"\x92" + MARK.replace(b"\0", b"\1") + key):  # of a dict, in a set
        with pytest.raises(WireError):
            wire.received(data)


@pytest.mark.parametrize(
    "value",
    [
        msgpack.Timestamp(1, 2), *(msgpack.ExtType(*parts) for parts in (
            (9, b""), (6, b"\0"), (6, b"\4"), (0, b""), (0, b"\1"), (3, bytes(1751)), (4, b""), (4, b"\x63")
        )),
    ],
)  # fmt: skip
def test_what_no_side_sends_is_rejected(value: Any) -> None:
    for message in (value, ["answered", value], {"a": value}, {value: 1}):
        with pytest.raises(WireError):
            wire.received(msgpack.packb(message))


def test_column_major_arrays_keep_their_layout() -> None:
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    arrived = wire.received(wire.encode([columns]))[0][0]
    assert np.array_equal(arrived, columns) and arrived.flags.fnc and arrived.flags.writeable


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 0


@pytest.mark.parametrize(("value", "count", "larger"), [
    (nested(12), 13, nested(13)), ([0] * 3999, 4000, [0] * 4000), ([[0] * 1998] * 2, 3999, [[0] * 1999] * 2),
    (dict.fromkeys(range(1001)), 1002, dict.fromkeys(range(1002))), (set(range(1000)), 1001, set(range(1001))),
    (np.zeros((0, 2**40)), 1, np.zeros((0, 2**40 + 1))), (tuple(range(1001)), 1002, frozenset(range(1001))),
], ids=["depth", "list", "lists", "dict", "set", "array", "tuple"])  # fmt: skip
def test_size_of_a_students_value_is_limited(value: Any, count: int, larger: Any) -> None:
    assert wire.received(wire.encode(value))[1] == count
    with pytest.raises(WireError):
        wire.received(wire.encode(larger))


def test_the_graders_values_are_not_counted() -> None:
    value = [list(range(5000)), set(range(5000))] * 2
    assert wire.decode(wire.encode(value)) == value


@pytest.mark.parametrize(
    "message",
    [
        object(), 2**13_999, np.ones(17 * (1,)), 1j, int, len, print, np.ones(2, complex), np.array([None]),
        np.rec.fromarrays([[1.0]]), np.ma.array([1.0], mask=[True]), np.longdouble(1),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_only_plain_data_can_be_sent(message: Any) -> None:
    with pytest.raises(WireError):
        wire.encode(message)


def many(item: bytes) -> bytes:
    """A message of a megabyte that consists of small values."""
    inner = b"\xdc" + (4000).to_bytes(2, "big") + item * 4000
    count = wire.MAX_FROM_STUDENT // len(inner)
    return b"\xdc" + count.to_bytes(2, "big") + inner * count


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    few([
        many(b"\x90"), many(b"\x80"), many(b"\xd4\x02\x00"), many(b"\xd6\xff\0\0\0\1"), many(b"\xc7\x03\x00\x01\x00\x01"),
        many(b"\xa2\xc3\xa9"), b"\x91" * 10**6 + b"\xc0", b"\xdd\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x00",
        b"\xc6\xff\xff\xff\xff",
    ], 1),
    ids=["lists", "dicts", "opaque values", "times", "arrays", "texts", "deep", "long list", "long array", "long bytes"],
)  # fmt: skip
def test_decoding_uses_bounded_memory(data: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(WireError):
        wire.received(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128 * 2**20


@pytest.mark.parametrize(
    ("code", "ndim", "shape", "raw"),
    [
        (11, 1, [2], b"short"), (11, 2, [-1, -1], b"x" * 8), (99, 0, [], b""), (11, 99, [], b""), (0, 1, [2], b"\1\7"),
        (11, 3, [2**62, 2**62, 0], b""), (11, 2, [2**32, 2**32], b""), (11, 3, [1], b"x" * 8),
        (0, 2, [2**62, 0], b""), (1, 2, [0, 2**62], b""), (9, 2, [2**61, 0], b""),  # empty, but too large to be widened
    ],
)  # fmt: skip
def test_impossible_arrays_are_rejected(code: int, ndim: int, shape: list[int], raw: bytes) -> None:
    with pytest.raises(WireError):
        wire.received(msgpack.packb(msgpack.ExtType(0, struct.pack(f"<BB{len(shape)}q", code, ndim, *shape) + raw)))


@pytest.mark.parametrize(
    "value",
    [Handle(1, ("result",)), Handle(2**40, (0, "blocks", 3, "w_q")), lambda x: x],
    ids=lambda value: type(value).__name__,
)
def test_kept_objects_and_functions_come_from_the_grader_only(value: Any) -> None:
    message = wire.encode(["call", value])
    arrived = wire.decode(message)[1]
    assert arrived(3) == 3 if callable(value) else arrived == value
    with pytest.raises(WireError):
        wire.received(message)


def test_messages_arrive_in_one_piece_or_in_many() -> None:
    theirs, ours = socket.socketpair()
    with theirs, ours:
        line = Connection(ours, 1000)
        theirs.sendall(b"\1\0\0\0a\2\0\0\0bc\3\0")
        assert [line.receive(), line.receive()] == [b"a", b"bc"]
        rest = iter(b"\0\0xyz")

        def check(is_silent: bool) -> float:
            theirs.sendall(bytes([next(rest)]))
            return 0.01

        assert line.receive(check) == b"xyz"
        theirs.sendall(struct.pack("<I996sI", 996, b"x" * 996, 997))
        assert line.receive() == b"x" * 996
        with pytest.raises(WireError, match="size limit"):
            line.receive()


def test_silence_is_that_nothing_has_arrived() -> None:
    theirs, ours = socket.socketpair()
    with theirs, ours:
        line = Connection(ours, 1000)
        assert line.is_silent() is True
        line.send(b"ab", b"c")
        assert theirs.recv(99) == b"\2\0\0\0ab\1\0\0\0c"
        theirs.sendall(b"\1\0\0\0a")
        assert line.is_silent() is False
        with pytest.raises(WireError, match="nobody requested"):
            line.send(b"x" * 10**7, check=lambda is_silent: 0.01)
        ours.settimeout(9)
        assert line.receive() == b"a"
        theirs.close()
        assert line.is_silent() is False
        line.close()
        with pytest.raises(Disconnected):
            line.receive()


# Callback arguments are sent as code; those that need more than NumPy are rejected, with what they use

MASK = np.tri(2)
X = np.array([[1.0, 2.0], [3.0, -1.0]])


def with_inner(x: Any) -> Any:
    """Needs only NumPy, also in its inner function."""
    return sum((lambda row: np.abs(row) + len(x))(row) for row in x)


def with_variable() -> Any:
    mask = np.tri(2)
    return lambda x: mask @ x


@pytest.mark.parametrize("function", [lambda x: x - x.max(axis=0), lambda x: x[:, 1:] + x[0, 0], with_inner])
def test_function_that_needs_only_numpy_is_sent_as_code(function: Callable[..., Any]) -> None:
    code = packed(function)
    unpacked(code).__globals__["np"] = None  # a changed global does not persist
    assert np.array_equal(unpacked(code)(X), function(X))
    assert not any(word in code for word in (b"with_inner", b"test_wire", b"autograder"))
    assert np.array_equal(replied("def f(g, x): return g(x)", function, X).value, function(X))


def test_equal_code_has_equal_bytes() -> None:
    first, second = (eval("lambda x: x + len((7.5, 2.25))") for _ in range(2))
    references = [list(part) for part in first.__code__.co_consts if isinstance(part, tuple)]  # marshal counts them
    assert references and packed(first) == packed(second)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: MASK @ x, f"{ALLOWED}, but <lambda> uses `MASK`"), (lambda x: with_inner(x), "uses `with_inner`"),
        (with_variable(), "but <lambda> uses `mask`"), (lambda x, mask=MASK: mask @ x, "uses default values"),
        (lambda x, *, mask=None: x, "uses default values"), (lambda x: numpy.abs(x), "uses `numpy`"),
        (np.abs, "<ufunc 'absolute'> is not a Python function: write a lambda"), (len, "is not a Python function"),
        (functools.partial(with_inner), "is not a Python function"), (type, "is not a Python function"),
    ],
)  # fmt: skip
def test_other_functions_are_rejected(function: Any, why: str) -> None:
    with pytest.raises(TypeError) as caught:
        packed(function)
    assert why in str(caught.value)
