"""Messages between the grader and an untrusted process: plain data and raw arrays in MessagePack, over a socket.

Nothing is unpickled. Messages are bounded in size, count and nesting, and anything unexpected raises WireError. A value
that is not plain data is sent as an Opaque with a word of OPAQUE_KINDS, so that no text from student code gets into a
message.
"""

import math
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import msgpack
import numpy as np

from autograder.values.tree import Opaque

_NAMES = "? int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
DTYPES = [np.dtype(name) for name in _NAMES.split()]
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
OPAQUE_KINDS = (
    "an ndarray subclass", "an array of objects", "a complex array", "an array of text", "an unsupported array",
    "a list", "a tuple", "a dict", "a set", "a generator", "a function", "a class", "text", "bytes", "None", "a complex number",
    "an object of another type", "something too large to send", "something nested too deeply", "a very large integer",
)  # fmt: skip
MAX_NESTING = 12  # containers within containers
MAX_VALUES = 4_000  # values in one message, an array counts as one
MAX_AXES = 16
MAX_EXTENT = 2**40  # entries of an array, each axis of length zero counted as one
MAX_FROM_STUDENT = 2**20  # bytes of a message from a student's process; decoding it may take seventy times as much
_CONTAINERS, _KEYS = (list, tuple, dict), (str, int, float, bool, type(None))
_SHAPES = [struct.Struct(f"<{axes}q") for axes in range(MAX_AXES + 1)]
_ARRAY, _SCALAR, _OPAQUE, _HANDLE, _KEPT, _BY_COLUMNS = range(6)  # MessagePack's extension types


class WireError(Exception):
    """An invalid or unexpected message."""


class Disconnected(WireError):
    """The other side closed the connection."""


class Fault(WireError):
    """The other side reports an error in its own code, of this kind."""

    def __init__(self, kind: str, text: str):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


TUPLE = Opaque("a tuple")  # a list that begins with this arrives as a tuple of the rest


@dataclass(frozen=True)
class CallbackHandle:
    """A callback argument: its code, or the number by which the student's process calls it in the grader (callbacks.py)."""

    id: int
    code: bytes = b""


@dataclass(frozen=True)
class Kept:
    """An object alive in the student's process: the result or an argument of call `call`, or a part of it.

    path[0] is "result", or the position or the keyword of an argument; further items lead into tuples, lists and dicts.
    """

    call: int
    path: tuple[str | int, ...]


def encode(value: Any, from_grader: bool = False) -> bytes:
    """Encode None, bool, int, float, str, arrays, and lists, tuples (which arrive as lists, see TUPLE) and dicts of them.

    The grader's column-major arrays stay column-major; all others arrive row-major. Raises WireError for anything else.
    """
    try:
        extend = partial(_extend, by_columns=from_grader)
        data: bytes = msgpack.packb(value, default=extend, unicode_errors="replace")
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(str(error)) from None
    return data


def marked(value: Any) -> Any:
    """The value with its tuples marked, so that they arrive as tuples."""
    if isinstance(value, tuple):
        return [TUPLE, *map(marked, value)]
    if isinstance(value, list):
        return [marked(part) for part in value]
    return {key: marked(part) for key, part in value.items()} if isinstance(value, dict) else value


def _extend(value: Any, by_columns: bool = False) -> msgpack.ExtType:
    if by_columns and isinstance(value, np.ndarray) and value.flags.fnc:
        return msgpack.ExtType(_BY_COLUMNS, _extend(value.T).data)
    if type(value) is np.ndarray or isinstance(value, np.generic):
        kind = _ARRAY if type(value) is np.ndarray else _SCALAR
        return msgpack.ExtType(kind, _head(value.dtype, value.shape) + value.tobytes())
    if isinstance(value, Opaque):
        return msgpack.ExtType(_OPAQUE, bytes([OPAQUE_KINDS.index(value.kind)]))
    if isinstance(value, CallbackHandle):
        return msgpack.ExtType(_HANDLE, struct.pack("<q", value.id) + value.code)
    if isinstance(value, Kept):
        return msgpack.ExtType(_KEPT, msgpack.packb([value.call, *value.path]))
    raise TypeError(f"{type(value).__name__} cannot be sent")


