"""Calls trusted code (references, misconceptions) in this process, observed exactly as a student's process observes a student's.

For the diagnosis and for the benchmark's floor; a student's code never comes near this.
"""

from collections.abc import Callable
from typing import Any

from autograder.sandbox import child
from autograder.sandbox.messages import Error, Reply
from autograder.sandbox.plain import copied, differing, sendable, shares

LIMIT = 8 * 2**20


def observe(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]) -> Reply:
    """What a student's process would have replied if this were the student's function."""
    args = tuple(copied(arg) for arg in args)
    kwargs = {name: copied(arg) for name, arg in kwargs.items()}
    before = [(arg, copied(arg)) for arg in (*args, *kwargs.values())] if "pure" in checks else []
    try:
        value = function(*args, **kwargs)
    except Exception as error:
        kinds = child.builtin_kinds(error)
        return Reply(error=Error(tuple(kinds), str(error)[: child.MAX_TEXT], "", 0, ""))
    return Reply(sendable(value, LIMIT), tuple(differing(before)), "new" in checks and shares(value, args))
