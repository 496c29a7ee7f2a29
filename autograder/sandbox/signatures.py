"""Holds the arguments of a question to the signature of the trusted function that will answer it."""

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from autograder.sandbox.wire import Handle
from autograder.values.kinds import Opaque


def fitting(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, where the function's signature and annotations allow them; lists of numbers count as arrays.

    A Python number stays one: with a float32 array it gives float32, as a float64 array would not.
    Raises TypeError with a text for the student.
    """
    signature, kinds = known(function)
    name = getattr(function, "__name__", "the function")
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    for parameter, value in bound.arguments.items():
        if np.ndarray in kinds[parameter] and isinstance(value, list):
            value = bound.arguments[parameter] = _array(value)
        if not isinstance(value, kinds[parameter]):
            raise TypeError(f"{name}: the contract does not allow this kind of {parameter}")
    return bound.args, bound.kwargs


def _array(value: Any) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def parameters(function: Callable[..., Any]) -> list[list[Any]]:
    """What a stand-in of the function must know of it: the name of each parameter, and its default value if it has one."""
    found = inspect.signature(function).parameters.values()
    return [[p.name] if p.default is p.empty else [p.name, p.default] for p in found]


@cache
def known(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, tuple[type, ...]]]:
    """The signature of a function, and what its annotations allow."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    return signature, {name: _kinds(hints.get(name, object)) for name in signature.parameters}


def _kinds(hint: Any) -> tuple[type, ...]:
    """The wire types that an annotation allows."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return tuple(kind for part in typing.get_args(hint) for kind in _kinds(part))
    table: dict[Any, tuple[type, ...]] = {
        np.ndarray: (np.ndarray, np.generic, int, float),
        Callable: (Handle,),
        int: (int, np.integer),
        float: (float, int, np.floating, np.integer),
        bool: (bool, np.bool_),
        list: (list, tuple),
        typing.Any: (object,),
    }
    return table.get(origin, (origin,) if isinstance(origin, type) and not issubclass(origin, Opaque) else (object,))
