"""The answering process: reference functions, and functions that a test lends, for questions from student processes.

It runs trusted code on whatever a student's code sends, so it is confined like a student's process: no files, no network,
bounded memory, and its processor time counts for the submission. It is not the grader, so it needs no guess about the work that
a question will cause, and cannot take the grader with it. It knows nothing of submissions and remembers nothing.
"""

import contextlib
import gc
import inspect
import os
import pickle
import signal
import socket
import struct
import sys
import time
import types
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from autograder.sandbox import layers, wire
from autograder.sandbox.connection import Connection
from autograder.sandbox.layers import Confinement, landlock, resources
from autograder.sandbox.wire import Handle
from autograder.values.kinds import Opaque

MAX_REQUEST = 65_536  # bytes
# What may be asked: functions by "<module>.<function>", and lent ones by the number of their handle.
Answers = Mapping[Any, Callable[..., Any]]
END, ANSWER = b"end", struct.Struct("<d")


class Refusal(Exception):
    """A question that is not answered; kind and text go to the student's code."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


def _ends_after(seconds: float) -> None:
    """End this process after so many seconds of processor time; 0: do not."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


class AnsweringProcess:
    """What runs in the process: answers the grader's relayed questions one within the other."""

    def __init__(self, connection: Connection, answers: Answers, max_seconds: float):
        self.connection, self.answers, self.max_seconds = connection, answers, max_seconds

    def serve(self) -> None:
        """Answer until the grader hangs up."""
        while True:
            try:
                question = self.connection.receive()
            except wire.Gone:
                return
            # The grader kills this process at a deadline; if the grader itself is killed, this ends it.
            _ends_after(self.max_seconds)
            answer = self.answer(question)
            _ends_after(0)
            self.connection.send(answer)

    def answer(self, question: bytes) -> bytes:
        """The answer to one question, encoded."""
        try:
            _, target, args, kwargs = wire.decode(question)
            value = self._value(self._function(target), args, kwargs, checked=isinstance(target, str))
            same = [number for number, argument in enumerate(args) if argument is value]
            answer = wire.encode(("same", same[0]) if same else ("answer", value))
        except Refusal as refusal:
            return wire.encode(("refused", refusal.kind, str(refusal)))
        except wire.WireError:
            return wire.encode(("refused", "TypeError", "the arguments or the answer cannot be sent"))
        except MemoryError:  # the value has room, its copy on the wire has none
            return wire.encode(("refused", "MemoryError", "the answer needs more than a submission has"))
        if len(answer) > self.connection.limit - wire.MAX_NESTING:
            return wire.encode(("refused", "ValueError", "the answer is larger than anything that grading uses"))
        return answer

    def _function(self, target: str | Handle) -> Callable[..., Any]:
        function = self.answers.get(target if isinstance(target, str) else target.id)
        if function is None:
            raise Refusal("ValueError", "this function is not available here")
        return function

    def _value(self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], checked: bool) -> Any:
        name = getattr(function, "__name__", "") if checked else "the function argument"
        try:
            fitted, named = fitting(function, args, kwargs) if checked else (args, kwargs)
        except TypeError as error:
            raise Refusal("TypeError", str(error)) from None
        try:
            return function(*map(self._called_back, fitted), **{k: self._called_back(v) for k, v in named.items()})
        except (Refusal, wire.Gone):
            raise
        except MemoryError:
            raise Refusal("MemoryError", f"{name}: these arguments need more memory than a submission has") from None
        except ValueError:
            raise Refusal("ValueError", f"{name} does not allow these arguments") from None
        except Exception:
            raise Refusal("TypeError", f"{name} does not allow these arguments") from None

    def _called_back(self, value: Any) -> Any:
        """A function of the student's among the arguments, as a function that only ever returns an array."""
        if not isinstance(value, Handle):
            return value

        def call(*args: Any) -> Any:
            result = self._invoke(value, args)
            if not isinstance(result, np.ndarray):
                raise Refusal("TypeError", "the function that was passed did not return an array")
            return result

        return call

    def _invoke(self, handle: Handle, args: tuple[Any, ...]) -> Any:
        """Have a function of the student's called, and answer what it asks in the meantime."""
        self.connection.send(wire.encode(("invoke", handle, args)))
        while True:
            message = self.connection.receive()
            match wire.decode(message):
                case ["ask", *_]:
                    self.connection.send(self.answer(message))
                case ["returned", value, *_]:
                    return value
                case ["refused", kind, text]:
                    raise Refusal(kind, text)
                case _:
                    raise Refusal("ValueError", "the function that was passed raised an error")


