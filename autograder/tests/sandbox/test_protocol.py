"""Responses must match their request, and may only name exceptions, files and paths that exist."""

from typing import Any

import numpy as np
import pytest

from autograder.exceptions import WireError
from autograder.sandbox.protocol import Call, Changes, Error, Load, Look, Request, Response, Write
from autograder.sandbox.wire import Handle
from autograder.shared.changes import Change

LINES = {"m.py": 3}
CALL = Call(
    "m",
    "f",
    [{"w": np.ones(2), "blocks": [{"g": 1.0}], (1, "F"): [3]}, Handle(1, ("result",)), [Handle(2, (0,))]],
    {"mask": None},
)
LOAD = Load(["m"])
LOOK = Look(Handle(1, (0,)))
WRITE = Write(Handle(1, (0,)), np.ones(1))
CHANGES = Changes(1, CALL)
CHANGE = Change(0, ("w",), "entry written")


@pytest.mark.parametrize(
    ("requests", "message", "response"),
    [
        ([WRITE], ["answered"], Response()),
        ([LOAD, CHANGES, LOOK], ["answered", []], Response()),
        ([CALL], ["answered", 3, [CHANGE], True], Response(3, (CHANGE,), True)),
        ([LOOK], ["answered", 5], Response(5)),
        ([CHANGES, LOOK], ["answered", [tuple(CHANGE)]], Response(changed=(CHANGE,))),
    ],
)
def test_each_request_accepts_only_its_own_response(requests: list[Request], message: Any, response: Response) -> None:
    assert requests[0].response(message, LINES) == response
    for other in (LOAD, CALL, LOOK, WRITE, CHANGES):
        if other not in requests:
            with pytest.raises(WireError):
                other.response(message, LINES)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ((0, ("w",), "dtype or shape"), Change(0, ("w",), "dtype or shape")),
        ((0, ("blocks", 0, "g"), "replaced"), Change(0, ("blocks", 0, "g"), "replaced")),
        ((0, ((1, "F"), 0), "replaced"), Change(0, ((1, "F"), 0), "replaced")),
        ((0, (), "key added"), Change(0, (), "key added")),
        ((1, ("SECRET", 17), "replaced"), Change(1, (), "replaced")),
        ((2, (0, "SECRET"), "replaced"), Change(2, (0,), "replaced")),
        ((3, (), "replaced"), Change(3, (), "replaced")),
    ],
)
def test_changes_are_reported_at_paths_that_were_sent(part: Any, told: Change) -> None:
    assert CALL.response(["answered", None, [part], False], LINES).changed == (told,)


CHANGED: list[Any] = [
    (0, ("SECRET",), "replaced"), (0, ("blocks", 1), "replaced"), (0, ("blocks", -1), "replaced"), (0, ("w", 0), "entry written"),
    (4, (), "replaced"), (-1, (), "replaced"), (0, (), "SECRET"), (0, "w", "replaced"), (True, ("x",), "replaced"), (0,), 5,
    (0, (["w"],), "replaced"), (0, (None,), "replaced"), (0, ((np.ones(2),),), "replaced"), (0, ["w"], "replaced"),
]  # fmt: skip
RAISED: list[Any] = [
    [], [[], "", "", 0, "", []], [["x"] * 32, "", "", 0, "", []], [["x"], 1, "", 0, "", []], [["x"], "", "", "0", "", []],
    [["x"], "", "", 0, "", "f"], [["x"], "", "", 0, "", ["f"] * 17], [["x"], "", "", 0, ""],
]  # fmt: skip


@pytest.mark.parametrize(
    "message",
    [
        [], None, 5, "answered", ["answered"], ["answered", 1, [], 0], ["answered", 1, (), True], ["x"], [b"x"], ["ask", "f", ()],
        1, [1], [np.ones(2), 1], {"answered": 1},
        *(["answered", None, [part], False] for part in CHANGED), ["answered", None, [(0, (), "replaced")] * 33, False],
        *(["raised", parts] for parts in RAISED),
    ],
    ids=repr,
)  # fmt: skip
def test_malformed_responses_are_rejected(message: Any) -> None:
    with pytest.raises(WireError):
        CALL.response(message, LINES)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        (
            [["ValueError", "Exception"], "text", "m.py", 2, "", ["f", "g"]],
            Error(("ValueError", "Exception"), "text", "m.py", 2, "", ("f", "g")),
        ),
        ([["KeyError"] * 31, "", "m.py", 1, "", ["f"] * 16], Error(("KeyError",) * 31, "", "m.py", 1, "", ("f",) * 16)),
        ([["KeyError"], "", "m.py", 5, "", []], Error(("KeyError",), "", "m.py", 0, "")),
        ([["SECRET"], "x" * 999, "m.py", 99, "SECRET", []], Error(("Exception",), "x" * 300, "m.py", 0, "")),
        ([["int", "KeyError", 3], "", "SECRET.py", 1, "missing", []], Error(("KeyError",), "", "", 0, "missing")),
        ([["KeyError"], "\ud800", "", 0, "", []], Error(("KeyError",), "?", "", 0, "")),
        ([["KeyError"], "", "m.py", 4, "absent", ["x" * 99, 3]], Error(("KeyError",), "", "m.py", 4, "absent", ("x" * 64,))),
    ],
)  # fmt: skip
def test_errors_have_builtin_names_and_places_in_the_submission(parts: Any, error: Error) -> None:
    assert CALL.response(["raised", parts], LINES).error == error
    assert error.kind == error.kinds[0]
