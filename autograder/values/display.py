"""Values as they are shown: results as NumPy prints them, arguments of ours as Python source."""

import ast
import inspect
import sys
import textwrap
from typing import Any

import numpy as np

from .kinds import describe

DIGITS = (6, 9, 12, 17)  # how many are tried until two values that differ look different
LARGEST = 512  # entries of an array that is shown; a larger one is only described
PARTS = 8  # of a tuple or a list that are shown
Array = np.ndarray[Any, Any]


def pair(expected: Any, actual: Any) -> tuple[str, str]:
    """Two values as they are shown, with as many digits as it takes to see where they differ.

    Six digits where that shows it, or where nothing does.
    """
    for digits in DIGITS:
        if _numbers(expected, digits) != _numbers(actual, digits):
            return display(expected, digits), display(actual, digits, like=expected)
    return display(expected), display(actual, like=expected)


def display(value: Any, digits: int = DIGITS[0], like: Any = None, depth: int = 2) -> str:
    """A value as it is shown, with dtype and shape where they are not obvious.

    What is much larger than any result is only described, and so are lists in lists: a student's value may be anything.
    `like` is the expected value: over the wire tuples arrive as lists, so that a list in place of a tuple is shown as one.
    """
    if isinstance(value, np.ndarray) and value.size <= LARGEST:
        return _numbers(value, digits) + _tags(value)
    if isinstance(value, tuple | list) and depth:
        return _sequence(value, digits, like, depth)
    if isinstance(value, float | np.floating):
        return f"{value:.{digits}g}"
    if isinstance(value, bool | int | np.integer | np.bool_ | None):
        return str(value)
    return describe(value)


def _sequence(value: "tuple[Any, ...] | list[Any]", digits: int, like: Any, depth: int) -> str:
    likes = list(like) if isinstance(like, tuple | list) else []
    shown = [
        display(part, digits, likes[place] if place < len(likes) else None, depth - 1)
        for place, part in enumerate(value[:PARTS])
    ]
    shown += ["..."] if len(value) > PARTS else []
    start, end = "()" if isinstance(value, tuple) or isinstance(like, tuple) else "[]"
    line = start + ", ".join(shown) + end
    return line if len(line) <= 90 and "\n" not in line else start + ",\n".join(shown) + end


def _numbers(value: Any, digits: int) -> str:
    """The numbers of a value as text, without dtype and shape."""
    if isinstance(value, tuple | list):
        return "; ".join(_numbers(part, digits) for part in value[:PARTS])
    if not isinstance(value, np.ndarray) or value.size > LARGEST:
        return display(value, digits)
    few = digits == DIGITS[0]
    return np.array2string(
        value, precision=digits, suppress_small=few, separator=", ", threshold=LARGEST, max_line_width=96
    )


def _tags(value: Array) -> str:
    obvious = value.ndim and value.dtype in (np.float64, np.bool_, np.int64)
    return ("" if obvious else f"  ({value.dtype})") + (f"  (shape {value.shape})" if value.ndim > 2 else "")


# Arguments of ours as source


def literal(value: Any) -> str:
    """A value of ours as Python source."""
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype=np.{value.dtype}"
        return f"np.array({_entries(value)}{dtype})"
    if isinstance(value, dict):
        return _wrapped("{", [f"{key!r}: {literal(part)}" for key, part in value.items()], "}")
    if isinstance(value, list):
        return _wrapped("[", [literal(part) for part in value], "]")
    return repr(value.item() if isinstance(value, np.generic) else value)


def function_source(function: Any) -> str:
    """The source of a function of ours; of a lambda only the lambda."""
    if function.__name__ != "<lambda>":
        return inspect.getsource(function).strip()
    tree = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    line = function.__code__.co_firstlineno
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line]
    return ast.unparse(found[0])


def _wrapped(start: str, parts: list[str], end: str) -> str:
    """Parts on one line where they fit, else a line each."""
    line = start + ", ".join(parts) + end
    if len(line) <= 100 and "\n" not in line:
        return line
    return start + "\n" + textwrap.indent(",\n".join(parts), "    ") + ",\n" + end


def _entries(value: Array) -> str:
    if value.ndim:
        return "[" + ", ".join(_entries(part) for part in value) + "]"
    text = str(value.item() if value.dtype != np.float32 else value[()])
    return text.replace("inf", "np.inf").replace("nan", "np.nan")
