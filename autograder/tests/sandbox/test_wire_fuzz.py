"""Whatever a student's process sends is read as a bounded value or raises WireError, and nothing else."""

from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from autograder.exceptions import WireError
from autograder.sandbox import wire
from autograder.sandbox.protocol import Call, Changes, Load, Look, Response
from autograder.shared.tree import Opaque

pytestmark = pytest.mark.slow
MANY = settings(max_examples=20_000, deadline=None, database=None)
WORDS = ("ask", "answered", "raised", "call", "x", "y", "m.py", "ValueError", "entry written", "missing")
KIND = st.sampled_from(wire.DTYPES)
SHAPE = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
ARRAY = KIND.flatmap(lambda kind: arrays.arrays(kind, SHAPE))
LEAF = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**80), 2**80), st.floats(), st.text(max_size=8), st.sampled_from(WORDS),
    st.binary(max_size=8), ARRAY, st.sampled_from(wire.OPAQUE_KINDS).map(Opaque),
    st.builds(msgpack.ExtType, st.integers(0, 7), st.binary(max_size=40)),
)  # fmt: skip
KEY = st.text(max_size=3) | st.integers(0, 9) | st.tuples(st.integers(0, 2), st.text(max_size=2))
LIST: st.SearchStrategy[Any] = st.deferred(lambda: st.lists(VALUE, max_size=5))
VALUE: st.SearchStrategy[Any] = (
    LEAF | LIST | LIST.map(tuple) | st.sets(KEY, max_size=3) | st.dictionaries(KEY, LEAF | LIST, max_size=3)
)
CHANGE = st.tuples(st.integers(-1, 3), st.lists(KEY, max_size=3).map(tuple), st.sampled_from(WORDS)) | VALUE
FORM = (
    st.tuples(st.just("answered"), VALUE, st.lists(CHANGE, max_size=3), st.booleans()).map(list)
    | st.tuples(st.sampled_from(WORDS), VALUE, VALUE, VALUE).map(list)
    | st.lists(VALUE, max_size=6)
    | VALUE
)
EDIT = st.tuples(st.integers(0, 300), st.binary(max_size=9), st.integers(0, 9))
CALL = Call("m", "f", (np.zeros((2, 3)), {"a": [1, np.ones(2)]}), {"eps": 1.0}, ("pure", "new"), 1)
CALLS = (CALL, Load(["m"]), Load(["m"], {"m": ["f", "g"]}), Look(wire.Handle(1, ("result",))), Changes(1, CALL))


def message(form: Any, edits: list[tuple[int, bytes, int]]) -> bytes:
    """An encoded message with some bytes replaced."""
    try:
        return edited(wire.encode(form), edits)
    except WireError:
        return edited(msgpack.packb(repr(form)), edits)


def edited(data: bytes, edits: list[tuple[int, bytes, int]]) -> bytes:
    for at, piece, left_out in edits:
        at %= len(data) + 1
        data = data[:at] + piece + data[at + left_out :]
    return data


MESSAGE = st.binary(max_size=60) | st.builds(message, FORM, st.just([]) | st.lists(EDIT, max_size=4))


@given(MESSAGE)
@MANY
def test_response_matches_its_call_or_is_rejected(data: bytes) -> None:
    for call in CALLS:
        try:
            parts, values = wire.received(data)
            assert values <= wire.MAX_VALUES
            response = call.response(parts, {"m.py": 3})
        except WireError:
            continue
        assert isinstance(response, Response)
        assert all(change.argument < len(CALL.arguments) for change in response.changed)
        assert response.error is None or (response.error.file, response.error.line <= 4) in (("m.py", True), ("", True))
