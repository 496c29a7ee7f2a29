"""Calls a function and observes it: its value, what became of its arguments, whether the result shares their memory.

Used on the student's functions in the student's process, and on trusted ones in the grader's, so that both are observed alike.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.sandbox.messages import Reply
from autograder.sandbox.student.values import sendable, shares
from autograder.sandbox.wire import Handle, Kept
from autograder.values.changes import Change, Snapshot
from autograder.values.tree import mapped


class Absent(LookupError):
    """An object of an earlier call that was not kept: its call raised an error, or returned something of another form."""


@dataclass
class KeptCall:
    """The very objects of one call."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    snapshot: Snapshot
    returned: bool = False
    result: Any = None


class Calls:
    """Calls functions and keeps the objects of those calls that have a number."""

    def __init__(self, limit: int, lent: Callable[[Handle], Callable[..., Any]]):
        """Values of half of `limit` bytes or more are reported as too large; `lent` gives the function behind a handle."""
        self.limit, self.lent = limit, lent
        self._kept: dict[int, KeptCall] = {}

    def call(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        checks: Sequence[str] = (),
        number: int = 0,
    ) -> Reply:
        """Call a function with these very objects, and observe what `checks` say.

        In place of each `Kept` stands the kept object, in place of each `Handle` the function. "pure": which arguments have
        changed; "new": whether the result shares memory with an argument. A `number` keeps the objects for later. Raises
        Absent, and whatever the function raises.
        """
        args, kwargs = mapped(self._resolved, tuple(args)), mapped(self._resolved, kwargs)
        snapshot = Snapshot((*args, *kwargs.values())) if number or "pure" in checks else None
        if number and snapshot is not None:
            self._kept[number] = KeptCall(args, kwargs, snapshot)
        value = function(*args, **kwargs)
        if number:
            self._kept[number].returned, self._kept[number].result = True, value
        changed = tuple(snapshot.differences()) if snapshot is not None and "pure" in checks else ()
        shared = "new" in checks and shares(value, (*args, *kwargs.values()))
        return Reply(sendable(value, self.limit), changed, shared)

    def changes(self, number: int) -> list[Change]:
        """How the arguments of an earlier call differ by now from what they were before it."""
        return self._kept[number].snapshot.differences() if number in self._kept else []

    def look(self, kept: Kept) -> Any:
        """What a kept object holds now; raises Absent."""
        return sendable(self._resolved(kept), self.limit)

    def write(self, kept: Kept, value: Any) -> None:
        """Overwrite a kept array in place; nothing happens where it is no writable array of that shape."""
        with suppress(Absent, TypeError, ValueError):
            target = self._resolved(kept)
            if isinstance(target, np.ndarray) and target.flags.writeable and target.shape == np.shape(value):
                np.copyto(target, value)

    def _resolved(self, value: Any) -> Any:
        """The kept object or the function that a leaf stands for."""
        if type(value) is Kept:
            return self._find(value)
        return self.lent(value) if type(value) is Handle else value

    def _find(self, kept: Kept) -> Any:
        call, first = self._kept.get(kept.call), kept.path[0]
        if call is None or (first == "result" and not call.returned):
            raise Absent(f"nothing is kept of call {kept.call}")
        try:
            found: Any = (
                call.result if first == "result" else call.args[first] if isinstance(first, int) else call.kwargs[first]
            )
            for step in kept.path[1:]:
                if type(found) not in (list, dict) and not isinstance(found, tuple):
                    raise LookupError
                found = found[step]
        except (LookupError, TypeError):
            raise Absent(f"call {kept.call} has nothing there") from None
        return found
