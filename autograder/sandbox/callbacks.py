"""Callback arguments: functions that a test passes to the student's function, such as the `f` of `dependency_matrix`.

They are sent as code and run in the student's process, where a call costs no more than on the student's machine. A function
with data, such as a mask in a closure, could reveal the answer, so it is rejected when the test is recorded. Code is never
sent back.
"""

import builtins
import marshal
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

ALLOWED = "a function argument may use only its own arguments, built-in names and NumPy as `np`"


def packed(function: Callable[..., Any]) -> bytes:
    """The function's code. Raises TypeError if it uses anything but its arguments, built-in names and NumPy as `np`."""
    if type(function) is not types.FunctionType:
        raise TypeError(f"{function!r} is not a Python function: write a lambda")
    code, space = function.__code__, function.__globals__
    names = [name for name in sorted(_names(code)) if name in space and not (name == "np" and space[name] is np)]
    if names or code.co_freevars or function.__defaults__ or function.__kwdefaults__:
        used = [f"`{name}`" for name in (*names, *code.co_freevars)] or ["default values"]
        raise TypeError(f"{ALLOWED}, but {function.__name__} uses {', '.join(used)}")
    return _dumped(_nameless(code))


@cache
def _dumped(code: types.CodeType) -> bytes:
    """The code as bytes; equal code has equal bytes, although marshal's depend on the number of references to its parts."""
    return marshal.dumps(code)


def unpacked(code: bytes) -> Callable[..., Any]:
    """The packed function, as a new object for each call, so that earlier calls cannot have changed it."""
    return types.FunctionType(marshal.loads(code), {"np": np, "__builtins__": builtins})


def _names(code: types.CodeType) -> set[str]:
    """All names that the code looks up as globals or attributes, including inner functions."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _nameless(code: types.CodeType) -> types.CodeType:
    """The code without the names and lines of the test that defines it."""
    inner = tuple(_nameless(part) if isinstance(part, types.CodeType) else part for part in code.co_consts)
    return code.replace(co_filename="", co_name="f", co_qualname="f", co_firstlineno=1, co_consts=inner)
