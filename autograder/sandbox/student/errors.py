"""An exception in the student's code as plain data: built-in names, a text, and where in the student's files."""

import ast
import builtins
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from autograder.sandbox.student.calls import Absent

MAX_TEXT = 300  # characters
MAX_PASSED, MAX_NAME = 16, 64  # functions that an error is said to have passed through, and characters of their names
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
    file, line = _place(error.__traceback__, folder)
    hint = ""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        file, line = os.path.basename(error.filename), error.lineno or 0
    elif isinstance(error, TypeError) and function is not None and not _binds(function, args, kwargs or {}):
        hint = "signature"
    elif isinstance(error, Refused):
        hint = "refused"
    elif isinstance(error, Absent):
        hint = "absent"
    return (builtin_kinds(error), text_of(error), file, min(line, 10**6), hint, passed(error, folder))


def builtin_kinds(error: BaseException) -> list[str]:
    """The built-in classes of an error by name, the most special first."""
    classes = [cls for cls in type(error).__mro__ if issubclass(cls, BaseException)]
    kinds = [cls.__name__ for cls in classes if getattr(builtins, cls.__name__, None) is cls]
    return kinds or ["Exception"]


def text_of(error: BaseException) -> str:
    """The text of an error, cut; "" where even that raises an error."""
    try:
        return str(error.msg if isinstance(error, SyntaxError) else error)[:MAX_TEXT]
    except BaseException:
        return ""


def passed(error: BaseException, folder: str) -> list[str]:
    """The names of the functions in `folder` that an error passed through, as `described` gives them."""
    names, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(folder):
            names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    missing = [error.name] if isinstance(error, NameError) and isinstance(error.name, str) else []
    return [name[:MAX_NAME] for name in (*missing, *reversed(names))][:MAX_PASSED]


def _place(trace: TracebackType | None, folder: str) -> tuple[str, int]:
    place = ("", 0)
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(folder):
            place = (os.path.basename(name), trace.tb_lineno)
        trace = trace.tb_next
    return place


def loop(frame: FrameType | None, folder: str) -> tuple[str, int]:
    """File and line of the loop in which code in `folder` is running; ("", 0) where it is in none.

    It is the outermost one, a `while` before a `for`: where in a loop a call is interrupted is chance.
    """
    found: list[tuple[str, ast.While | ast.For]] = []
    while frame is not None:
        name, line = frame.f_code.co_filename, frame.f_lineno
        if name.startswith(folder):
            around = (node for node in _loops(name) if node.lineno <= line <= (node.end_lineno or 0))
            found += [(os.path.basename(name), node) for node in around]
        frame = frame.f_back
    chosen = [one for one in found if isinstance(one[1], ast.While)] or found
    return (chosen[-1][0], chosen[-1][1].lineno) if chosen else ("", 0)


@cache
def _loops(name: str) -> list[ast.While | ast.For]:
    """The loops of a file, the last first: a file is read once, however many frames lead through it."""
    try:
        nodes = ast.walk(ast.parse(Path(name).read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return []
    loops = [node for node in nodes if isinstance(node, ast.While | ast.For)]
    return sorted(loops, key=lambda node: -node.lineno)


def _binds(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # a function without a signature that Python knows
        pass
    return True
