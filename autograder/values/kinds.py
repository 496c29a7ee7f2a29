"""What kind of thing a value is, in words that its maker cannot choose."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Opaque:
    """A value that is not plain data, by kind."""

    kind: str


def describe(value: Any) -> str:
    """What kind of thing a value is, in words that its maker cannot choose."""
    if isinstance(value, Opaque):
        return value.kind
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    if value is None:
        return "None"
    names: dict[type, str] = {
        bool: "a bool", np.bool_: "a bool", int: "an int", np.integer: "an int", float: "a float", np.floating: "a float",
        str: "text", tuple: "a tuple", list: "a list", dict: "a dict",
    }  # fmt: skip
    return next((name for cls, name in names.items() if isinstance(value, cls)), "an object of another type")
