"""Plays the steps of a script on trusted functions in this process: references, and versions of them made wrong on purpose.

A student's code never comes near this.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.grading.judge import judged
from autograder.grading.record import Record, Step
from autograder.grading.recorder import copied
from autograder.sandbox.messages import Error, Reply
from autograder.sandbox.plain import differing, sendable, shares
from autograder.sandbox.wire import Kept

LIMIT = 2**23  # bytes of a value; far more than any step has
Functions = Mapping[str, Callable[..., Any]]


@dataclass
class _Played:
    """A call that has been made: its arguments by position and by name, copies of them from before the call, and the result."""

    arguments: dict[int | str, Any]
    before: dict[int | str, Any]
    result: Any = None

    def changed(self) -> tuple[int, ...]:
        return tuple(differing([(value, self.before[key]) for key, value in self.arguments.items()]))


def play(steps: Iterable[Step], functions: Functions) -> list[Record]:
    """The records of these steps; `functions` are those of "<module>.<function>" that the steps call."""
    steps = tuple(steps)
    return judged(steps, _replies(steps, functions))


def _replies(steps: Iterable[Step], functions: Functions) -> Iterator[Reply]:
    played: dict[int, _Played] = {}
    for step in steps:
        if step.kind == "call":
            function = functions[f"{step.target.module}.{step.target.function}"]
            played[step.number], reply = _called(function, step, played)
            yield reply
        elif step.kind == "changes":
            yield Reply(changed=played[step.about].changed())
        elif step.kind == "look":
            yield Reply(copied(sendable(_found(step.args[0], played), LIMIT)))
        else:
            _write(_found(step.args[0], played), step.args[1])
            yield Reply()


def _called(function: Callable[..., Any], step: Step, played: Mapping[int, _Played]) -> tuple[_Played, Reply]:
    args = [_given(value, played) for value in step.args]
    kwargs = {name: _given(value, played) for name, value in step.kwargs.items()}
    arguments: dict[int | str, Any] = dict(enumerate(args))
    arguments.update(kwargs)
    call = _Played(arguments, copied(arguments))
    try:
        call.result = function(*args, **kwargs)
    except Exception as error:
        kinds = tuple(cls.__name__ for cls in type(error).__mro__ if issubclass(cls, Exception))
        return call, Reply(error=Error(kinds, str(error), "", 0, ""))
    changed = call.changed() if step.rules.pure else ()
    shared = step.rules.new and shares(call.result, tuple(arguments.values()))
    return call, Reply(copied(sendable(call.result, LIMIT)), changed, shared)


def _given(value: Any, played: Mapping[int, _Played]) -> Any:
    return _found(value, played) if isinstance(value, Kept) else copied(value)


def _found(kept: Kept, played: Mapping[int, _Played]) -> Any:
    """An object of an earlier call, None where it is not there."""
    call, (first, *rest) = played[kept.call], kept.path
    value = call.result if first == "result" else call.arguments[first]
    for key in rest:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _write(array: Any, value: Any) -> None:
    """What a caller does who writes into an array; nothing where there is no such array that can be written."""
    fits = (
        isinstance(array, np.ndarray)
        and array.shape == value.shape
        and np.can_cast(value.dtype, array.dtype, "same_kind")
    )
    if fits and array.flags.writeable:
        np.copyto(array, value, casting="same_kind")
