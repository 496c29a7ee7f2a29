"""Calls are observed, and their objects kept: the very ones, not copies."""

from typing import Any

import numpy as np
import pytest

from autograder.sandbox.student.calls import Absent, Calls
from autograder.sandbox.wire import CallbackHandle, Kept
from autograder.values.changes import Change
from autograder.values.tree import Opaque


@pytest.fixture
def calls() -> Calls:
    return Calls(2**20, lambda handle: lambda x: x + handle.id)


def keep(x: Any) -> Any:
    keep.last = x  # type: ignore[attr-defined]
    return x


def test_a_call_is_observed_only_as_asked(calls: Calls) -> None:
    def spoil(x: Any) -> Any:
        x += 1
        return x[:1]

    observed = calls.call(spoil, [np.zeros(2)], {}, ["pure", "new"])
    assert (observed.changed, observed.shared) == ((Change(0, (), "entry written"),), True)
    observed = calls.call(spoil, [np.zeros(2)], {})
    assert (observed.changed, observed.shared) == ((), False)


def test_keyword_arguments_count_after_the_others(calls: Calls) -> None:
    def spoil(x: Any, *, a: Any, b: Any) -> None:
        b[:] = 5

    observed = calls.call(spoil, [np.ones(1)], {"a": np.ones(1), "b": np.ones(1)}, ["pure"])
    assert observed.changed == (Change(2, (), "entry written"),)


def test_the_same_object_comes_again(calls: Calls) -> None:
    calls.call(keep, [np.zeros(3)], {}, (), 1)
    first = keep.last  # type: ignore[attr-defined]
    calls.call(keep, [Kept(1, ("result",))], {}, (), 2)
    assert keep.last is first  # type: ignore[attr-defined]
    calls.call(keep, [], {"x": [Kept(1, (0,)), 1]}, (), 3)
    assert keep.last[0] is first  # type: ignore[attr-defined]
    assert calls.look(Kept(3, ("x", 0))) is first


def test_a_kept_array_is_overwritten_in_place(calls: Calls) -> None:
    calls.call(keep, [{"w": np.zeros(2)}], {}, (), 1)
    calls.write(Kept(1, ("result", "w")), np.array([3.0, 4.0]))
    assert calls.look(Kept(1, (0, "w"))).tolist() == [3, 4]
    assert calls.changes(1) == [(0, ("w",), "entry written")]


@pytest.mark.parametrize("value", [np.ones(3), np.ones((2, 1)), "text", None, np.array(["a", "b"])], ids=repr)
def test_nothing_is_written_where_it_does_not_fit(calls: Calls, value: Any) -> None:
    calls.call(keep, [np.zeros(2)], {}, (), 1)
    calls.write(Kept(1, ("result",)), value)
    assert calls.look(Kept(1, (0,))).tolist() == [0, 0]


def test_nothing_is_written_to_what_is_read_only_or_no_array(calls: Calls) -> None:
    x = np.zeros(2)
    x.flags.writeable = False
    calls.call(keep, [(x, 5)], {}, (), 1)
    for place in ((0, 0), (0, 1), (0, 7), (4,)):
        calls.write(Kept(1, place), np.ones(2))
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("path", [("result",), ("result", 0), (1,), ("y",), (0, "w", "v"), (0, 0)], ids=repr)
def test_what_is_not_there_is_absent(calls: Calls, path: Any) -> None:
    def fail(x: Any) -> None:
        raise ValueError

    with pytest.raises(ValueError):
        calls.call(fail, [{"w": np.ones(1)}], {}, (), 1)
    with pytest.raises(Absent):
        calls.look(Kept(1, path))
    with pytest.raises(Absent):
        calls.call(keep, [Kept(1, path)], {})
    with pytest.raises(Absent):
        calls.look(Kept(2, (0,)))


def test_the_arguments_of_a_call_that_raised_are_still_kept(calls: Calls) -> None:
    def fail(x: Any) -> None:
        x.fill(3)
        raise ValueError

    with pytest.raises(ValueError):
        calls.call(fail, [np.zeros(1)], {}, ["pure"], 1)
    assert calls.changes(1) == [(0, (), "entry written")]
    assert calls.look(Kept(1, (0,))).tolist() == [3]


def test_functions_are_lent(calls: Calls) -> None:
    def apply(fs: Any, x: Any) -> Any:
        return fs[0](x)

    assert calls.call(apply, [[CallbackHandle(5)], 1], {}).value == 6


def test_values_are_plain_data(calls: Calls) -> None:
    assert calls.call(lambda: {1}, [], {}).value == Opaque("a set")
    calls.call(lambda: {1}, [], {}, (), 1)
    assert calls.look(Kept(1, ("result",))) == Opaque("a set")
