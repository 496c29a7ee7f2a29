"""Functions that a test lends, as data: one that needs nothing but NumPy runs in the student's process itself.

There a call costs what it costs at home; a question costs some thirty times as much. All other functions are asked for. A
function with variables of its own (a mask, a default value) is one of them, so that what is in these must be measured; so is one
that calls a function of the suite. Code travels from the grader to the student's process, never back.
"""

import builtins
import marshal
import types
from collections.abc import Callable
from typing import Any

import numpy as np

PLAIN = 2  # the version of the format that gives equal code equal bytes


def packed(function: Callable[..., Any]) -> bytes:
    """The function's code; b"" where it refers to anything but its arguments, built-in names and NumPy as `np`."""
    variables = ("__closure__", "__defaults__", "__kwdefaults__")
    if type(function) is not types.FunctionType or any(getattr(function, name) for name in variables):
        return b""
    space = {name: value for name, value in function.__globals__.items() if not (name == "np" and value is np)}
    return b"" if _names(function.__code__) & space.keys() else marshal.dumps(_nameless(function.__code__), PLAIN)


def unpacked(code: bytes) -> Callable[..., Any]:
    """The function that the grader has packed; each time another object, with nothing in it that an earlier call has left."""
    return types.FunctionType(marshal.loads(code), {"np": np, "__builtins__": builtins})


def _names(code: types.CodeType) -> set[str]:
    """All names that the code looks up as globals or attributes, also within its inner functions."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _nameless(code: types.CodeType) -> types.CodeType:
    """The code without what would tell of the test that it stands in."""
    inner = tuple(_nameless(part) if isinstance(part, types.CodeType) else part for part in code.co_consts)
    return code.replace(co_filename="", co_name="f", co_qualname="f", co_firstlineno=1, co_consts=inner)
