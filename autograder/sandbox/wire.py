"""Messages between the grader and an untrusted process: plain data in MessagePack, over a socket.

Plain data are None, bools, numbers, text, bytes, arrays, and lists, tuples, sets and dicts of them. Each arrives as it was
sent. Nothing is unpickled. Messages are bounded in size, count and nesting, and anything that no side sends raises
WireError. A value of a student that is not plain data is sent as an Opaque with a word of OPAQUE_KINDS.
"""

import builtins
import marshal
import math
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any

import msgpack
import numpy as np

from autograder.exceptions import Disconnected, WireError
from autograder.shared.tree import Opaque, describe

_NAMES = "? int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
DTYPES = [np.dtype(name) for name in _NAMES.split()]
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
OPAQUE_KINDS = (
    "an ndarray subclass", "an array of objects", "a complex array", "an array of text", "an unsupported array", "a dict",
    "a set", "a generator", "a function", "a class", "a complex number", "an object of another type",
    "something too large to send", "something nested too deeply", "a very large integer",
)  # fmt: skip
MAX_NESTING = 12  # containers within containers
MAX_VALUES = 4_000  # values in one message, an array counts as one
MAX_HASHED = 1_001  # keys of a dict, elements of a set: equal hashes cost the square of their number
MAX_BITS = 14_000  # of an integer: Python prints no larger ones
MAX_AXES = 16
MAX_EXTENT = 2**40  # entries of an array, each axis of length zero counted as one
MAX_FROM_STUDENT = 2**20  # bytes of a message from a student's process; decoding it may take seventy times as much
_KEYS = {type(None), bool, int, float, str, bytes, *(dtype.type for dtype in DTYPES)}
_LEAVES = _KEYS | {np.ndarray, Opaque}
_SHAPES = [struct.Struct(f"<{axes}q") for axes in range(MAX_AXES + 1)]


@dataclass(frozen=True)
class Handle:
    """Refers to an object alive in the student's process: the result or an argument of call `call`, or a part of it.

    path[0] is "result", or the position or the keyword of an argument; further items lead into tuples, lists and dicts.
    """

    call: int
    path: tuple[str | int, ...]


# MessagePack's extension types. A list that begins with a mark arrives as a value of that class.
_ARRAY, _SCALAR, _BY_COLUMNS, _INTEGER, _OPAQUE, _FUNCTION, _MARK = range(7)
_MARKS = {cls: msgpack.ExtType(_MARK, bytes([number])) for number, cls in enumerate((tuple, set, frozenset, Handle))}


def encode(value: Any) -> bytes:
    """Encode plain data; raises WireError for anything else.

    The grader also sends functions, as code, and handles. Column-major arrays stay column-major.
    """
    try:
        data: bytes = msgpack.packb(value, default=_extended, strict_types=True, unicode_errors="surrogatepass")
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(str(error)) from None
    return data


