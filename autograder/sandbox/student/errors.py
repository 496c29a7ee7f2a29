"""An exception in the student's code as plain data: built-in names, a text, and where in the student's files."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.sandbox.student.calls import Absent
from autograder.values.errors import builtin_kinds, passed, place, text_of

ErrorTuple = tuple[list[str], str, str, int, str, list[str]]


class Refused(Exception):
    """A question of the student's code was not answered."""


def described(
    error: BaseException,
    folder: str,
    function: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> ErrorTuple:
    """(kinds, text, file, line, hint, passed) of an error; the place is the last line in `folder` that it passed through.

    `passed` are the names of the functions in `folder` that it passed through, from the one that raised it outwards; before
    them the name that a NameError did not find.
    The hint is "signature" where `function` cannot be called with these arguments at all, "refused" where a question
    was not answered, "absent" where an argument is an object that was not kept.
    """

    def own(name: str) -> bool:
        return name.startswith(folder)

    file, line = place(error.__traceback__, own)
    hint = ""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        file, line = os.path.basename(error.filename), error.lineno or 0
    elif isinstance(error, TypeError) and function is not None and not _binds(function, args, kwargs or {}):
        hint = "signature"
    elif isinstance(error, Refused):
        hint = "refused"
    elif isinstance(error, Absent):
        hint = "absent"
    return (builtin_kinds(error), text_of(error), file, min(line, 10**6), hint, passed(error, own))


def _binds(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # a function without a signature that Python knows
        pass
    return True
