"""Uploaded beside every attack: what several of them do to the wire."""

import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

import msgpack


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


def reply(*message: Any) -> None:
    """Answer the grader in the worker's place, and end before the worker can."""
    for wire in wires():
        wire.sendall(pack(message))
    os._exit(0)