def _extended(value: Any) -> Any:
    """Return a value that MessagePack does not have, in the form that it is sent."""
    kind = type(value)
    if kind is np.ndarray or isinstance(value, np.generic):
        if value.flags.fnc:
            return msgpack.ExtType(_BY_COLUMNS, _extended(value.T).data)
        head = _head(value.dtype, value.shape)
        return msgpack.ExtType(_ARRAY if kind is np.ndarray else _SCALAR, head + value.tobytes())
    if isinstance(value, (tuple, set, frozenset)):
        return [_MARKS.get(kind) or next(mark for cls, mark in _MARKS.items() if isinstance(value, cls)), *value]
    if isinstance(value, int) and value.bit_length() < MAX_BITS:
        return msgpack.ExtType(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
    if kind is Handle:
        return [_MARKS[Handle], value.call, *value.path]
    if kind is Opaque:
        return msgpack.ExtType(_OPAQUE, bytes([OPAQUE_KINDS.index(value.kind)]))
    if callable(value):
        return msgpack.ExtType(_FUNCTION, packed(value))
    plain: tuple[Any, ...] = (dict, list, str, float, bytes)
    for cls in plain:
        if isinstance(value, cls):  # of a subclass
            return cls(value)
    raise TypeError(f"{kind.__name__} cannot be sent")


@lru_cache(1024)
def _head(dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> bytes:
    if dtype not in CODES or len(shape) > MAX_AXES:
        raise TypeError(f"an array of {dtype} cannot be sent")
    return bytes((CODES[dtype], len(shape))) + _SHAPES[len(shape)].pack(*shape)


def decode(data: bytes) -> Any:
    """Decode a message of the grader, which may contain handles and functions. Raises WireError."""
    return _unpacked(data, _BY_STUDENT)


def received(data: bytes) -> tuple[Any, int]:
    """Decode a message of a student's process; returns it and the number of its values, including containers.

    Raises WireError unless it is exactly one well-formed value, within the limits, without anything that nobody sends.
    """
    value = _unpacked(data, _BY_GRADER)
    return value, _counted(value, MAX_NESTING, MAX_VALUES)


def _unpacked(data: bytes, hooks: Mapping[str, Any]) -> Any:
    try:
        return msgpack.unpackb(data, strict_map_key=False, unicode_errors="surrogatepass", **hooks)
    except (ValueError, TypeError, LookupError, struct.error, msgpack.UnpackException, RecursionError) as error:
        raise WireError(f"not a message: {type(error).__name__}") from None


def _listed(parts: list[Any]) -> Any:
    cls: Any = parts[0] if parts else None
    if type(cls) is not type:
        return parts
    return Handle(parts[1], tuple(parts[2:])) if cls is Handle else cls(parts[1:])


def _listed_by_grader(parts: list[Any]) -> Any:
    if len(parts) > MAX_HASHED and type(parts[0]) is type and parts[0] is not tuple:
        raise ValueError("too many elements")
    return _listed(parts)


def _integer(data: bytes) -> int:
    if len(data) > MAX_BITS // 8:
        raise ValueError("an integer that nobody sends")
    return int.from_bytes(data, "little", signed=True)


def _counted(value: Any, depth: int, limit: int) -> int:
    """Return the number of values, at most `limit`; raises WireError if there is one that nobody sends."""
    kind, total = type(value), 1
    if kind not in _LEAVES:
        if kind not in (list, tuple, dict, set, frozenset):
            raise WireError("a value that nobody sends")
        if depth == 0:
            raise WireError("nested too deeply")
        if kind not in (list, tuple) and not all(map(is_key, value)):
            raise WireError("a key that nobody sends")
        for element in value.values() if kind is dict else value:
            total += 1 if type(element) in _LEAVES else _counted(element, depth - 1, limit - total)
    if total > limit:
        raise WireError("too many values")
    return total


def is_key(value: Any) -> bool:
    """Whether a value can be a key of a dict or an element of a set."""
    return all(map(is_key, value)) if type(value) in (tuple, frozenset) else type(value) in _KEYS


def _array(data: bytes) -> "np.ndarray[Any, Any]":
    start = 2 + 8 * data[1] if len(data) > 1 else 0
    dtype, shape, size = _form(data[:start])
    if len(data) - start != size:
        raise ValueError("the number of entries does not match the shape")
    if dtype.kind == "b" and data[start:].strip(b"\0\1"):
        raise ValueError("a boolean that is neither 0 nor 1")
    return np.ndarray(shape, dtype, data, start).copy()


def extent(shape: tuple[int, ...]) -> int:
    """Return the number of entries, axes of length zero counted as one: NumPy rejects widening an empty array of 2**62 rows."""
    return math.prod(filter(None, shape))


@lru_cache(1024)
def _form(head: bytes) -> "tuple[np.dtype[Any], tuple[int, ...], int]":
    """Return the dtype, the shape and the number of bytes of an array with this header."""
    code, ndim = head[:2] if head else (len(DTYPES), 0)
    if code >= len(DTYPES) or ndim > MAX_AXES:
        raise ValueError("an unknown dtype or too many axes")
    shape = _SHAPES[ndim].unpack(head[2:])
    if ndim and (min(shape) < 0 or extent(shape) > MAX_EXTENT):
        raise ValueError("an impossible shape")
    return DTYPES[code], shape, math.prod(shape) * DTYPES[code].itemsize


# Callback arguments: functions that a test passes to the student's function, such as the `f` of `dependency_matrix`.
#
# They are sent as code and run in the student's process, where a call costs no more than on the student's machine. A function
# with data, such as a mask in a closure, could reveal the answer, so it is rejected when the test is recorded. Code is never
# sent back.

ALLOWED = "a function argument may use only its own arguments, built-in names and NumPy as `np`"


def packed(function: Callable[..., Any]) -> bytes:
    """Return the function's code. Raises TypeError if it uses anything but its arguments, built-in names and NumPy as `np`."""
    if type(function) is not FunctionType:
        raise TypeError(f"{function!r} is not a Python function: write a lambda")
    code, space = function.__code__, function.__globals__
    names = [name for name in sorted(_names(code)) if name in space and not (name == "np" and space[name] is np)]
    if names or code.co_freevars or function.__defaults__ or function.__kwdefaults__:
        used = [f"`{name}`" for name in (*names, *code.co_freevars)] or ["default values"]
        raise TypeError(f"{ALLOWED}, but {function.__name__} uses {', '.join(used)}")
    # Without the names and lines of the test that defines it.
    return _dumped(renamed(code, co_filename="", co_name="f", co_qualname="f", co_firstlineno=1))


@cache
def _dumped(code: CodeType) -> bytes:
    """Return the code as bytes; equal code has equal bytes, although marshal's depend on the number of references to its parts."""
    return marshal.dumps(code)


def unpacked(code: bytes) -> Callable[..., Any]:
    """Return the packed function, as a new object for each call, so that earlier calls cannot have changed it."""
    return FunctionType(marshal.loads(code), {"np": np, "__builtins__": builtins})


def _names(code: CodeType) -> set[str]:
    """Return all names that the code looks up as globals or attributes, including inner functions."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def renamed(code: CodeType, **fields: Any) -> CodeType:
    """Return the code, also of inner functions, with these fields instead of its own."""
    inner = tuple(
        renamed(constant, **fields) if isinstance(constant, CodeType) else constant for constant in code.co_consts
    )
    return code.replace(co_consts=inner, **fields)


# How each side decodes messages. The readers of extension types raise LookupError or ValueError for data that nobody sends.

_READERS: dict[int, Callable[[bytes], Any]] = {
    _ARRAY: _array,
    _SCALAR: lambda data: _array(data)[()],
    _BY_COLUMNS: lambda data: _array(data).T,
    _INTEGER: _integer,
    _OPAQUE: {bytes([number]): Opaque(kind) for number, kind in enumerate(OPAQUE_KINDS)}.__getitem__,
    _MARK: {mark.data: cls for cls, mark in _MARKS.items() if cls is not Handle}.__getitem__,
}
_FROM_GRADER = _READERS | {_FUNCTION: unpacked, _MARK: {mark.data: cls for cls, mark in _MARKS.items()}.__getitem__}
_BY_STUDENT: dict[str, Any] = {"ext_hook": lambda kind, data: _FROM_GRADER[kind](data), "list_hook": _listed}
_BY_GRADER: dict[str, Any] = {
    "ext_hook": lambda kind, data: _READERS[kind](data),
    "list_hook": _listed_by_grader,
    "max_array_len": MAX_VALUES,
    "max_map_len": MAX_HASHED,
}


# Any value of a student as plain data


def sendable(value: Any, limit: int) -> Any:
    """Return the value as plain data of less than half of `limit` bytes, or an Opaque that describes it."""
    sent = type(value) is np.ndarray and value.dtype in CODES and value.ndim <= MAX_AXES
    if sent and 0 < value.nbytes < limit // 2 - 64:
        return value  # nearly all values
    try:
        plain = _plain(value, MAX_NESTING - 2)
        return plain if _size(plain) < limit // 2 else Opaque("something too large to send")
    except BaseException:
        return Opaque("an object of another type")


def _plain(value: Any, depth: int) -> Any:
    if depth == 0:
        return Opaque("something nested too deeply")
    kind = type(value)
    if kind is np.ndarray:
        return value if value.dtype in CODES and value.ndim <= MAX_AXES else _array_opaque(value)
    if isinstance(value, np.ndarray):
        return Opaque("an ndarray subclass")
    if value is None or kind in (bool, float):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # also for a member of an Enum, or NumPy's str
    if isinstance(value, bytes):
        return bytes(memoryview(value))
    if isinstance(value, np.generic):
        if value.dtype == np.longdouble:
            return np.float64(value)
        return value if value.dtype in CODES else _array_opaque(np.asarray(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() < MAX_BITS else Opaque("a very large integer")
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple | list | dict | set | frozenset):
        if len(value) > MAX_VALUES // 4:
            return Opaque("something too large to send")
        parts = [_plain(element, depth - 1) for element in value]
        if isinstance(value, tuple | list):
            return tuple(parts) if isinstance(value, tuple) else parts
        if not all(map(is_key, parts)):
            return Opaque(describe(value))
        if isinstance(value, dict):
            return dict(zip(parts, [_plain(element, depth - 1) for element in value.values()], strict=True))
        return set(parts) if isinstance(value, set) else frozenset(parts)
    name = describe(value)
    return Opaque(name if name in OPAQUE_KINDS else "an object of another type")


def _array_opaque(value: "np.ndarray[Any, Any]") -> Any:
    if value.ndim <= MAX_AXES and (value.dtype == np.longdouble or value.dtype.newbyteorder("=") in CODES):
        return value.astype(np.float64 if value.dtype == np.longdouble else value.dtype.newbyteorder("="))
    kinds = {"O": "an array of objects", "c": "a complex array", "U": "an array of text", "S": "an array of text"}
    return Opaque(kinds.get(value.dtype.kind, "an unsupported array"))


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return extent(value.shape) * value.itemsize + 64
    if isinstance(value, dict):
        return 16 + sum(_size(key) + _size(element) + 32 for key, element in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return 16 + sum(_size(element) for element in value)
    if isinstance(value, int):
        return 16 + value.bit_length() // 8
    return 4 * len(value) + 16 if isinstance(value, str | bytes) else 16


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
        data = memoryview(b"".join([piece for payload in payloads for piece in (_SIZE.pack(len(payload)), payload)]))
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
