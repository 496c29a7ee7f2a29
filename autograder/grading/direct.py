"""Plays steps on trusted code (references, known mistakes) in this process, observed as a student's process observes a student's.

A student's code never comes near this.
"""

import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.grading.record import Step
from autograder.sandbox.messages import Change, Error, Reply
from autograder.sandbox.plain import copied, sendable, shares
from autograder.sandbox.wire import Kept

LIMIT = 8 * 2**20


@dataclass
class _Made:
    """A call that was made: its arguments by position or name, what they were, and the result."""

    arguments: dict[str | int, Any]
    before: dict[str | int, Any]
    result: Any = None


class Direct:
    """Plays steps in order on functions that stay the same throughout.

    A "look" has the kept object as its argument, a "write" the kept array and what is written into it.
    """

    def __init__(self, functions: Mapping[str, Callable[..., Any]]):
        self.functions = functions
        self.made: dict[int, _Made] = {}

    def play(self, step: Step) -> Reply:
        """The reply of a student's process whose functions were these."""
        if step.kind == "call":
            return self._call(step)
        if step.kind == "changes":
            return Reply(changed=tuple(_changes(self.made[step.about])))
        try:
            kept = self._own(step.args[0])
            if step.kind == "look":
                return Reply(value=copied(sendable(kept, LIMIT)))
            np.copyto(kept, step.args[1])
        except (LookupError, TypeError, ValueError):
            pass  # the call has failed, or returned something else; the sandbox does nothing either
        return Reply()

    def _call(self, step: Step) -> Reply:
        given: list[tuple[str | int, Any]] = [*enumerate(step.args), *step.kwargs.items()]
        arguments = {name: self._own(argument) for name, argument in given}
        made = self.made[step.number] = _Made(arguments, {name: copied(arg) for name, arg in arguments.items()})
        args = [value for name, value in arguments.items() if isinstance(name, int)]
        named = {name: value for name, value in arguments.items() if isinstance(name, str)}
        try:
            made.result = self.functions[step.target.function](*args, **named)
        except Exception as error:
            return Reply(error=Error(tuple(builtin_kinds(error)), str(error)[:300], "", 0, ""))
        changed = tuple(_changes(made)) if step.rules.pure else ()
        shared = step.rules.new and shares(made.result, tuple(arguments.values()))
        # A copy: a later call may write into the result.
        return Reply(copied(sendable(made.result, LIMIT)), changed, shared)

    def _own(self, value: Any) -> Any:
        if not isinstance(value, Kept):
            return copied(value)
        made, (first, *rest) = self.made[value.call], value.path
        found = made.result if first == "result" else made.arguments[first]
        for key in rest:
            found = found[key]
        return found


def builtin_kinds(error: BaseException) -> list[str]:
    """The built-in classes of an error by name, the most special first."""
    kinds = [cls.__name__ for cls in type(error).__mro__ if getattr(builtins, cls.__name__, None) is cls]
    return kinds or ["Exception"]


def _changes(made: _Made) -> Iterator[Change]:
    for number, (name, was) in enumerate(made.before.items()):
        yield from _between(number, (), made.arguments[name], was)


def _between(number: int, path: tuple[str | int, ...], now: Any, was: Any) -> Iterator[Change]:
    if type(now) is not type(was):
        yield Change(number, path, "replaced")
    elif isinstance(was, np.ndarray):
        if (now.shape, now.dtype) != (was.shape, was.dtype):
            yield Change(number, path, "dtype or shape")
        elif not _equal(now, was):
            yield Change(number, path, "entry written")
    elif isinstance(was, dict):
        if was.keys() - now.keys():
            yield Change(number, path, "key removed")
        if now.keys() - was.keys():
            yield Change(number, path, "key added")
        for key in (key for key in was if key in now):
            yield from _between(number, (*path, key), now[key], was[key])
    elif isinstance(was, list | tuple):
        if len(now) != len(was):
            yield Change(number, path, "length")
        for place, (one, other) in enumerate(zip(now, was, strict=False)):
            yield from _between(number, (*path, place), one, other)
    elif now is not was and now != was:
        yield Change(number, path, "replaced")


def _equal(now: "np.ndarray[Any, Any]", was: "np.ndarray[Any, Any]") -> bool:
    """Equal up to the rounding of a change that was made and undone."""
    unit = 16 * np.finfo(was.dtype).eps if was.dtype.kind == "f" else 0
    return now.tobytes() == was.tobytes() or bool(np.allclose(now, was, rtol=unit, atol=unit, equal_nan=True))
