"""Calls trusted code (references, misconceptions) in this process, observed exactly as a student's process observes a student's.

For the diagnosis and for the benchmark's floor; a student's code never comes near this.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.sandbox import child
from autograder.sandbox.process import Error, Reply

LIMIT = 8 * 2**20


def observe(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]) -> Reply:
    """What a student's process would have replied if this were the student's function."""
    args = tuple(copied(arg) for arg in args)
    kwargs = {name: copied(arg) for name, arg in kwargs.items()}
    before = [(arg, child.fingerprint(arg)) for arg in (*args, *kwargs.values())] if "pure" in checks else []
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value = function(*args, **kwargs)
    except Exception as error:
        kinds = tuple(cls.__name__ for cls in type(error).__mro__)
        return Reply(error=Error(kinds, str(error)[: child.MAX_TEXT], "", 0, ""))
    return Reply(child.sendable(value, LIMIT), tuple(child.differing(before)), "new" in checks and child.shares(value, args))


def copied(value: Any) -> Any:
    """The value with arrays of its own, as if it had crossed the wire."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return type(value)(copied(part) for part in value) if type(value) in (list, tuple) else value
