"""The kinds of values, in words that student code cannot choose."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES: dict[type, str] = {
    bool: "a bool", np.bool_: "a bool", int: "an int", np.integer: "an int", float: "a float", np.floating: "a float",
    str: "text", tuple: "a tuple", list: "a list", dict: "a dict", set: "a set", frozenset: "a set", bytes: "bytes",
    complex: "a complex number", type: "a class",
}  # fmt: skip


@dataclass(frozen=True)
class Opaque:
    """A value that is not plain data, by kind."""

    kind: str


def describe(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.kind
    if isinstance(value, np.ndarray):
        plain = type(value) is np.ndarray
        return f"an array of {value.dtype} with shape {value.shape}" if plain else "an ndarray subclass"
    if value is None:
        return "None"
    if inspect.isgenerator(value):
        return "a generator"
    name = next((name for cls, name in NAMES.items() if isinstance(value, cls)), "")
    return name or ("a function" if callable(value) else "an object of another type")
