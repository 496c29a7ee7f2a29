"""Values of any kind: their names and parts. Dicts, lists and tuples are branches, all else is a leaf, as in JAX's pytrees."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
NAMES: dict[type, str] = {
    bool: "a bool", np.bool_: "a bool", int: "an int", np.integer: "an int", float: "a float", np.floating: "a float",
    str: "a string", tuple: "a tuple", list: "a list", dict: "a dict", set: "a set", frozenset: "a set", bytes: "bytes",
    complex: "a complex number", type: "a class",
}  # fmt: skip
_BRANCHES = (dict, list, tuple)  # faster than a new `dict | list` for each leaf


@dataclass(frozen=True)
class Opaque:
    """A value that is not plain data, by kind."""

    kind: str


def dtype_of(array: Array) -> str:
    """Name the dtype of an array. That of Python's integers has 32 bits in a browser and 64 elsewhere."""
    return "integers" if array.dtype == int else str(array.dtype)


def describe(value: Any) -> str:
    """Return the kind of a value, in words that student code cannot choose."""
    if isinstance(value, Opaque):
        return value.kind
    if isinstance(value, np.ndarray):
        plain = type(value) is np.ndarray
        return f"an array of {dtype_of(value)} with shape {value.shape}" if plain else "an ndarray subclass"
    if value is None:
        return "None"
    if inspect.isgenerator(value):
        return "a generator"
    name = next((name for cls, name in NAMES.items() if isinstance(value, cls)), "")
    return name or ("a function" if inspect.isroutine(value) else "an object of another type")


def leaves(value: Any) -> Iterator[Any]:
    """Yield every leaf, in the order of the value."""
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        for element in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(element)
    else:
        yield value


def arrays(value: Any) -> list[Array]:
    """Return the leaves that are arrays."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray)]


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply `change` to every leaf, a set being one; a named tuple becomes a plain one."""
    if not isinstance(value, _BRANCHES):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(change, element) for key, element in value.items()}
    parts = [mapped(change, element) for element in value]
    return parts if isinstance(value, list) else tuple(parts)


def copied(value: Any) -> Any:
    """Return a copy of the value with copies of all arrays, lists, dicts and sets; arrays keep their memory layout."""
    return mapped(_copied, value)


def _copied(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return leaf.copy(order="K")
    return set(leaf) if isinstance(leaf, set) else leaf


def in_order(values: Iterable[Any]) -> list[Any]:
    """Return the elements of a set in an order that does not depend on how they are stored."""
    return sorted(values, key=_rank)


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, tuple | list | set | frozenset):
        parts = in_order(value) if isinstance(value, set | frozenset) else value
        return 4, tuple(map(_rank, parts))
    item = value.item() if isinstance(value, np.generic) else value
    kinds = ((bool, int, float), (str,), (bytes,))
    number = next((number for number, kind in enumerate(kinds) if isinstance(item, kind)), 3)
    return number, item if number < 3 else repr(item)
