"""Calls trusted code (references, known mistakes) in this process, observed exactly as a student's process observes a student's.

A student's code never comes near this.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.messages import Change, Error, Reply
from autograder.sandbox.student.calls import Absent, Calls
from autograder.sandbox.student.changes import Difference
from autograder.sandbox.student.errors import builtin_kinds, text_of
from autograder.sandbox.student.values import copied
from autograder.sandbox.wire import Kept

LIMIT = wire.MAX_FROM_STUDENT


class Direct:
    """The counterpart of one student process: it keeps the objects of numbered calls, too."""

    def __init__(self, lent: Mapping[int, Callable[..., Any]] | None = None):
        """`lent` are the functions behind the handles among the arguments."""
        known = lent or {}
        self._calls = Calls(LIMIT, lambda handle: known[handle.id])

    def call(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        checks: Sequence[str] = (),
        number: int = 0,
    ) -> Reply:
        """What a student's process would have replied if this were the student's function; arguments are copied first."""
        own = {name: copied(value) for name, value in (kwargs or {}).items()}
        try:
            observed = self._calls.call(function, [copied(value) for value in args], own, checks, number)
        except Exception as error:
            return Reply(error=_error(error))
        return Reply(observed.value, _changes(observed.changed), observed.shared)

    def changes(self, number: int) -> Reply:
        """How the arguments of an earlier call differ by now."""
        return Reply(changed=_changes(self._calls.changes(number)))

    def look(self, kept: Kept) -> Reply:
        """What a kept object holds now."""
        try:
            return Reply(self._calls.look(kept))
        except Absent as error:
            return Reply(error=_error(error))

    def write(self, kept: Kept, value: Any) -> Reply:
        """Overwrite a kept array."""
        self._calls.write(kept, value)
        return Reply()


def observe(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    checks: Sequence[str] = (),
) -> Reply:
    """One call alone."""
    return Direct().call(function, args, kwargs, checks)


def _error(error: Exception) -> Error:
    return Error(tuple(builtin_kinds(error)), text_of(error), "", 0, "absent" if isinstance(error, Absent) else "")


def _changes(found: list[Difference]) -> tuple[Change, ...]:
    return tuple(Change(*difference) for difference in found)
