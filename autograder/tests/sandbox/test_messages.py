"""Responses must match the format of their request, and may only name exceptions, files and paths that exist."""

from typing import Any

import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.messages import (
    Call,
    Error,
    Response,
    prepared,
    prepared_changes,
    prepared_load,
    prepared_look,
    prepared_write,
    reply_of,
)
from autograder.sandbox.wire import CallbackHandle, Kept, WireError
from autograder.values.changes import Change

LINES = {"m.py": 3}
CALL = prepared(
    "m", "f", [{"w": np.ones(2), "blocks": [{"g": 1.0}]}, Kept(1, ("result",)), [Kept(2, (0,))]], {"mask": None}
)
LOAD = prepared_load(["m"])
LOOK = prepared_look(Kept(1, (0,)))
WRITE = prepared_write(Kept(1, (0,)), np.ones(1))
CHANGES = prepared_changes(1, CALL)


@pytest.mark.parametrize(
    ("call", "message", "response"),
    [
        (LOAD, ["loaded"], Response()),
        (CALL, ["returned", 3, [], True], Response(3, shared=True)),
        (LOOK, ["holds", 5], Response(5)),
        (WRITE, ["written"], Response()),
        (CHANGES, ["changed", [[0, ["w"], "entry written"]]], Response(changed=(Change(0, ("w",), "entry written"),))),
    ],
)
def test_each_request_accepts_only_its_own_response(call: Call, message: Any, response: Response) -> None:
    assert reply_of(message, call, LINES) == response
    for other in (LOAD, CALL, LOOK, WRITE, CHANGES):
        if other.kind != call.kind:
            with pytest.raises(WireError):
                reply_of(message, other, LINES)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ([0, ["w"], "dtype or shape"], Change(0, ("w",), "dtype or shape")),
        ([0, ["blocks", 0, "g"], "replaced"], Change(0, ("blocks", 0, "g"), "replaced")),
        ([0, [], "key added"], Change(0, (), "key added")),
        ([1, ["SECRET", 17], "replaced"], Change(1, (), "replaced")),
        ([2, [0, "SECRET"], "replaced"], Change(2, (0,), "replaced")),
        ([3, [], "replaced"], Change(3, (), "replaced")),
    ],
)
def test_changes_are_reported_at_paths_that_were_sent(part: Any, told: Change) -> None:
    assert reply_of(["returned", None, [part], False], CALL, LINES).changed == (told,)


CHANGED: list[Any] = [
    [0, ["SECRET"], "replaced"], [0, ["blocks", 1], "replaced"], [0, ["blocks", -1], "replaced"], [0, ["w", 0], "entry written"],
    [4, [], "replaced"], [-1, [], "replaced"], [0, [], "SECRET"], [0, "w", "replaced"], [True, ["x"], "replaced"], [0], 5,
    [0, [["w"]], "replaced"], [0, [None], "replaced"],
]  # fmt: skip
RAISED: list[Any] = [
    [], [[], "", "", 0, "", []], [["x"] * 32, "", "", 0, "", []], [["x"], 1, "", 0, "", []], [["x"], "", "", "0", "", []],
    [["x"], "", "", 0, "", "f"], [["x"], "", "", 0, "", ["f"] * 17], [["x"], "", "", 0, ""],
]  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [
        [], None, 5, "returned", ["returned"], ["returned", 1, [], 0], ["returned", 1, 2, True], ["loaded", 1], ["x"], [b"x"],
        *(["returned", None, [part], False] for part in CHANGED), ["returned", None, [[0, [], "replaced"]] * 33, False],
        *(["raised", parts] for parts in RAISED),
    ],
    ids=repr,
)  # fmt: skip
def test_malformed_responses_are_rejected(message: Any) -> None:
    with pytest.raises(WireError):
        reply_of(message, CALL, LINES)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        (
            [["ValueError", "Exception"], "text", "m.py", 2, "", ["f", "g"]],
            Error(("ValueError", "Exception"), "text", "m.py", 2, "", ("f", "g")),
        ),
        ([["SECRET"], "x" * 999, "m.py", 99, "SECRET", []], Error(("Exception",), "x" * 300, "m.py", 0, "")),
        ([["int", "KeyError", 3], "", "SECRET.py", 1, "missing", []], Error(("KeyError",), "", "", 0, "missing")),
        ([["KeyError"], "", "m.py", 4, "absent", ["x" * 99, 3]], Error(("KeyError",), "", "m.py", 4, "absent", ("x" * 64,))),
    ],
)  # fmt: skip
def test_errors_have_builtin_names_and_places_in_the_submission(parts: Any, error: Error) -> None:
    assert reply_of(["raised", parts], CALL, LINES).error == error
    assert error.kind == error.kinds[0]


def test_call_numbers_its_callbacks() -> None:
    data = np.ones(2)

    def first(x: Any) -> Any:
        return x + data

    def second(x: Any) -> Any:
        return x - data

    call = prepared("m", "f", [first, {"a": [second, lambda x: x]}])
    assert call.callbacks == {1: first, 2: second}
    sent = wire.decode(call.payload, from_grader=True)[3]
    assert sent[:1] + sent[1]["a"][:1] == [CallbackHandle(1), CallbackHandle(2)] and sent[1]["a"][1].code
    with pytest.raises(WireError):
        prepared("m", "f", [object()])
    assert wire.decode(CALL.payload, from_grader=True)[3][1] == Kept(1, ("result",))
