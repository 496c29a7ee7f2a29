"""Converts values that leave a student's process to plain data, and checks whether they share memory."""

from typing import Any

import numpy as np

from autograder.sandbox import wire
from autograder.values.tree import Opaque, arrays, describe


def sendable(value: Any, limit: int) -> Any:
    """The value as plain data of less than half of `limit` bytes, or an Opaque that says what it is."""
    sent = type(value) is np.ndarray and value.dtype in wire.CODES and value.ndim <= wire.MAX_AXES
    if sent and 0 < value.nbytes < limit // 2 - 64:
        return value  # nearly all values
    try:
        plain = _plain(value, wire.MAX_NESTING - 2)
        return plain if _size(plain) < limit // 2 else Opaque("something too large to send")
    except RecursionError:
        return Opaque("something nested too deeply")
    except BaseException:
        return Opaque("an object of another type")


def _plain(value: Any, depth: int) -> Any:
    if depth == 0:
        return Opaque("something nested too deeply")
    kind = type(value)
    if kind is np.ndarray:
        return value if value.dtype in wire.CODES and value.ndim <= wire.MAX_AXES else _array_opaque(value)
    if isinstance(value, np.ndarray):
        return Opaque("an ndarray subclass")
    if value is None or kind in (bool, float):
        return value
    if kind is int:
        return value if -(2**63) <= value < 2**63 else Opaque("a very large integer")
    if isinstance(value, str):
        return str.__str__(value)[:10_000]  # also for a member of an Enum, or NumPy's str
    if isinstance(value, np.generic):
        if value.dtype == np.longdouble:
            return np.float64(value)
        return value if value.dtype in wire.CODES else _array_opaque(np.asarray(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple | list):
        if len(value) > wire.MAX_VALUES // 4:
            return Opaque("something too large to send")
        parts = [_plain(part, depth - 1) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict) and all(isinstance(key, str) or type(key) in _KEYS for key in value):
        if len(value) > wire.MAX_VALUES // 4:
            return Opaque("something too large to send")
        return {str.__str__(k) if isinstance(k, str) else k: _plain(part, depth - 1) for k, part in value.items()}
    name = describe(value)
    return Opaque(name if name in wire.OPAQUE_KINDS else "an object of another type")


_KEYS = (int, float, bool, type(None))


def _array_opaque(value: "np.ndarray[Any, Any]") -> Any:
    if value.ndim <= wire.MAX_AXES and (value.dtype == np.longdouble or value.dtype.newbyteorder("=") in wire.CODES):
        return value.astype(np.float64 if value.dtype == np.longdouble else value.dtype.newbyteorder("="))
    kinds = {"O": "an array of objects", "c": "a complex array", "U": "an array of text", "S": "an array of text"}
    return Opaque(kinds.get(value.dtype.kind, "an unsupported array"))


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return wire.extent(value.shape) * value.itemsize + 64
    if isinstance(value, tuple | list):
        return 16 + sum(_size(part) for part in value)
    if isinstance(value, dict):
        return 16 + sum(_size(part) + 64 for part in value.values())
    return 4 * len(value) + 16 if isinstance(value, str) else 16


def shares(value: Any, args: tuple[Any, ...]) -> bool:
    """Whether an array of the result shares memory with an argument."""
    return any(np.shares_memory(a, b) for a in arrays(value) for b in arrays(args))
