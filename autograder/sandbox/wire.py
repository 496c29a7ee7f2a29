"""What travels between grader and student: plain data and raw arrays in MessagePack.

Nothing is ever unpickled. Whatever arrives is bounded in size, count and nesting, and anything unexpected raises WireError.
A value that is not plain data travels as an Oddity: a word from ODDITIES, so that a message about it contains nothing that
the student's code chose.
"""

import itertools
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

DTYPES = [
    np.dtype(kind)
    for kind in (
        "?",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    )
]
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
ODDITIES = (
    "an ndarray subclass", "an array of objects", "a complex array", "an array of text", "an array of another kind",
    "a list", "a tuple", "a dict", "a set", "a generator", "a function", "a class", "text", "bytes", "None", "a complex number",
    "an object of another type", "something too large to send", "something nested too deeply", "a very large integer",
)  # fmt: skip
DEPTH = 12
COUNT = 4_000  # values in one message, an array counts as one
FROM_STUDENT = 2**20  # bytes of a message to the grader; while it is decoded it may take seventy times as much
NDIM = 16
CHUNK = 65_536
HEADER = struct.Struct("<I")
SHAPES = [struct.Struct(f"<{ndim}q") for ndim in range(NDIM + 1)]
_ARRAY, _SCALAR, _ODDITY, _HANDLE = range(4)


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


@dataclass(frozen=True)
class Kept:
    """An object of an earlier call."""

    call: int
    path: tuple[Any, ...]


def encode(value: Any, other: Callable[[Any], Any] | None = None) -> bytes:
    """Bytes for None, bool, int, float, str, arrays, and lists, tuples (which arrive as lists) and dicts of them.

    `other` says what to send for anything else.
    """

    def extend(value: Any) -> Any:
        return other(value) if other is not None and callable(value) else _extend(value)

    try:
        data: bytes = msgpack.packb(value, default=extend if other else _extend, unicode_errors="replace")
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(str(error)) from None
    return data


def _extend(value: Any) -> msgpack.ExtType:
    if isinstance(value, (np.ndarray, np.generic)):
        code = CODES.get(value.dtype)
        plain = type(value) is np.ndarray
        if code is None or value.ndim > NDIM or (not plain and not isinstance(value, np.generic)):
            raise TypeError(f"an array of {value.dtype} cannot be sent")
        head = bytes((code, value.ndim)) + SHAPES[value.ndim].pack(*value.shape)
        body = value.data if plain and value.flags.c_contiguous else value.tobytes()
        return msgpack.ExtType(_ARRAY if plain else _SCALAR, head + body)
    if isinstance(value, Oddity):
        return msgpack.ExtType(_ODDITY, bytes([ODDITIES.index(value.kind)]))
    if isinstance(value, Kept):
        return msgpack.ExtType(_HANDLE, repr(value).encode())
    if isinstance(value, Handle):
        return msgpack.ExtType(_HANDLE, struct.pack("<q", value.id))
    raise TypeError(f"{type(value).__name__} cannot be sent")


def decode(data: bytes) -> Any:
    """The value in `data`; WireError if it is anything else than exactly one well-formed value."""
    seen = itertools.count(1)
    try:
        value = msgpack.unpackb(
            data,
            ext_hook=lambda kind, raw: _extended(kind, raw, next(seen)),
            strict_map_key=False,
            unicode_errors="replace",
            max_array_len=COUNT,
            max_map_len=COUNT,
        )
    except (ValueError, TypeError, struct.error, msgpack.UnpackException, RecursionError) as error:
        raise WireError(f"not a message: {type(error).__name__}") from None
    _counted(value, DEPTH, COUNT)
    return value


def _counted(value: Any, depth: int, left: int) -> int:
    """How many more values a message may hold after this one."""
    left -= 1
    if type(value) is list or type(value) is dict:
        if depth == 0 or len(value) > left:
            raise WireError("nested too deeply or too many values")
        for part in value.values() if type(value) is dict else value:
            left = _counted(part, depth - 1, left)
    return left


def _extended(kind: int, data: bytes, number: int) -> Any:
    if number > COUNT:
        raise ValueError("too many arrays")
    if kind in (_ARRAY, _SCALAR):
        array = _array(data)
        return array if kind == _ARRAY else array[()]
    if kind == _ODDITY and len(data) == 1 and data[0] < len(ODDITIES):
        return Oddity(ODDITIES[data[0]])
    if kind == _HANDLE:
        return Handle(*struct.unpack("<q", data))
    raise ValueError("an unknown kind")


def _array(data: bytes) -> "np.ndarray[Any, Any]":
    code, ndim = data[:2] if len(data) > 1 else (len(DTYPES), 0)
    if code >= len(DTYPES) or ndim > NDIM:
        raise ValueError("an unknown dtype or too many axes")
    shape, start = SHAPES[ndim].unpack_from(data, 2), 2 + 8 * ndim
    if ndim and min(shape) < 0:
        raise ValueError("an impossible shape")
    if code == 0 and data[start:].strip(b"\0\1"):
        raise ValueError("a boolean that is neither 0 nor 1")
    if start == len(data) and ndim:
        return np.empty((0,), DTYPES[code]).reshape(shape)
    return np.frombuffer(data, DTYPES[code], offset=start).reshape(shape).copy()


class Line:
    """One end of the wire: whole messages over a socket."""

    def __init__(self, connection: socket.socket, limit: int, look: float | None = None):
        """Messages of at most `limit` bytes; after every `look` seconds of silence `receive` looks at the clock."""
        self.connection, self.limit, self.look = connection, limit, look
        self.buffer, self.at = b"", 0  # what has arrived, and how far it is read
        connection.settimeout(look)

    def send(self, *payloads: bytes, patience: float | None = None) -> None:
        """Send messages; Gone if nobody listens any more, TimeoutError after `patience` seconds."""
        data = b"".join([part for payload in payloads for part in (HEADER.pack(len(payload)), payload)])
        large = len(data) > CHUNK
        try:
            if large:
                self.connection.settimeout(patience)
            self.connection.sendall(data)
        except TimeoutError:
            raise
        except OSError as error:
            raise Gone(str(error)) from None
        finally:
            if large:
                self.connection.settimeout(self.look)

    def receive(self, check: Callable[[], None] | None = None) -> bytes:
        """One message; Gone or WireError where there is none.

        After silence, and every time that a message comes in pieces, `check` may raise TimeoutError.
        """
        self._fill(HEADER.size, check)
        size = HEADER.unpack_from(self.buffer, self.at)[0]
        if HEADER.size + size > self.limit:
            raise WireError("a message over the size limit")
        self._fill(HEADER.size + size, check)
        start, self.at = self.at + HEADER.size, self.at + HEADER.size + size
        return self.buffer[start : self.at]

    def _fill(self, size: int, check: Callable[[], None] | None) -> None:
        """Have at least `size` bytes that are not read yet."""
        got = len(self.buffer) - self.at
        if got >= size:
            return
        pieces = [self.buffer[self.at :]]
        while got < size:
            try:
                piece = self.connection.recv(max(CHUNK, size - got))
                if not piece:
                    raise Gone("closed")
                pieces.append(piece)
                got += len(piece)
            except TimeoutError:
                pass
            except OSError as error:
                raise Gone(str(error)) from None
            if got < size and check is not None:
                check()
        self.buffer, self.at = b"".join(pieces), 0

    def close(self) -> None:
        self.connection.close()
