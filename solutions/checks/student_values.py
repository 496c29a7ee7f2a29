"""How results are compared with what is expected, and how values are shown.

code(value) is Python that makes the value again, to be pasted; table(value) is for reading. The differences are
sentences for the student, empty where there is none.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

WIDTH = 74  # of a text that stands to the right of "Called    ", so that lines end before column 88
OTHER_DTYPE = "its dtype is"

# Comparing


def difference(result: Any, expected: Any, tolerance: float, names: tuple[str, ...] = ()) -> str:
    """Why result is not as expected, kind and shape before values; names are those of a tuple's parts."""
    if isinstance(expected, tuple):
        return _difference_of_parts(result, expected, tolerance, names)
    if type(result) not in (np.ndarray, bool, int, float) and not isinstance(result, np.generic):
        return f"it is {_kind(result)}, not {'an array' if np.ndim(expected) else _kind(expected)}"
    if np.shape(result) != np.shape(expected):
        if not np.shape(result):
            return f"it is one number, not an array of shape {np.shape(expected)}"
        return f"its shape is {np.shape(result)}, not {np.shape(expected) or 'that of a single number, ()'}"
    return _difference_of_entries(np.asarray(result), np.asarray(expected), tolerance)


def _difference_of_entries(result: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    if expected.dtype == bool and result.dtype != bool:
        return f"its entries are {result.dtype}, not bool"
    if expected.dtype.kind == "i" and result.dtype.kind not in "iu":
        return f"its entries are {result.dtype}, not whole numbers (int)"
    if result.dtype.kind not in "biuf":
        return f"its entries are {result.dtype}, not numbers"
    right = np.isclose(result.astype(float), expected.astype(float), rtol=tolerance, atol=tolerance)
    if not right.all() and right.ndim == 0:
        return f"it is {plain(result)}, not {plain(expected)}"
    if not right.all():
        first = tuple(int(i) for i in np.argwhere(~right)[0])
        entry = f"entry {list(first)} is {plain(result[first])}, not {plain(expected[first])}"
        return entry if right.size < 2 else f"{np.sum(~right)} of {right.size} entries differ; {entry}"
    if expected.dtype == np.float32 and result.dtype != np.float32:
        return f"{OTHER_DTYPE} {result.dtype}, not float32"
    return ""


def _difference_of_parts(result: Any, expected: tuple[Any, ...], tolerance: float, names: tuple[str, ...]) -> str:
    names = names or tuple(f"part {i}" for i in range(len(expected)))
    wanted = f"a tuple of {len(expected)} ({', '.join(names)})"
    if not isinstance(result, tuple | list):
        return f"it is {_kind(result)}, not {wanted}"
    if len(result) != len(expected):
        return f"it is a tuple of {len(result)}, not {wanted}"
    found = [difference(one, two, tolerance) for one, two in zip(result, expected, strict=True)]
    if not any(found):
        return ""
    for order in itertools.permutations(range(len(expected))):
        if not any(difference(one, expected[i], tolerance) for one, i in zip(result, order, strict=True)):
            return f"the parts are right, but swapped: they come as ({', '.join(names[i] for i in order)})"
    return "\n".join(f"{name}: {text}" for name, text in zip(names, found, strict=True) if text)


def _kind(value: Any) -> str:
    if type(value) is np.ndarray and value.ndim:
        return "one array"
    if isinstance(value, bool | np.bool_):
        return "a bool"
    if type(value) is np.ndarray or isinstance(value, int | float | np.generic):
        return "one number"
    return {"NoneType": "None", "function": "a function"}.get(type(value).__name__, f"a {type(value).__name__}")


def changed_part(now: Any, before: Any, name: str) -> str:
    """Which part of an argument is not what it was, to the last bit: x, params["w_q"]; empty if all is."""
    if isinstance(before, np.ndarray):
        equal = now.shape == before.shape and np.array_equal(now, before, equal_nan=before.dtype.kind == "f")
        return "" if equal else name
    if isinstance(before, dict) and now.keys() == before.keys():
        pairs = [(now[key], before[key], f"{name}[{code(key)}]") for key in before]
    elif isinstance(before, list | tuple) and len(now) == len(before):
        pairs = [(a, b, f"{name}[{i}]") for i, (a, b) in enumerate(zip(now, before, strict=True))]
    else:
        return "" if now is before or (not isinstance(before, dict | list | tuple) and now == before) else name
    return next((found for a, b, part in pairs if (found := changed_part(a, b, part))), "")


# Showing


def table(value: Any, names: tuple[str, ...] = ()) -> str:
    """A result for reading: the rows of an array one below the other, the parts of a tuple with their names."""
    if isinstance(value, np.ndarray):
        shown = value if value.size <= 40 else None
        return f"<array of shape {value.shape}>" if shown is None else _rows(shown)
    if isinstance(value, tuple | list) and any(isinstance(part, np.ndarray) for part in value):
        names = names if len(names) == len(value) else tuple(f"part {i}" for i in range(len(value)))
        widest = max(map(len, names), default=0)
        return "\n".join(
            f"{name:{widest}}  {under(table(part), widest + 2)}" for name, part in zip(names, value, strict=True)
        )
    if isinstance(value, np.generic | int | float):
        return plain(value)
    text = code(value)
    return fill(text) if len(text) <= 400 else f"<{type(value).__name__}>"


def _rows(array: np.ndarray) -> str:
    """An array as NumPy prints it, with commas and six decimals."""
    return np.array2string(array, precision=6, suppress_small=True, separator=", ", max_line_width=WIDTH - 12)


def plain(value: Any) -> str:
    """A number as one writes it: 2, 0.5, True, not np.int64(2)."""
    value = np.asarray(value)[()]
    return f"{float(value):.7g}" if isinstance(value, np.floating) else str(value)


def code(value: Any) -> str:
    """Python that makes the value again, where `import numpy as np` has been said."""
    if isinstance(value, np.ndarray) and value.ndim:
        return _array_code(value)
    if isinstance(value, np.ndarray | np.generic):
        return code(value.item())
    if isinstance(value, float):
        return (
            repr(value) if np.isfinite(value) else f"{'-' if value < 0 else ''}np.{'nan' if value != value else 'inf'}"
        )
    if isinstance(value, dict):
        return "{" + ", ".join(f"{code(key)}: {code(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(code(entry) for entry in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(code(entry) for entry in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, str):
        return '"' + repr(value)[1:-1] + '"' if '"' not in value else repr(value)
    return _lambda(value) if inspect.isfunction(value) else repr(value)


def _array_code(array: np.ndarray) -> str:
    kind = {"float64": "", "bool": ", dtype=bool", "int64": ", dtype=int"}.get(str(array.dtype))
    kind = f", dtype=np.{array.dtype}" if kind is None else kind
    shape = str(array.shape) if array.ndim > 1 else str(len(array))
    if array.dtype.kind == "f":
        if (array == array.flat[0]).all() and array.size > 1:
            made = {0.0: f"np.zeros({shape}", 1.0: f"np.ones({shape}"}.get(float(array.flat[0]))
            if made or array.size > 6:
                return (made or f"np.full({shape}, {_number(array.flat[0])}") + kind + ")"
        if array.ndim == 2 and np.array_equal(array, np.eye(len(array))):
            return f"np.eye({len(array)}{kind})"
    return f"np.array({_nested(array)}{kind if array.dtype not in (bool, np.int64) else ''})"


def _nested(array: Any) -> str:
    return "[" + ", ".join(map(_nested, array)) + "]" if np.ndim(array) else _number(array)


def _number(entry: Any) -> str:
    """A float32 gets its own few digits, not those of the float64 that equals it."""
    return code(float(str(entry))) if isinstance(entry, np.floating) else code(entry)


def _lambda(function: Callable[..., Any]) -> str:
    """A function that a check lends, as a lambda expression if it is one or has only a return, else by its name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return function.__name__
    body = tree.body[0]
    last = body.body[-1] if isinstance(body, ast.FunctionDef) else None
    if isinstance(body, ast.FunctionDef) and isinstance(last, ast.Return) and last.value is not None:
        for argument in body.args.args:
            argument.annotation = None
        return ast.unparse(ast.Lambda(body.args, last.value))
    return function.__name__


# Laying out


def fill(text: str, width: int = WIDTH) -> str:
    """Break the lines of a text, also of code, at spaces, but not within a short list of numbers."""
    kept = re.sub(r"\[[^\[\]]{1,50}\]|\([^()]{1,30}\)", lambda row: row[0].replace(" ", "\0"), text)
    lines = [textwrap.fill(line, width, break_on_hyphens=False, break_long_words=False) for line in kept.splitlines()]
    return "\n".join(lines).replace("\0", " ")


def under(text: str, columns: int = 10) -> str:
    """Further lines of a text stand under its first one."""
    return text.replace("\n", "\n" + " " * columns)
