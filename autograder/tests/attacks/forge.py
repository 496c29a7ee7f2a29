"""Uploaded beside every attack: what several of them do to the wire, and to the code around them."""

import gc
import os
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import Any


def surrounding() -> Iterator[dict[str, Any]]:
    """The namespaces of all the code that has called this one, and of the objects that it uses."""
    frame = sys._getframe()
    while frame is not None:
        yield frame.f_globals
        frame = frame.f_back
    for thing in gc.get_objects():
        if str(type(thing).__module__).startswith("autograder."):
            for method in vars(type(thing)).values():
                if hasattr(method, "__globals__"):
                    yield method.__globals__


def all_fail(attempts: dict[str, Callable[[], object]]) -> None:
    """Make attempts, each of which has succeeded if it raises nothing."""
    for name, attempt in attempts.items():
        try:
            attempt()
        except (OSError, ValueError, ZeroDivisionError, AttributeError):
            continue
        raise RuntimeError(f"SUCCEEDED: {name}")


def all_fail_with(things: Iterable[Any], *attempts: Callable[[Any], object]) -> None:
    """Make attempts with each thing."""
    all_fail({f"{thing!r}, {n}": partial(attempt, thing) for thing in things for n, attempt in enumerate(attempts)})


def kit_folder() -> str:
    """Where the kit lies: its code stands around this one, and says so."""
    frame = sys._getframe()
    while os.path.basename(frame.f_code.co_filename) != "session.py" and frame.f_back is not None:
        frame = frame.f_back
    return os.path.dirname(os.path.dirname(os.path.dirname(frame.f_code.co_filename)))


def _found_msgpack() -> Any:
    """MessagePack, which cannot be imported here, from a module around this one that uses it."""
    for namespace in surrounding():
        for value in list(namespace.values()):
            if isinstance(value, ModuleType) and isinstance(vars(value).get("msgpack"), ModuleType):
                return value.msgpack
    raise RuntimeError("SUCCEEDED: no MessagePack around, so this attack would do nothing")


msgpack = _found_msgpack()


def wires() -> Iterator[socket.socket]:
    """Every socket that this process has."""
    for name in range(3, 64):
        try:
            yield socket.socket(fileno=os.dup(name))
        except OSError:
            pass


def pack(value: Any) -> bytes:
    """A message; bytes are taken as they are."""
    data = value if isinstance(value, bytes) else msgpack.packb(value)
    return struct.pack("<I", len(data)) + data


def response(*message: Any) -> None:
    """Answer the grader in the worker's place, and end before the worker can."""
    for wire in wires():
        wire.sendall(pack(message))
    os._exit(0)
