"""Whatever a student's process sends: a bounded value, or an error of the wire, and nothing else, wherever it is read."""

import socket
import struct
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.sandbox import wire
from autograder.sandbox.callbacks import answered
from autograder.sandbox.messages import Response, prepared, prepared_changes, prepared_load, prepared_look, reply_of
from autograder.sandbox.wire import Connection, WireError
from autograder.values.tree import Opaque

pytestmark = pytest.mark.slow
MANY = settings(max_examples=20_000, deadline=None, database=None)
WORDS = ("callback", "returned", "raised", "changed", "holds", "written", "loaded", "refused", "call",
         "x", "y", "m.py", "ValueError", "entry written", "missing")  # fmt: skip
KIND = st.sampled_from(wire.DTYPES)
SHAPE = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
ARRAY = KIND.flatmap(lambda kind: arrays.arrays(kind, SHAPE))
LEAF = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=8), st.sampled_from(WORDS),
    st.binary(max_size=8), ARRAY, st.sampled_from(wire.OPAQUE_KINDS).map(Opaque),
    st.builds(msgpack.ExtType, st.integers(0, 6), st.binary(max_size=40)),
)  # fmt: skip
VALUE: st.SearchStrategy[Any] = st.deferred(
    lambda: (
        LEAF | st.lists(VALUE, max_size=5) | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), VALUE, max_size=3)
    )
)
CALLBACK = st.tuples(st.just("callback"), st.integers(0, 3) | LEAF, st.lists(VALUE, max_size=4))
FORM = CALLBACK | st.tuples(st.sampled_from(WORDS), VALUE, VALUE, VALUE) | st.lists(VALUE, max_size=6) | VALUE
EDIT = st.tuples(st.integers(0, 300), st.binary(max_size=9), st.integers(0, 9))
CALL = prepared("m", "f", (np.zeros((2, 3)), {"a": [1, np.ones(2)]}), {"eps": 1.0}, ("pure", "new"), 1)
FUNCTIONS: dict[int, Any] = {1: lambda x: x + 1, 2: lambda x, y: x @ y}
CALLS = (
    CALL,
    prepared_load(["m"]),
    prepared_look(wire.Kept(1, ("result",))),
    prepared_changes(1, CALL),
)


def message(form: Any, edits: list[tuple[int, bytes, int]]) -> bytes:
    """A message, with some bytes replaced by others."""
    try:
        data = bytearray(wire.encode(form))
    except WireError:
        data = bytearray(msgpack.packb(repr(form)))
    for at, piece, left_out in edits:
        data[at % (len(data) + 1) : at % (len(data) + 1) + left_out] = piece
    return bytes(data)


MESSAGE = st.binary(max_size=60) | st.builds(message, FORM, st.just([]) | st.lists(EDIT, max_size=4))


@given(MESSAGE)
@MANY
def test_a_reply_has_the_form_of_its_call_or_is_refused(data: bytes) -> None:
    for call in CALLS:
        try:
            parts = wire.message_of(data)
            assert wire.count(parts) <= wire.MAX_VALUES
            response = reply_of(parts, call, {"m.py": 3})
        except WireError:
            continue
        assert isinstance(response, Response)
        assert all(change.argument < len(call.arguments) for change in response.changed)
        assert response.error is None or (response.error.file, response.error.line <= 4) in (("m.py", True), ("", True))


@given(MESSAGE)
@MANY
def test_a_callback_is_answered_or_refused(data: bytes) -> None:
    try:
        answer = answered(data, FUNCTIONS, 2**20)
    except WireError:
        return
    assert wire.kind(answer) in ("returned", "refused")


@given(st.lists(MESSAGE, max_size=4), st.lists(st.integers(0, 2**32 - 1), max_size=2), st.lists(EDIT, max_size=3))
@MANY
def test_a_stream_is_cut_into_messages_or_refused(
    sent: list[bytes], sizes: list[int], edits: list[tuple[int, bytes, int]]
) -> None:
    data = bytearray(b"".join(struct.pack("<I", len(part)) + part for part in sent))
    for size in sizes:
        data += struct.pack("<I", size)
    for at, piece, left_out in edits:
        data[at % (len(data) + 1) : at % (len(data) + 1) + left_out] = piece
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        connection = Connection(ours, 2**16)
        for _ in range(len(data) + 1):
            try:
                assert len(connection.receive()) <= 2**16
            except WireError:
                return
    raise AssertionError("more messages than bytes")


def test_what_is_tried_reaches_every_kind_of_end() -> None:
    """Else the others prove nothing."""
    assert reply_of(wire.decode(message(("returned", 1, [], False), [])), CALL, {}) == Response(value=1)
    assert wire.kind(answered(message(("callback", 1, [np.ones(2)]), []), FUNCTIONS, 2**20)) == "returned"
    with pytest.raises(WireError):
        wire.decode(message([1], [(0, b"", 9)]))
