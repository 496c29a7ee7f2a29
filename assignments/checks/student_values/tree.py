"""A value as a tree: dicts, lists and tuples are branches, everything else is a leaf (a pytree in JAX)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

_BRANCHES = (dict, list, tuple)  # faster than a new `dict | list` for each leaf


def leaves(value: Any) -> Iterator[Any]:
    """Every leaf, in the order of the value."""
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(part)
    else:
        yield value


def arrays(value: Any) -> list["np.ndarray[Any, Any]"]:
    """The leaves that are arrays."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray)]


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """The same tree with other leaves; a named tuple becomes a plain one."""
    if not isinstance(value, _BRANCHES):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(change, part) for key, part in value.items()}
    parts = [mapped(change, part) for part in value]
    return parts if isinstance(value, list) else tuple(parts)


def copied(value: Any) -> Any:
    """The value with its own arrays, lists and dicts; arrays keep their memory layout."""
    return mapped(lambda leaf: leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf, value)
