"""Values as text: results as NumPy prints them, arguments as Python source."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .compare import magnitude
from .tree import Array, arrays, describe, in_order

DIGITS = (6, 9, 12, 17)  # tried in turn until two different values look different
SINGLE = 5  # decimals in single precision, of a number below 10: further digits differ between machines
LARGEST = 100  # entries of an array that is printed; larger ones are only described
WIDTH = 96  # of a row of numbers
BESIDE = 12  # further columns for the dtype and shape beside the last row; if they need more, they have their own line
PARTS = 8  # of a larger list, tuple, set or dict that are printed
OBVIOUS = (np.float64, np.bool_, np.int64, np.dtype(int))  # int has 32 bits in a browser
LONGEST = 200  # characters of a text that are printed, digits of an integer
SHORT = 24  # characters of parts that share a line
CONTAINERS = (tuple, list, dict, set, frozenset)


def pair(expected: Any, actual: Any, names: Sequence[str] = (), width: int = WIDTH) -> tuple[str, str]:
    """Two values as text, with as many digits as show the difference, and "array" where one has a list.

    They have six digits if none show it, and in single precision.
    """
    is_single = any(array.dtype == np.float32 for array in arrays([expected, actual]))
    differing = (n for n in DIGITS if _numbers(expected, n) != _numbers(actual, n))
    digits = SINGLE if is_single else next(differing, DIGITS[0])
    marked = _is_list_for_array(expected, actual)
    return display(expected, digits, names, width, marked=marked), display(actual, digits, names, width, marked=marked)


def _is_list_for_array(first: Any, second: Any) -> bool:
    """Return whether one value has a list or tuple where the other one has an array."""
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        return any(map(_is_list_for_array, first, second))
    return {type(first), type(second)} in ({np.ndarray, list}, {np.ndarray, tuple})


def display(
    value: Any,
    digits: int = DIGITS[0],
    names: Sequence[str] = (),
    width: int = WIDTH,
    depth: int = 3,
    marked: bool = False,
) -> str:
    """Return a value as text, with dtype and shape unless they are obvious.

    A student's value may be anything: of large ones only the first parts are printed, and text is a literal on one line.
    `names` are those of a tuple's parts; with them, each part is on its own line. `marked` arrays are called so.
    """
    if type(value) is np.ndarray and value.size <= LARGEST:
        obvious = value.ndim and value.dtype in OBVIOUS
        dtype, shape = "" if obvious else f"  ({value.dtype})", f"  (shape {value.shape})" if value.ndim > 2 else ""
        numbers = _numbers(value, digits, width, "array(" * marked)
        text = f"array({numbers})" if marked else numbers
        last = text.rpartition("\n")[2] + dtype + shape
        return text + ("" if len(last) <= width + BESIDE else "\n") + dtype + shape
    if isinstance(value, float | np.floating):
        text = f"{value + 0.0:.{max(digits, DIGITS[0])}g}"  # no -0
        return text if set(text) & set(".en") else f"{text}.0"
    if isinstance(value, int) and value.bit_length() > 3 * LONGEST:
        return "a very large integer"
    if isinstance(value, bool | int | np.integer | np.bool_ | None):
        return str(value)
    if isinstance(value, str | bytes):
        more = len(value) - LONGEST
        return repr(value) if more <= 0 else f"{value[:LONGEST]!r}, and {more} more characters"
    if not isinstance(value, CONTAINERS) or (depth <= 0 and not _is_small(value)):
        return describe(value)
    parts = [display(piece, digits, (), width, depth - 1, marked) for piece in _first(value)]
    if isinstance(value, dict):
        parts = [f"{display(key, digits)}: {piece}" for key, piece in zip(value, parts, strict=False)]
    if names and len(names) == len(value):
        widest = max(map(len, names)) + 2
        lines = zip(names, parts, strict=True)
        return "\n".join(f"{name:{widest}}" + text.replace("\n", "\n" + " " * widest) for name, text in lines)
    parts += ["..."] if len(value) > len(parts) else []
    start, end = _brackets(value)
    line = start + ", ".join(parts) + end
    longest = min(width, 90)
    return line if len(line) <= longest and "\n" not in line else start + _rows(parts, longest) + end


def _is_small(value: Any) -> bool:
    """Return whether a value has at most LARGEST parts, and parts of parts; one that contains itself has more."""
    waiting, count = [value], 0
    while waiting and count <= LARGEST:
        piece = waiting.pop()
        count += 1
        if isinstance(piece, CONTAINERS):
            waiting += islice(piece.values() if isinstance(piece, dict) else piece, LARGEST + 1)
    return not waiting


def _first(value: Any) -> list[Any]:
    """Return the elements that are printed."""
    return _elements(value)[: LARGEST if _is_small(value) else PARTS]


def _rows(parts: list[str], width: int) -> str:
    """Parts on several lines: short ones side by side, others each on its own."""
    rows = parts[:1]
    for piece in parts[1:]:
        if max(map(len, parts)) <= SHORT and len(rows[-1]) + len(piece) + 3 <= width:
            rows[-1] += f", {piece}"
        else:
            rows.append(piece)
    return ",\n".join(rows)


def _elements(value: Any) -> list[Any]:
    if isinstance(value, set | frozenset):
        return in_order(value)
    return list(value.values() if isinstance(value, dict) else value)


def _brackets(value: Any) -> tuple[str, str]:
    if isinstance(value, tuple):
        return "(", ",)" if len(value) == 1 else ")"
    if isinstance(value, frozenset) or value == set():
        return f"{type(value).__name__}(" + "{" * bool(value), "}" * bool(value) + ")"
    return ("[", "]") if isinstance(value, list) else ("{", "}")


def _numbers(value: Any, digits: int, width: int = WIDTH, prefix: str = "") -> str:
    """Return the numbers of a value as text, without dtype and shape."""
    if isinstance(value, tuple | list):
        return "; ".join(_numbers(piece, digits) for piece in _first(value))
    if type(value) is not np.ndarray or value.size > LARGEST:
        return display(value, digits)
    few = digits <= DIGITS[0]
    if value.dtype.kind == "f":
        if few and (digits == SINGLE or value.dtype == np.float32):
            digits = max(0, SINGLE + 1 - len(str(int(magnitude(value)))))
            value = value.astype(float)  # NumPy writes large numbers in single precision with an exponent
        value = (value.round(digits) if few else value) + value.dtype.type(0)  # no -0.
    return np.array2string(value, width, digits, few, separator=", ", prefix=prefix, threshold=LARGEST)


# Values as Python source


def literal(value: Any, width: int = 100) -> str:
    """Python code for the value, after `import numpy as np`; parts go on separate lines if one line is too short."""
    if isinstance(value, np.ndarray):
        return _array_source(value)
    if isinstance(value, dict):
        return _wrapped("{", [f"{key!r}: {literal(piece, width)}" for key, piece in value.items()], "}", width)
    if isinstance(value, tuple | set | frozenset):
        start, end = _brackets(value)
        return _wrapped(start, [literal(piece, width) for piece in _elements(value)], end, width)
    if isinstance(value, list):
        parts = [literal(piece, width) for piece in value]
        is_repeated = len(parts) > 1 and len({*parts}) == 1
        if is_repeated and all(isinstance(piece, dict) for piece in value):  # the same block again
            return f"{len(parts)} * {_wrapped('[', parts[:1], ']', width)}"
        return _wrapped("[", parts, "]", width)
    if inspect.isfunction(value):
        return _lambda(value)
    return _number(value) if isinstance(value, float | np.generic) else repr(value)


def function_source(function: Callable[..., Any]) -> str:
    """Return the source of a function; for a lambda, only the lambda."""
    if function.__name__ != "<lambda>":
        return inspect.getsource(function).strip()
    tree = ast.parse("".join(linecache.getlines(function.__code__.co_filename)))
    line = function.__code__.co_firstlineno
    return next(ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line)


def _lambda(function: Callable[..., Any]) -> str:
    """Return a lambda, or a function with only a return, as a lambda; else its name."""
    source = textwrap.dedent(function_source(function))
    match ast.parse(source).body[0]:
        case ast.Expr():
            return source
        case ast.FunctionDef(args=arguments, body=[*_, ast.Return(value=ast.expr() as value)]):
            for argument in arguments.args:
                argument.annotation = None
            return ast.unparse(ast.Lambda(arguments, value))
    return function.__name__


def _wrapped(start: str, parts: list[str], end: str, width: int) -> str:
    """Parts on one line if they fit, else one per line."""
    line = start + ", ".join(parts) + end
    if len(line) <= width and "\n" not in line:
        return line
    return start + "\n" + textwrap.indent(_rows(parts, width - 4), "    ") + ",\n" + end.lstrip(",")


def _array_source(array: Array) -> str:
    dtype = "" if array.dtype in OBVIOUS else f", dtype=np.{array.dtype}"
    shape = str(array.shape) if array.ndim > 1 else str(array.size)
    is_constant = array.ndim and array.size > 1 and (array == array.flat[0]).all()
    if is_constant and array.dtype.kind == "f" and array.flat[0] in (0, 1):
        return f"np.{'ones' if array.flat[0] else 'zeros'}({shape}{dtype})"
    order = "" if array.flags.c_contiguous or not array.flags.f_contiguous else ", order='F'"
    return f"np.array({_nested(array)}{dtype}{order})"


def _nested(array: Array) -> str:
    return "[" + ", ".join(map(_nested, array)) + "]" if array.ndim else _number(array[()])


def _number(value: Any) -> str:
    """Return a number as Python; a float32 has the few digits of its type, not those of the equal float64."""
    return str(value).replace("inf", "np.inf").replace("nan", "np.nan")
