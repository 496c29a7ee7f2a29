"""Calls a function and observes its result, changes of its arguments, and whether the result shares their memory.

Used both for students' functions in their process and for trusted functions in the grader.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from autograder.sandbox import wire
from autograder.sandbox.protocol import Missing, Raised, Response
from autograder.sandbox.wire import Kept
from autograder.values.changes import Change, differences
from autograder.values.errors import builtin_kinds, is_circular, passed, place, text_of
from autograder.values.signatures import accepts, signatures
from autograder.values.tree import Opaque, arrays, copied, describe, mapped


class Absent(Raised, LookupError):
    """An object of an earlier call that does not exist: the call raised an error, or its result has a different structure."""

    def __init__(self) -> None:
        super().__init__(self)


class Calls:
    """Calls functions and keeps the objects of calls that have a number."""

    def __init__(self, limit: int):
        """Values of half of `limit` bytes or more are reported as too large."""
        self.limit = limit
        # By the number of the call: its objects by the first step of a `Kept`, and its arguments with copies made before it.
        self._objects: dict[int, dict[str | int, Any]] = {}
        self._arguments: dict[int, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}

    def call(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        checks: Sequence[str] = (),
        number: int = 0,
    ) -> Response:
        """Call a function with the observations in `checks`.

        Each `Kept` is replaced by the kept object. "pure": the arguments that changed; "new": whether the result shares
        memory with an argument. A `number` keeps the objects for later. Raises Raised for any exception of the
        function, and Absent.
        """
        args, kwargs = mapped(self._find, tuple(args)), mapped(self._find, kwargs)
        arguments = (*args, *kwargs.values())
        before = copied(arguments) if number or "pure" in checks else ()
        if number:
            self._arguments[number] = arguments, before
            self._objects[number] = dict(enumerate(arguments))
        try:
            value = function(*args, **kwargs)
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            raise Raised(error) from error
        if number:
            self._objects[number]["result"] = value
        changed = tuple(differences(arguments, before)) if "pure" in checks else ()
        shared = "new" in checks and shares(value, arguments)
        return Response(sendable(value, self.limit), changed, shared)

    def changes(self, number: int) -> tuple[Change, ...]:
        """The differences of the arguments of an earlier call from their values before it."""
        return tuple(differences(*self._arguments[number])) if number in self._arguments else ()

    def look(self, kept: Kept) -> Any:
        """The present value of a kept object; raises Absent."""
        return sendable(self._find(kept), self.limit)

    def write(self, kept: Kept, value: Any) -> None:
        """Overwrite a kept array in place; no effect unless it is a writable array of that shape."""
        with suppress(Absent, TypeError, ValueError):
            target = self._find(kept)
            if isinstance(target, np.ndarray) and target.flags.writeable and target.shape == np.shape(value):
                np.copyto(target, value)

    def _find(self, leaf: Any) -> Any:
        """The object that a `Kept` refers to; any other leaf itself."""
        if type(leaf) is not Kept:
            return leaf
        value: Any = self._objects.get(leaf.call, {})
        try:
            for step in leaf.path:
                if type(value) not in (list, dict) and not isinstance(value, tuple):
                    raise LookupError
                value = value[step]
        except (LookupError, TypeError):
            raise Absent from None
        return value


# An exception in the student's code as plain data: built-in names, text, and the place in the student's files


def described(
    error: BaseException,
    folder: str,
    function: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> list[Any]:
    """The fields of `Error`, of which the place is the last line in `folder` that the error passed through."""

    def own(name: str) -> bool:
        return name.startswith(folder)

    file, line = place(error.__traceback__, own)
    hint = ""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        file, line = os.path.basename(error.filename), error.lineno or 0
    elif isinstance(error, TypeError) and function is not None and not _binds(function, args, kwargs or {}):
        hint = "signature"
    elif isinstance(error, Absent | Missing):
        hint = type(error).__name__.lower()
    elif is_circular(error):
        hint = "circular"
    return [builtin_kinds(error), text_of(error, own), file, min(line, 10**6), hint, passed(error, own)]


def _binds(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    return all(accepts(signature, args, kwargs) for signature in signatures(function))


# Values that leave a student's process, as plain data


def sendable(value: Any, limit: int) -> Any:
    """The value as plain data of less than half of `limit` bytes, or an Opaque that describes it."""
    sent = type(value) is np.ndarray and value.dtype in wire.CODES and value.ndim <= wire.MAX_AXES
    if sent and 0 < value.nbytes < limit // 2 - 64:
        return value  # nearly all values
    try:
        plain = _plain(value, wire.MAX_NESTING - 2)
        return plain if _size(plain) < limit // 2 else Opaque("something too large to send")
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
    if isinstance(value, str):
        return str.__str__(value)  # also for a member of an Enum, or NumPy's str
    if isinstance(value, bytes):
        return bytes(memoryview(value))
    if isinstance(value, np.generic):
        if value.dtype == np.longdouble:
            return np.float64(value)
        return value if value.dtype in wire.CODES else _array_opaque(np.asarray(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() < wire.MAX_BITS else Opaque("a very large integer")
    if isinstance(value, float):
        return float(value)
    if isinstance(value, tuple | list | dict | set | frozenset):
        if len(value) > wire.MAX_VALUES // 4:
            return Opaque("something too large to send")
        parts = [_plain(part, depth - 1) for part in value]
        if isinstance(value, tuple | list):
            return tuple(parts) if isinstance(value, tuple) else parts
        if not all(map(wire.is_key, parts)):
            return Opaque(describe(value))
        if isinstance(value, dict):
            return dict(zip(parts, [_plain(part, depth - 1) for part in value.values()], strict=True))
        return set(parts) if isinstance(value, set) else frozenset(parts)
    name = describe(value)
    return Opaque(name if name in wire.OPAQUE_KINDS else "an object of another type")


def _array_opaque(value: "np.ndarray[Any, Any]") -> Any:
    if value.ndim <= wire.MAX_AXES and (value.dtype == np.longdouble or value.dtype.newbyteorder("=") in wire.CODES):
        return value.astype(np.float64 if value.dtype == np.longdouble else value.dtype.newbyteorder("="))
    kinds = {"O": "an array of objects", "c": "a complex array", "U": "an array of text", "S": "an array of text"}
    return Opaque(kinds.get(value.dtype.kind, "an unsupported array"))


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return wire.extent(value.shape) * value.itemsize + 64
    if isinstance(value, dict):
        return 16 + sum(_size(key) + _size(part) + 32 for key, part in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return 16 + sum(_size(part) for part in value)
    if isinstance(value, int):
        return 16 + value.bit_length() // 8
    return 4 * len(value) + 16 if isinstance(value, str | bytes) else 16


def shares(value: Any, args: tuple[Any, ...]) -> bool:
    """Whether an array of the result shares memory with an argument."""
    return any(np.shares_memory(a, b) for a in arrays(value) for b in arrays(args))
