"""Messages arrive unchanged, and anything else is rejected at a bounded cost."""

import math
import socket
import struct
import tracemalloc
from typing import Any

import msgpack
import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.wire import CallbackHandle, Connection, Kept, WireError
from autograder.tests.making import few
from autograder.values.tree import Opaque

MESSAGES: list[Any] = [
    None, True, -7, 2**63 - 1, -(2**63), 1.5, math.inf, "text", "", [], {}, [1, [2, [3, {"a": None}]]], {"k": 1, 2: "v"},
    np.arange(6.0).reshape(2, 3), np.zeros((0, 3)), np.array(True), np.float32(2.5), np.int8(-1),
    *(Opaque(kind) for kind in wire.OPAQUE_KINDS), *(np.ones((2, 1), dtype) for dtype in wire.DTYPES),
    ["returned", np.ones((2, 2)), [0, 1], False], ["ask", "layernorm.layer_norm", [np.ones(3)], {"eps": 1e-5}],
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
def test_messages_arrive_unchanged(message: Any) -> None:
    arrived = wire.decode(wire.encode(message))
    assert repr(arrived) == repr(message)
    assert getattr(arrived, "dtype", None) == getattr(message, "dtype", None)


@pytest.mark.parametrize("value", [(), (1, 2.5), [(1,), [2]], {"a": (None, "text")}, ((1, (2,)), [])], ids=repr)
def test_marked_tuples_arrive_as_tuples(value: Any) -> None:
    assert wire.decode(wire.encode(("returned", wire.marked(value)))) == ["returned", value]


@pytest.mark.parametrize("key", [wire.marked((1, 2)), Opaque("a tuple"), CallbackHandle(1), np.float32(1)], ids=repr)
def test_keys_must_be_plain(key: Any) -> None:
    data = msgpack.packb({1: 2}).replace(b"\x01", wire.encode(key))
    with pytest.raises(WireError):
        wire.decode(data)


def test_only_arrays_from_the_grader_keep_their_layout() -> None:
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    kept = wire.decode(wire.encode([columns], from_grader=True), from_grader=True)[0]
    assert np.array_equal(kept, columns) and kept.flags.fnc and kept.flags.writeable
    assert wire.decode(wire.encode(columns)).flags.c_contiguous
    with pytest.raises(WireError):
        wire.decode(wire.encode(columns, from_grader=True))


@pytest.mark.parametrize(
    "message",
    [
        2**64, object(), {1, 2}, 1j, np.ones(2, complex), np.array([None]), np.rec.fromarrays([[1.0]]),
        np.ma.array([1.0], mask=[True]), np.longdouble(1),
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
        wire.decode(data)
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
        wire.decode(msgpack.packb(msgpack.ExtType(0, struct.pack(f"<BB{len(shape)}q", code, ndim, *shape) + raw)))


GRADERS = [Kept(1, ("result",)), Kept(2**40, (0, "blocks", 3, "w_q")), CallbackHandle(3), CallbackHandle(3, b"code")]


@pytest.mark.parametrize("value", GRADERS, ids=repr)
def test_kept_objects_and_callbacks_come_from_the_grader_only(value: Any) -> None:
    message = wire.encode(["call", value])
    assert wire.decode(message, from_grader=True) == ["call", value]
    with pytest.raises(WireError):
        wire.decode(message)


@pytest.mark.parametrize("message", [["answer", 1], ("refused", "ValueError", "x")], ids=repr)
def test_the_kind_of_a_message_is_its_first_word(message: Any) -> None:
    assert wire.kind(wire.encode(message)) == wire.message_of(wire.encode(message))[0] == message[0]


@pytest.mark.parametrize("value", [1, "ask", [], [1], [np.ones(2), 1], [b"ask"], {"ask": 1}, (1, "ask")])
def test_message_must_begin_with_a_word(value: object) -> None:
    with pytest.raises(WireError):
        wire.message_of(wire.encode(value))


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
