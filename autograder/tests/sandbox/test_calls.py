"""Calls are observed, their objects kept, and their results sent as plain data of bounded size, or as a description."""

import enum
from collections import OrderedDict, namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import WireError
from autograder.sandbox import wire
from autograder.sandbox.protocol import Call, Changes, Load, Look, Request, Session, Write, described
from autograder.sandbox.wire import Handle, sendable
from autograder.shared.changes import Change
from autograder.shared.tree import Opaque, copied
from autograder.tests.files import python_says
from autograder.tests.running import opened

WRITTEN = "entry written"


def answers(function: Any, *requests: Request) -> list[Any]:
    """The answers of a session whose only function is this one."""
    session = Session(2**20)
    session.function = lambda module, name: function  # type: ignore[method-assign]
    return [request.answer(session, *request.parts) for request in requests]


def shares(value: Any, args: tuple[Any, ...]) -> Any:
    return answers(lambda *_: value, Call("m", "f", args, {}, ["new"]))[0][2]


def test_call_is_observed_only_on_request() -> None:
    def spoil(x: Any, **named: Any) -> Any:
        for array in (x, *list(named.values())[1:]):
            array += 1
        return x[:1]

    named = {"a": np.ones(1), "b": np.ones(1)}
    observed, plain = answers(
        spoil, Call("m", "f", [np.zeros(2)], named, ["pure", "new"]), Call("m", "f", [np.zeros(2)])
    )
    assert observed[1:] == ([Change(0, (), WRITTEN), Change(2, (), WRITTEN)], True)
    assert plain[1:] == ([], False)


def test_write_ignores_wrong_shapes_read_only_arrays_and_other_objects() -> None:
    x, fixed = np.zeros(2), np.zeros(2)
    fixed.flags.writeable = False
    values = (np.ones(3), np.ones((2, 1)), "text", None)
    writes = [Write(Handle(1, ("result", 0)), value) for value in values]
    writes += [Write(Handle(1, path), np.ones(2)) for path in ((0, 1), (0, 2), (0, 7), (4,))]
    answers(lambda: (x, fixed, 5), Call("m", "f", number=1), *writes)
    assert [x.tolist(), fixed.tolist()] == [[0, 0], [0, 0]]


def test_arguments_of_a_failed_call_are_kept() -> None:
    with opened("def f(x):\n    x['w'].fill(3)\n    raise ValueError") as (_, process):
        process.load(["m"])
        failed = Call("m", "f", [{"w": np.ones(1)}], {}, ["pure"], 1)
        error, changes, kept = process.run([failed, Changes(1, failed), Look(Handle(1, (0, "w")))])
        assert error.error is not None and error.error.kind == "ValueError"
        assert changes.changed == (Change(0, ("w",), WRITTEN),) and kept.value.tolist() == [3]
        paths: list[tuple[Any, ...]] = [("result",), ("result", 0), (1,), ("y",), (0, "w", "v"), (0, 0)]
        handles = [*(Handle(1, path) for path in paths), Handle(2, (0,))]
        absent = process.run([*map(Look, handles), *(Call("m", "f", [handle]) for handle in handles)])
        assert {response.error and response.error.hint for response in absent} == {"absent"}


LIMIT, LARGE = 2**20, Opaque("something too large to send")
Pair = namedtuple("Pair", "a b")


class Colour(enum.StrEnum):
    RED = "red"


class Array(np.ndarray):
    pass


class Raising(dict[Any, Any]):
    def __iter__(self) -> Any:
        raise SystemExit