# The arguments of a question are held to the signature of the trusted function that will answer it.


def fitting(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, where the function's signature and annotations allow them; lists of numbers count as arrays.

    A Python number stays one: with a float32 array it gives float32, as a float64 array would not.
    Raises TypeError with a text for the student.
    """
    signature, kinds = signature_of(function)
    name = getattr(function, "__name__", "the function")
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    for parameter, value in bound.arguments.items():
        if np.ndarray in kinds[parameter] and isinstance(value, list):
            value = bound.arguments[parameter] = _array(value)
        if not isinstance(value, kinds[parameter]):
            raise TypeError(f"{name}: the contract does not allow this kind of {parameter}")
    return bound.args, bound.kwargs


def _array(value: Any) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def parameters(function: Callable[..., Any]) -> list[list[Any]]:
    """What a stand-in of the function must know of it: the name of each parameter, and its default value if it has one."""
    declared = inspect.signature(function).parameters.values()
    return [[p.name] if p.default is p.empty else [p.name, p.default] for p in declared]


@cache
def signature_of(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, tuple[type, ...]]]:
    """The signature of a function, and what its annotations allow."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    return signature, {name: _kinds(hints.get(name, object)) for name in signature.parameters}


def _kinds(hint: Any) -> tuple[type, ...]:
    """The wire types that an annotation allows."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return tuple(kind for part in typing.get_args(hint) for kind in _kinds(part))
    table: dict[Any, tuple[type, ...]] = {
        np.ndarray: (np.ndarray, np.generic, int, float),
        Callable: (Handle,),
        int: (int, np.integer),
        float: (float, int, np.floating, np.integer),
        bool: (bool, np.bool_),
        list: (list, tuple),
        typing.Any: (object,),
    }
    return table.get(origin, (origin,) if isinstance(origin, type) and not issubclass(origin, Opaque) else (object,))


# The process


def run(own_end: socket.socket, answers: Callable[[], Answers], confinement: Confinement, seconds: float) -> None:
    """Be the answering process, in a process that was started for it. Never returns."""
    status = 1
    try:
        warnings.simplefilter("ignore")
        functions = answers()
        confinement = replace(confinement, memory=_address_space() + confinement.memory)
        rules = landlock.nothing() if confinement.has("landlock") else -1
        resources.close_all_but(own_end.fileno(), rules)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # not what the grader does on them
        layers.apply(confinement, rules)
        with np.errstate(all="ignore"):
            connection = Connection(own_end, confinement.message)
            connection.send(b"ready")
            AnsweringProcess(connection, functions, seconds).serve()
        status = 0
    finally:
        os._exit(status)  # whatever happens, the grader's own code is not run twice


def fork_on_request(control: socket.socket, answers: Callable[[], Answers]) -> None:
    """Fork one answering process at a time, in a process that was forked from the grader once. Never returns.

    The grader does not fork them itself: after a fork a process copies every page of its memory that it writes to, and the
    grader is large. What `run` needs besides, with a descriptor, is answered with the number of a new process; END, after it
    has ended the present one, with the processor time that this has used. Until then it was this process's child.
    """
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it ends with the grader
        resources.close_all_but(control.fileno())
        functions = answers()
        for name, function in functions.items():
            if isinstance(name, str):
                signature_of(function)
        gc.freeze()
        child, charged = 0, time.process_time()
        while True:
            request, own_ends, _, _ = socket.recv_fds(control, MAX_REQUEST, 1)
            if request == END:
                os.kill(child, signal.SIGKILL)
                used = os.wait4(child, 0)[2]
                now = time.process_time()  # what this process has spent on forking belongs to the submission too
                control.sendall(ANSWER.pack(used.ru_utime + used.ru_stime + now - charged))
                charged = now
            elif own_ends:
                child = os.fork()
                if child == 0:
                    run(socket.socket(fileno=own_ends[0]), lambda: functions, *pickle.loads(request))
                os.close(own_ends[0])
                control.sendall(ANSWER.pack(child))
            else:
                break
    finally:
        os._exit(0)  # whatever happens, the grader's own code is not run twice


def main() -> None:
    """Be the answering process where forking is unsafe: started anew, with the arguments of `run` on standard input."""
    run(socket.socket(fileno=int(sys.argv[2])), *pickle.load(sys.stdin.buffer))


def _address_space() -> int:
    """Bytes of address space that this process has already, 0 where the platform does not say."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0
