"""Answers to questions from a student's process: neighbours' functions, and functions that a test has lent.

What may be asked is a frozen table from the rubric. Arguments are held to the reference's signature and bounded in size, and so
in the work that they cause; nothing that a question contains can raise anything but a Refusal.
"""

import inspect
import math
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np

from autograder.homework import reference
from autograder.sandbox.messages import Refusal
from autograder.sandbox.wire import Handle, Oddity, WireError

AXIS = 1024  # the longest axis and the longest list
COUNT = 2048  # the largest int: a mask or a table of positions may be made once for the longest sequence
SIZE = 40_000  # the most array elements in all arguments of one question
BOX = 2**21  # the most elements that an intermediate result may have
BELOW = 6  # how deeply lists and dicts may be nested
Invoke = Callable[[Handle, tuple[Any, ...]], Any]


class StandIns:
    """Answers for student processes; `allowed` holds names "<module>.<function>"."""

    def __init__(self, allowed: frozenset[str]):
        self.allowed, self.known = allowed, dict[bytes, bytes]()

    def __call__(
        self, target: str | Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], invoke: Invoke
    ) -> Any:
        if isinstance(target, str) and target not in self.allowed:
            raise Refusal("ValueError", "this function is not available here")
        _bound((args, kwargs))
        if isinstance(target, str):
            function = reference.functions()[target.rpartition(".")[2]]
            args, kwargs = _fitting(function, args, kwargs)
        else:
            function = target
        _fit_together((args, kwargs))
        own = [_callable(arg, invoke) for arg in args]
        return _quietly(function, own, {name: _callable(arg, invoke) for name, arg in kwargs.items()})


answerer = cache(StandIns)  # what one submission asks, another will


def _quietly(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    try:
        result = function(*args, **kwargs)
    except (Refusal, WireError, TimeoutError):  # the last two end the call: the student's process is gone or too late
        raise
    except ValueError:
        raise Refusal("ValueError", f"{_name(function)} does not allow these arguments") from None
    except Exception:
        raise Refusal("TypeError", f"{_name(function)} does not allow these arguments") from None
    return result


def _callable(value: Any, invoke: Invoke) -> Any:
    """A function of the student's among the arguments, as a function that only ever returns a bounded array."""
    if not isinstance(value, Handle):
        return value

    def call(*args: Any) -> Any:
        result = invoke(value, args)
        if not isinstance(result, np.ndarray):
            raise Refusal("TypeError", "the function that was passed did not return an array")
        _bound(result)
        _fit_together((args, result))
        if result.ndim > max((array.ndim for array in _arrays(args)), default=0):
            raise Refusal("TypeError", "the function that was passed returned more dimensions than it was given")
        return result

    return call


def _name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    return name if name in reference.functions() else "the function argument"


def _bound(value: Any) -> None:
    if _elements(value, BELOW) > SIZE:
        raise Refusal("ValueError", "the arguments are larger than anything that grading uses")


def _fit_together(value: Any) -> None:
    """Two arrays of a few kilobytes whose axes stand crosswise would cost gigabytes when they are broadcast."""
    if _box(list(_arrays(value))) > BOX:
        raise Refusal("ValueError", "the arguments do not belong together: their axes would multiply")


def _elements(value: Any, depth: int) -> int:
    """How many array elements, numbers and texts a question carries; too long or too deep ones count as too many."""
    if isinstance(value, np.ndarray):
        return value.size if max(value.shape, default=0) <= AXIS else SIZE + 1
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        if depth < 0 or len(value) > AXIS:
            return SIZE + 1
        return sum(_elements(part, depth - 1) for part in value)
    if isinstance(value, int | np.integer):
        return 1 if abs(int(value)) <= COUNT else SIZE + 1
    return SIZE + 1 if isinstance(value, str) and len(value) > AXIS else 1


def _fitting(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments, held to the signature; lists of numbers count as arrays."""
    signature, kinds = _signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise Refusal("TypeError", f"{function.__name__}: {error}") from None
    for name, value in bound.arguments.items():
        if np.ndarray in kinds[name] and isinstance(value, list | int | float):
            value = bound.arguments[name] = _array(value)
        if not isinstance(value, kinds[name]):
            raise Refusal("TypeError", f"{function.__name__}: the contract does not allow this kind of {name}")
    return bound.args, bound.kwargs


def _array(value: Any) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def _arrays(value: Any) -> Iterator["np.ndarray[Any, Any]"]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _arrays(part)


def _box(arrays: list["np.ndarray[Any, Any]"]) -> int:
    """How large a result can get when leading axes are broadcast, the last two meet as queries and keys, ints are indices."""
    indices = max((array.size for array in arrays if array.dtype.kind in "iu"), default=0)
    indexed = indices * max((array.size for array in arrays if array.dtype.kind not in "iu"), default=0)
    side = max((length for array in arrays for length in array.shape[-2:]), default=1)
    leading = [array.shape[-3::-1] for array in arrays]
    crossed: int = side**2 * math.prod(max(lengths) for lengths in zip_longest(*leading, fillvalue=1))
    return max(indexed, crossed)


@cache
def _signature(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, tuple[type, ...]]]:
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    return signature, {name: _kinds(hints.get(name, object)) for name in signature.parameters}


def _kinds(hint: Any) -> tuple[type, ...]:
    """The wire types that an annotation of the reference allows."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return tuple(kind for part in typing.get_args(hint) for kind in _kinds(part))
    table: dict[Any, tuple[type, ...]] = {
        np.ndarray: (np.ndarray, np.generic),
        Callable: (Handle,),
        int: (int, np.integer),
        float: (float, int, np.floating, np.integer),
        bool: (bool, np.bool_),
        list: (list, tuple),
        typing.Any: (object,),
    }
    return table.get(origin, (origin,) if isinstance(origin, type) and not issubclass(origin, Oddity) else (object,))
