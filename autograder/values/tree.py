"""A value as a tree: dicts, lists and tuples are its branches, everything else is a leaf."""

from typing import Any

import numpy as np


def copied(value: Any) -> Any:
    """The value with arrays of its own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return type(value)(copied(part) for part in value) if type(value) in (list, tuple) else value