def nested(depth: int, leaf: Any = 0) -> Any:
    return [nested(depth - 1, leaf)] if depth else leaf


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (None, None), (True, True), (3, 3), (2.5, 2.5), ("text", "text"), (Colour.RED, "red"),
        (2**70, 2**70), (2**13_999 - 1, 2**13_999 - 1), (2**13_999, Opaque("a very large integer")),
        ((LIMIT // 8 - 5) * b"x", (LIMIT // 8 - 5) * b"x"), ((LIMIT // 8 - 4) * "x", LARGE),
        ([(LIMIT // 8 - 9) * "x"], [(LIMIT // 8 - 9) * "x"]), ([(LIMIT // 8 - 8) * "x"], LARGE), ([], []), ({(): "x"}, {(): "x"}),
        ({"x": (LIMIT // 8 - 22) * "x"}, {"x": (LIMIT // 8 - 22) * "x"}), ({"x": (LIMIT // 8 - 21) * "x"}, LARGE),
        ([(LIMIT // 8 - 13) * "x", 2**30], [(LIMIT // 8 - 13) * "x", 2**30]), ([(LIMIT // 8 - 13) * "x", 2**32], LARGE),
        ([(LIMIT // 8 - 13) * "x", None], [(LIMIT // 8 - 13) * "x", None]), ([(LIMIT // 8 - 12) * "x", None], LARGE),
        ((1, [2]), (1, [2])), (Pair(1, 2), (1, 2)), ({"a": 1}, {"a": 1}), (OrderedDict(a=1), {"a": 1}),
        (np.float32(1.5), np.float32(1.5)), (1j, Opaque("a complex number")), ({1, 2}, {1, 2}), (b"x", b"x"),
        (np.bytes_(b"x"), b"x"),
        (frozenset({(1, "F")}), frozenset({(1, "F")})), ({object()}, Opaque("a set")), ({print: 1}, Opaque("a dict")),
        ({"x" * LIMIT: 1}, LARGE), (print, Opaque("a function")), (int, Opaque("a class")),
        (object(), Opaque("an object of another type")), (Raising(a=1), Opaque("an object of another type")),
        ((n for n in [0]), Opaque("a generator")), ({(1, 2): 3}, {(1, 2): 3}),
        (np.ones(2, complex), Opaque("a complex array")), (np.array([None]), Opaque("an array of objects")),
        (np.array(["a"]), Opaque("an array of text")), (np.zeros(2, [("a", float)]), Opaque("an unsupported array")),
        (np.array(["2020"], "datetime64[D]"), Opaque("an unsupported array")), (np.ma.array([1.0]), Opaque("an ndarray subclass")),
        (np.ones(2).view(Array), Opaque("an ndarray subclass")),
        (np.zeros(LIMIT // 2 - 64, bool), LARGE), ([0] * 1000, [0] * 1000), ([0] * 1001, LARGE), ({*range(1001)}, LARGE),
        ({0: nested(8)}, {0: nested(8)}), ({0: nested(9)}, {0: nested(8, [Opaque("something nested too deeply")])}),
        (nested(9), nested(9)), (nested(10), nested(9, [Opaque("something nested too deeply")])),
        (np.ones(17 * (1,)), Opaque("an unsupported array")), (np.complex64(1), Opaque("a complex array")),
        (np.longdouble(1.5), np.float64(1.5)), (np.bool_(True), np.bool_(True)), (-0.0, -0.0),
    ],
)  # fmt: skip
def test_values_are_sent_as_plain_data(value: Any, sent: Any) -> None:
    found = sendable(value, LIMIT)
    assert found == sent and type(found) is type(sent)
    wire.encode(found)


@pytest.mark.parametrize("array", [
    np.zeros(LIMIT // 2 - 65, bool), np.ones(16 * (1,)), np.ones(2, ">f8"), np.ones(2, np.longdouble), np.ones((2, 3), order="F"),
], ids=repr)  # fmt: skip
def test_arrays_are_sent_in_native_types(array: Any) -> None:
    found = sendable(array, LIMIT)
    assert np.array_equal(found, array) and found.dtype == np.dtype("f8" if array.dtype.kind == "f" else array.dtype)
    assert found.flags.f_contiguous == array.flags.f_contiguous


def test_shared_memory_is_found_at_any_depth_and_copies_share_none() -> None:
    x, y = np.ones((4, 3)), np.ones(3)
    assert shares({"a": (x[1:], 1)}, ([y], x.T))
    assert not shares((x + 1, y.copy()), (x, y))
    value = {"a": [x], "b": (y, "text")}
    assert not shares(copied(value), (value,)) and repr(copied(value)) == repr(value)


# Errors are described by built-in names, a text and a place in the student's files


def raised(action: Any, *args: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:
        action(*args)
    return caught.value


def test_error_has_its_last_line_in_the_submission_and_its_functions_innermost_first(
    tmp_path: Path,
) -> None:
    source = "def f():\n    return g()\ndef g():\n    return missing\n"
    (tmp_path / "m.py").write_text(source)
    namespace: dict[str, Any] = {}
    exec(compile(source, str(tmp_path / "m.py"), "exec"), namespace)
    error = raised(namespace["f"])
    assert described(error, str(tmp_path))[2:] == ["m.py", 4, "", ["missing", "g", "f"]]
    assert described(error, "/elsewhere")[2:4] == ["", 0]


def test_syntax_error_has_its_own_line(tmp_path: Path) -> None:
    error = raised(compile, "x = 1\nx = = 2\n", str(tmp_path / "m.py"), "exec")
    kinds, text, file, line, _, _ = described(error, str(tmp_path))
    assert (kinds[0], text, file, line) == ("SyntaxError", python_says("x = = 2"), "m.py", 2)


def test_responses_are_sent_before_modules_are_imported_and_signatures_have_no_defaults() -> None:
    done = list[Any]()

    class Unknown:
        @property
        def __signature__(self) -> None:
            raise OSError

        def __call__(self) -> None: ...

    session = Session(LIMIT)
    session.flush = lambda: done.append("sent")
    session.imports = SimpleNamespace(load=done.append)  # type: ignore[assignment]
    session.function = lambda module, name: {"f": lambda x, *, y=5: 0, "g": Unknown()}.get(name)  # type: ignore[method-assign]
    load = Load(["m", "n"], {"m": ["f", "g", "h"]})
    [parts] = load.answer(session, *load.parts)
    assert done == ["sent", ["m", "n"]] and parts == [[[["x", 1, False], ["y", 3, True]]], [], []]
    described = {key: list(map(str, signatures)) for key, signatures in load.check(parts).value.items()}
    assert described == {("m", "f"): ["(x, *, y=None)"], ("m", "g"): [], ("m", "h"): []}
    for malformed in (
        parts[1:],
        [[[["x", 1]]], [], []],
        [[[["x", 9, False]]], [], []],
        [[[[1, 1, False]]], [], []],
        [5, [], []],
    ):
        with pytest.raises(WireError):
            load.response(["answered", malformed], {})


def test_requests_run_what_their_inner_requests_run() -> None:
    call = Call("m", "f", [1], {"x": 2})
    assert (call.runs, Load(["m", "n"]).runs, Changes(1, call).runs) == ("m.f", "m n", "")
    assert type("Outer", (Request,), {"kind": "outer"})(call, 3).runs == "m.f"


def test_signature_mismatch_is_distinguished_from_a_type_error_inside() -> None:
    def f(x: Any) -> Any:
        return x + "text"

    assert described(raised(f), "/", f, [], {})[4] == "signature"
    assert described(raised(f, 1), "/", f, [1], {})[4] == ""
    assert described(raised(f, 1, 2), "/", f, [1, 2], {})[4] == "signature"