@lru_cache(1024)
def _head(dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> bytes:
    if dtype not in CODES or len(shape) > MAX_AXES:
        raise TypeError(f"an array of {dtype} cannot be sent")
    return bytes((CODES[dtype], len(shape))) + _SHAPES[len(shape)].pack(*shape)


def decode(data: bytes, from_grader: bool = False) -> Any:
    """Decode `data`; raises WireError unless it is exactly one well-formed value.

    Only the grader sends kept objects and callbacks. The values in its messages are not counted.
    """
    try:
        value = msgpack.unpackb(
            data,
            ext_hook=_extended_by_grader if from_grader else _extended,
            list_hook=_listed,
            strict_map_key=False,
            unicode_errors="replace",
            max_array_len=MAX_VALUES,
            max_map_len=MAX_VALUES,
        )
    except (ValueError, TypeError, struct.error, msgpack.UnpackException, RecursionError) as error:
        raise WireError(f"not a message: {type(error).__name__}") from None
    if not from_grader:
        _counted(value, MAX_NESTING, MAX_VALUES)
    return value


def message_of(data: bytes) -> list[Any]:
    """A message of a student's process: a list that begins with a word. Raises WireError for anything else."""
    parts = decode(data)
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        raise WireError("not a message")
    return parts


def _listed(parts: list[Any]) -> Any:
    return tuple(parts[1:]) if parts and type(parts[0]) is Opaque and parts[0] == TUPLE else parts


def _counted(value: Any, depth: int, left: int) -> int:
    """The number of values that a message may still contain after this one."""
    left -= 1
    if type(value) in _CONTAINERS:
        if depth == 0 or len(value) > left:
            raise WireError("nested too deeply or too many values")
        if type(value) is dict and not all(type(key) in _KEYS for key in value):
            raise WireError("a key that nobody sends")
        for part in value.values() if type(value) is dict else value:
            left = _counted(part, depth - 1, left)
    return left


def count(value: Any) -> int:
    """The number of values of a decoded message, including containers."""
    return MAX_VALUES - _counted(value, MAX_NESTING, MAX_VALUES)


def _extended(kind: int, data: bytes) -> Any:
    if kind == _ARRAY:
        return _array(data)
    if kind == _SCALAR:
        return _array(data)[()]
    if kind == _OPAQUE and len(data) == 1 and data[0] < len(OPAQUE_KINDS):
        return Opaque(OPAQUE_KINDS[data[0]])
    raise ValueError("an unknown kind")


def _extended_by_grader(kind: int, data: bytes) -> Any:
    if kind == _HANDLE:
        return CallbackHandle(struct.unpack_from("<q", data)[0], data[8:])
    if kind == _BY_COLUMNS:
        return _array(data).T
    if kind != _KEPT:
        return _extended(kind, data)
    call, *path = msgpack.unpackb(data, max_ext_len=0, max_map_len=0, max_array_len=MAX_NESTING)
    if type(call) is not int or not path or not all(type(step) in (str, int) for step in path):
        raise ValueError("not a kept object")
    return Kept(call, tuple(path))


def _array(data: bytes) -> "np.ndarray[Any, Any]":
    start = 2 + 8 * data[1] if len(data) > 1 else 0
    dtype, shape, size = _form(data[:start])
    if len(data) - start != size:
        raise ValueError("the number of entries does not match the shape")
    if dtype.kind == "b" and data[start:].strip(b"\0\1"):
        raise ValueError("a boolean that is neither 0 nor 1")
    return np.ndarray(shape, dtype, data, start).copy()


def extent(shape: tuple[int, ...]) -> int:
    """The number of entries, with axes of length zero counted as one: NumPy rejects widening an empty array of 2**62 rows."""
    return math.prod(filter(None, shape))


@lru_cache(1024)
def _form(head: bytes) -> "tuple[np.dtype[Any], tuple[int, ...], int]":
    """The dtype, the shape and the number of bytes of an array with this header."""
    code, ndim = head[:2] if head else (len(DTYPES), 0)
    if code >= len(DTYPES) or ndim > MAX_AXES:
        raise ValueError("an unknown dtype or too many axes")
    shape = _SHAPES[ndim].unpack(head[2:])
    if ndim and (min(shape) < 0 or extent(shape) > MAX_EXTENT):
        raise ValueError("an impossible shape")
    return DTYPES[code], shape, math.prod(shape) * DTYPES[code].itemsize


def kind(message: bytes) -> str:
    """The first word of one of our messages (a short list, a short string), without decoding the rest."""
    return message[2 : 2 + (message[1] & 31)].decode("ascii", "replace") if len(message) > 1 else ""


# Messages over a socket, each preceded by its size

PIECE = 65_536  # bytes read at once
SHORTEST = 0.001  # seconds of a timeout; 0 would mean not to wait at all
# Called before waiting, and after waiting in vain (True). Returns the seconds to wait, and may raise TimeoutError.
Check = Callable[[bool], float]
_SIZE = struct.Struct("<I")


class Connection:
    """One end of a connection: messages over a socket, each preceded by its size."""

    def __init__(self, own_end: socket.socket, limit: int):
        """Messages have at most `limit` bytes."""
        self.socket, self.limit = own_end, limit
        self.buffer, self.at = b"", 0  # received bytes, and the number of consumed ones

    def send(self, *payloads: bytes, check: Check | None = None) -> None:
        """Send messages. Raises Disconnected if the other side is gone, WireError if it sends instead of receiving."""
        data = memoryview(b"".join([part for payload in payloads for part in (_SIZE.pack(len(payload)), payload)]))
        while data:
            data = data[self._tried(self.socket.send, data, check) or 0 :]
            if check is not None and data and not self.is_silent():
                raise WireError("a message that nobody requested")

    def receive(self, check: Check | None = None) -> bytes:
        """Receive one message. Raises Disconnected or WireError if there is none."""
        self._fill(_SIZE.size, check)
        size = _SIZE.unpack_from(self.buffer, self.at)[0]
        if _SIZE.size + size > self.limit:
            raise WireError("a message over the size limit")  # before it takes up memory
        self._fill(_SIZE.size + size, check)
        start, self.at = self.at + _SIZE.size, self.at + _SIZE.size + size
        return self.buffer[start : self.at]

    def _fill(self, size: int, check: Check | None) -> None:
        """Read until there are at least `size` unread bytes."""
        got = len(self.buffer) - self.at
        if got >= size:
            return
        pieces = [self.buffer[self.at :]]
        while got < size:
            piece = self._tried(self.socket.recv, max(PIECE, size - got), check)
            if piece == b"":
                raise Disconnected("closed")
            if piece is not None:
                pieces.append(piece)
                got += len(piece)
        self.buffer, self.at = b"".join(pieces), 0

    def _tried(self, function: Callable[[Any], Any], argument: Any, check: Check | None) -> Any:
        """Send or receive a piece; None if that was not possible until the next check."""
        if check is not None:
            self.socket.settimeout(max(check(False), SHORTEST))
        try:
            return function(argument)
        except TimeoutError:
            if check is not None:
                check(True)
            return None
        except OSError as error:
            raise Disconnected(str(error)) from None

    def is_silent(self) -> bool:
        """Whether nothing has arrived, not even the end of the connection."""
        self.socket.settimeout(0)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def close(self) -> None:
        self.socket.close()
