"""Values on their way out of a student's process: as plain data, compared with what they were, copied."""

import inspect
from typing import Any

import numpy as np

from autograder.sandbox import wire


def sendable(value: Any, limit: int) -> Any:
    """The value as plain data, or an Oddity that says what it is instead."""
    if (
        type(value) is np.ndarray
        and value.dtype in wire.CODES
        and value.nbytes < limit // 2 - 64
        and value.ndim <= wire.NDIM
    ):
        return value  # nearly all values
    try:
        plain = _plain(value, wire.DEPTH - 2)
        return plain if _size(plain) < limit // 2 else wire.Oddity("something too large to send")
    except RecursionError:
        return wire.Oddity("something nested too deeply")
    except BaseException:
        return wire.Oddity("an object of another type")


def _plain(value: Any, depth: int) -> Any:
    if depth == 0:
        return wire.Oddity("something nested too deeply")
    kind = type(value)
    if kind is np.ndarray:
        return value if value.dtype in wire.CODES and value.ndim <= wire.NDIM else _array_oddity(value)
    if isinstance(value, np.ndarray):
        return wire.Oddity("an ndarray subclass")
    if value is None or kind in (bool, float):
        return value
    if kind is int:
        return value if -(2**63) <= value < 2**63 else wire.Oddity("a very large integer")
    if isinstance(value, str):
        return str.__str__(value)[:10_000]  # also where it is a member of an Enum, or NumPy's
    if isinstance(value, np.generic):
        return _scalar(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple | list):
        if len(value) > wire.COUNT // 4:
            return wire.Oddity("something too large to send")
        parts = [_plain(part, depth - 1) for part in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict) and all(isinstance(key, str) or type(key) in _KEYS for key in value):
        if len(value) > wire.COUNT // 4:
            return wire.Oddity("something too large to send")
        return {_key(key): _plain(part, depth - 1) for key, part in value.items()}
    return wire.Oddity(_kind(value))


_KEYS = (int, float, bool, type(None))


def _key(key: Any) -> Any:
    return str.__str__(key) if isinstance(key, str) else key


def _scalar(value: "np.generic[Any]") -> Any:
    if value.dtype == np.longdouble:
        return np.float64(value)
    return value if value.dtype in wire.CODES else _array_oddity(np.asarray(value))


def _array_oddity(value: "np.ndarray[Any, Any]") -> Any:
    if value.ndim <= wire.NDIM and (value.dtype == np.longdouble or value.dtype.newbyteorder("=") in wire.CODES):
        return value.astype(np.float64 if value.dtype == np.longdouble else value.dtype.newbyteorder("="))
    kinds = {"O": "an array of objects", "c": "a complex array", "U": "an array of text", "S": "an array of text"}
    return wire.Oddity(kinds.get(value.dtype.kind, "an array of another kind"))


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "a class"
    if inspect.isgenerator(value):
        return "a generator"
    names: dict[type, str] = {
        dict: "a dict",
        set: "a set",
        frozenset: "a set",
        bytes: "bytes",
        complex: "a complex number",
    }
    for cls, name in names.items():
        if isinstance(value, cls):
            return name
    return "a function" if callable(value) else "an object of another type"


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes + 64
    if isinstance(value, tuple | list):
        return 16 + sum(_size(part) for part in value)
    if isinstance(value, dict):
        return 16 + sum(_size(part) + 64 for part in value.values())
    return 4 * len(value) + 16 if isinstance(value, str) else 16


def _arrays(value: Any) -> list["np.ndarray[Any, Any]"]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [a for part in value for a in _arrays(part)] if isinstance(value, tuple | list) else []


def shares(value: Any, args: tuple[Any, ...]) -> bool:
    """Whether any array of the result lies in the memory of an argument."""
    return any(np.shares_memory(a, b) for a in _arrays(value) for b in _arrays(args))


def copied(value: Any) -> Any:
    """The value with arrays of its own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return type(value)(copied(part) for part in value) if type(value) in (list, tuple) else value


def differing(before: list[tuple[Any, Any]]) -> list[int]:
    """The positions of the arguments that are not what they were."""
    return [number for number, (argument, was) in enumerate(before) if not _same(argument, was)]


def _same(now: Any, was: Any) -> bool:
    """Equal up to the rounding of a change that was made and undone."""
    if type(now) is not type(was):
        return False
    if isinstance(was, np.ndarray):
        if now.shape != was.shape or now.dtype != was.dtype:
            return False
        if now.tobytes() == was.tobytes():
            return True
        unit = 16 * np.finfo(was.dtype).eps if was.dtype.kind == "f" else 0
        return bool(np.allclose(now, was, rtol=unit, atol=unit, equal_nan=True))
    if isinstance(was, dict):
        return list(now) == list(was) and all(_same(now[key], was[key]) for key in was)
    if isinstance(was, list | tuple):
        return len(now) == len(was) and all(map(_same, now, was))
    return now is was or now == was
