"""What travels between grader and student: plain data and raw arrays in a small binary format.

Nothing is ever unpickled. Whatever arrives is bounded in size, count and nesting before anything is allocated for it, and
anything unexpected raises WireError. A value that is not plain data travels as an Oddity: a word from ODDITIES, so that a
message about it contains nothing that the student's code chose.
"""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = [
    np.dtype(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
]
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
ODDITIES = (
    "an ndarray subclass", "an array of objects", "a complex array", "an array of text", "an array of another kind",
    "a list", "a tuple", "a dict", "a set", "a generator", "a function", "a class", "text", "bytes", "None", "a complex number",
    "an object of another type", "something too large to send", "something nested too deeply", "a very large integer",
)  # fmt: skip
DEPTH = 12
COUNT = 20_000
NDIM = 16
HEADER = struct.Struct("<I")
_INT = struct.Struct("<q")
_FLOAT = struct.Struct("<d")


class WireError(Exception):
    """What arrived is not a message, or came at the wrong time."""


class Gone(WireError):
    """The other side has closed the connection."""


@dataclass(frozen=True)
class Oddity:
    """A value that is not plain data, by kind."""

    kind: str


@dataclass(frozen=True)
class Handle:
    """A function of the other side."""

    id: int


def encode(value: Any) -> bytes:
    """Bytes for None, bool, int, float, str, arrays, and lists, tuples and dicts of them."""
    parts: list[bytes] = []
    _encode(value, parts, DEPTH)
    return b"".join(parts)


def _encode(value: Any, parts: list[bytes], depth: int) -> None:
    if depth == 0:
        raise WireError("nested too deeply")
    kind = type(value)
    if kind is np.ndarray:
        parts.append(b"a" + _array(value))
    elif value is None:
        parts.append(b"N")
    elif kind is bool:
        parts.append(b"T" if value else b"F")
    elif kind is int:
        parts.append(b"i" + _INT.pack(value))
    elif kind is float:
        parts.append(b"d" + _FLOAT.pack(value))
    elif kind is str:
        raw = value.encode("utf-8", "replace")
        parts.append(b"s" + HEADER.pack(len(raw)) + raw)
    elif kind is tuple or kind is list:
        parts.append((b"t" if kind is tuple else b"l") + HEADER.pack(len(value)))
        for part in value:
            _encode(part, parts, depth - 1)
    elif kind is dict:
        parts.append(b"m" + HEADER.pack(len(value)))
        for key, part in value.items():
            _encode(key, parts, depth - 1)
            _encode(part, parts, depth - 1)
    elif kind is Oddity:
        parts.append(b"o" + bytes([ODDITIES.index(value.kind)]))
    elif kind is Handle:
        parts.append(b"f" + _INT.pack(value.id))
    elif isinstance(value, np.generic) and value.dtype in CODES:
        parts.append(b"n" + _array(np.asarray(value)))
    else:
        raise WireError(f"{kind.__name__} cannot be sent")


def _array(value: "np.ndarray[Any, Any]") -> bytes:
    code = CODES.get(value.dtype)
    if code is None or value.ndim > NDIM:
        raise WireError(f"an array of {value.dtype} cannot be sent")
    return bytes([code, value.ndim]) + struct.pack(f"<{value.ndim}q", *value.shape) + value.tobytes()


def decode(data: bytes) -> Any:
    """The value in `data`; WireError if it is anything else than exactly one well-formed value."""
    reader = _Reader(data)
    value = reader.value(DEPTH)
    if reader.at != len(data):
        raise WireError("bytes left over")
    return value


class _Reader:
    def __init__(self, data: bytes):
        self.data, self.at, self.count = data, 0, 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise WireError("a message ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def length(self) -> int:
        size: int = HEADER.unpack(self.take(4))[0]
        return size

    def value(self, depth: int) -> Any:
        self.count += 1
        if depth == 0 or self.count > COUNT:
            raise WireError("nested too deeply or too many parts")
        tag = self.take(1)
        if tag == b"a":
            return self.array()
        if tag == b"n":
            return self.array()[()]
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag == b"i":
            return _INT.unpack(self.take(8))[0]
        if tag == b"d":
            return _FLOAT.unpack(self.take(8))[0]
        if tag == b"s":
            return self.take(self.length()).decode("utf-8", "replace")
        if tag in b"tl":
            parts = [self.value(depth - 1) for _ in range(self.length())]
            return tuple(parts) if tag == b"t" else parts
        if tag == b"m":
            return {self.key(depth): self.value(depth - 1) for _ in range(self.length())}
        if tag == b"o":
            return Oddity(self.choice())
        if tag == b"f":
            return Handle(_INT.unpack(self.take(8))[0])
        raise WireError("an unknown tag")

    def key(self, depth: int) -> Any:
        key = self.value(depth - 1)
        if not isinstance(key, str | int | float | bool | None):
            raise WireError("a key that is not plain")
        return key

    def choice(self) -> str:
        code = self.take(1)[0]
        if code >= len(ODDITIES):
            raise WireError("an unknown kind")
        return ODDITIES[code]

    def array(self) -> "np.ndarray[Any, Any]":
        code, ndim = self.take(2)
        if code >= len(DTYPES) or ndim > NDIM:
            raise WireError("an unknown dtype or too many axes")
        shape = struct.unpack(f"<{ndim}q", self.take(8 * ndim))
        size = DTYPES[code].itemsize
        for length in shape:
            if not 0 <= length <= len(self.data):
                raise WireError("an impossible shape")
            size *= length
        raw = self.take(size)
        if code == 0 and raw.strip(b"\0\1"):
            raise WireError("a boolean that is neither 0 nor 1")
        return np.frombuffer(bytearray(raw), DTYPES[code]).reshape(shape)


_CONSTANTS: dict[bytes, Any] = {b"N": None, b"T": True, b"F": False}


def send(connection: socket.socket, payload: bytes, patience: float | None = None) -> None:
    """Send one message; Gone if nobody listens any more, TimeoutError after `patience` seconds."""
    try:
        connection.settimeout(patience)
        connection.sendall(HEADER.pack(len(payload)) + payload)
    except TimeoutError:
        raise
    except OSError as error:
        raise Gone(str(error)) from None


def receive(
    connection: socket.socket, limit: int, look: float | None = None, check: Callable[[], None] | None = None
) -> bytes:
    """One message of at most `limit` bytes; Gone or WireError where there is none.

    After every `look` seconds of silence, and every time that a message comes in pieces, `check` may raise TimeoutError.
    """
    connection.settimeout(look)
    size = HEADER.unpack(_exactly(connection, HEADER.size, check))[0]
    if size > limit:
        raise WireError("a message over the size limit")
    return _exactly(connection, size, check)


def _exactly(connection: socket.socket, size: int, check: Callable[[], None] | None) -> bytes:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        try:
            got = connection.recv_into(view[at:])
        except TimeoutError:
            got = -1
        except OSError as error:
            raise Gone(str(error)) from None
        if got == 0:
            raise Gone("closed")
        at += max(got, 0)
        if at < size and check is not None:
            check()
    return bytes(data)
