"""Callback arguments: functions that a test passes to the student's function, such as the `f` of `dependency_matrix`.

A callback that needs only NumPy is sent as code and runs in the student's process, where a call costs no more than
on the student's machine. A callback with data (a mask in a closure) may reveal the answer, so it stays in the grader:
the student's process sends the arguments, the grader calls the function and returns its result. Code is never sent
back.

    ["callback", number, arguments]     -> ["returned", value] or ["refused", built-in name of an error, text]
"""

import builtins
import marshal
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from autograder.sandbox import wire
from autograder.values.tree import arrays, leaves

MAX_CALLS = 25_000  # callbacks of one call; the contract allows 20,000
# Array entries in the arguments of one callback. The costliest callbacks compare every row with every other one; with this limit,
# they make an array of at most 32 MB.
MAX_ENTRIES = 2_000
MAX_LEAVES = 100
_RAISED: dict[str, type[Exception]] = {kind.__name__: kind for kind in (ValueError, TypeError, MemoryError)}


def packed(function: Callable[..., Any]) -> bytes:
    """The function's code; b"" if it uses anything but its arguments, built-in names and NumPy as `np`."""
    variables = ("__closure__", "__defaults__", "__kwdefaults__")
    if type(function) is not types.FunctionType or any(getattr(function, name) for name in variables):
        return b""
    space = {name: value for name, value in function.__globals__.items() if not (name == "np" and value is np)}
    return b"" if _names(function.__code__) & space.keys() else _dumped(_nameless(function.__code__))


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


def answered(message: bytes, functions: Mapping[int, Callable[..., Any]], limit: int) -> bytes:
    """In the grader: call the function that a student's process requests. Raises WireError for any other message.

    The answer has at most `limit` bytes.
    """
    match wire.message_of(message):
        case ["callback", int() as number, list() as args]:
            function = functions.get(number)
        case _:
            raise wire.WireError("not a callback")
    kind, why = "ValueError", "the result is larger than anything that grading uses"
    if function is None:
        why = "this function is not an argument of this call"
    elif sum(array.size for array in arrays(args)) > MAX_ENTRIES or sum(1 for _ in leaves(args)) > MAX_LEAVES:
        why = "the arguments are larger than anything that grading uses"
    else:
        try:
            answer = wire.encode(("returned", function(*args)))
            if len(answer) <= limit:
                return answer
        except Exception as error:
            kind = next((name for name, cls in _RAISED.items() if isinstance(error, cls)), "TypeError")
            why = "the function argument does not allow these arguments"
    return wire.encode(("refused", kind, why))


class Remote:
    """In the student's process: calls functions in the grader, from any thread, but only during the call that received them."""

    def __init__(self, send: Callable[[bytes], None], receive: Callable[[], bytes]):
        self._send, self._receive = send, receive
        self.lock = threading.Lock()  # held by the thread that may use the connection
        self.current = 0  # the number of the current call

    def begin(self) -> None:
        """A call begins or has ended: from now on, callbacks of earlier calls are rejected."""
        with self.lock:
            self.current += 1

    def function(self, handle: wire.CallbackHandle) -> Callable[..., Any]:
        """The function of a callback argument of the current call."""
        if handle.code:
            return unpacked(handle.code)
        call = self.current

        def callback(*args: Any) -> Any:
            message = wire.encode(("callback", handle.id, [_plain(arg) for arg in args]))
            with self.lock:
                if call != self.current:
                    raise RuntimeError("this function was used after the call that it belonged to")
                self._send(message)
                answer = wire.decode(self._receive(), from_grader=True)
            match answer:
                case ["returned", value]:
                    return value
                case [_, kind, text]:
                    raise _RAISED.get(kind, TypeError)(text)
            raise wire.WireError("not an answer")

        return callback


def _plain(value: Any) -> Any:
    """An argument in the form that is sent: array-likes and sequences of numbers become plain arrays."""
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        array = np.asarray(value)
        if array.dtype not in wire.CODES or array.nbytes > wire.MAX_FROM_STUDENT // 2:
            raise ValueError("the arguments are larger than anything that grading uses, or of another kind")
        return array
    return value
