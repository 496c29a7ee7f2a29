"""Calls of your functions, and what the checks say about them.

A check reads

    call.layer_norm(x, gamma, beta).gives(expected, hint="...")

call.layer_norm(...) only notes what is to be called. gives(), raises() and the others make the call. When it
does not do what is expected, they end in CheckFailed with a short text: what was called, what came back, what
was expected, what to look at. When the module cannot be imported or the function is not written yet, they end
in NotReady, with one line.
"""

from __future__ import annotations

import copy
import functools
import importlib
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

CHECKS = Path(__file__).resolve().parent
FOLDER = CHECKS.parent

OTHER_KIND = "it is a"
# Ten times what correct solutions differ by from numbers printed with six decimals.
TOLERANCE = 5e-6


class CheckFailed(AssertionError):
    """A check that failed; its text is written for the student."""


class NotReady(CheckFailed):
    """A function that is not written yet, or a module that cannot be imported: said in one line."""


class Caller:
    """The functions of one student module: caller.f(x) is the call f(x), not made yet."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, function: str) -> Callable[..., Call]:
        return lambda *args, **kwargs: Call(self._module, function, args, kwargs)


@dataclass(frozen=True)
class Call:
    """One call of a student's function, made when one of the methods below asks for its result."""

    module: str
    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    part: str = ""
    choose: Callable[[Any], Any] = lambda result: result

    def then(self, part: str, choose: Callable[[Any], Any]) -> Call:
        """The same call, of whose result only choose(result) is looked at; part says what that is."""
        return replace(self, part=part, choose=choose)

    def gives(self, expected: Any, hint: str, tolerance: float = TOLERANCE) -> None:
        """The result has the kind, the shape and the values of expected."""
        result = self._result()
        difference = differs(result, expected, tolerance)
        if difference:
            hint = "" if difference.startswith(OTHER_KIND) else hint  # hints are about values
            raise self._failed(hint, returned=show_result(result), expected=show_result(expected), why=difference)

    def agrees_with(self, other: Call, hint: str) -> None:
        """Both calls give the same."""
        one, two = self._result(), other._result()
        difference = differs(one, two, 1e-9)
        if difference:
            raise self._failed(
                hint, returned=show_result(one), expected=f"{show(two)}, as from {other}", why=difference
            )

    def fulfils(self, expected: str, condition: Callable[[Any], Any], hint: str) -> None:
        """condition(result) holds; expected says the condition in words."""
        result = self._result()
        try:
            holds = bool(condition(result))
        except Exception:  # a result of another kind than the condition is about
            holds = False
        if not holds:
            raise self._failed(hint, returned=show_result(result), expected=expected)

    def raises(self, error: type[Exception], hint: str) -> None:
        """The call ends with this exception, or a subclass of it."""
        function = find(self.module, self.function)
        try:
            result = function(*copy.deepcopy(self.args), **copy.deepcopy(self.kwargs))
        except NotImplementedError as unfinished:
            raise not_written(self.function, unfinished) from None
        except error:
            return
        except (Exception, SystemExit) as other:
            raise self._failed(hint, stopped=where(other), expected=error.__name__) from None
        raise self._failed(hint, returned=show_result(result), expected=error.__name__)

    def _result(self) -> Any:
        function = find(self.module, self.function)
        args, kwargs = copy.deepcopy(self.args), copy.deepcopy(self.kwargs)
        try:
            result = function(*args, **kwargs)
        except NotImplementedError as unfinished:
            raise not_written(self.function, unfinished) from None
        except (Exception, SystemExit) as error:
            raise self._failed("", stopped=where(error)) from None
        if result is None:
            raise self._failed("Does every way through the function end with a return?", returned="None")
        if not (same(args, self.args) and same(kwargs, self.kwargs)):
            hint = "Work on a copy: x = x + y makes a new array, x += y writes into the one of the caller."
            raise self._failed(hint, why="an argument was changed by the call")
        try:
            return self.choose(result)
        except Exception:
            raise self._failed("", returned=show_result(result), why=f"it has no {self.part}") from None

    def _failed(self, hint: str, **lines: str) -> CheckFailed:
        called = f"{self}, {self.part}" if self.part else str(self)
        rows = [("called", called), *lines.items(), ("hint", textwrap.fill(hint, 90, break_on_hyphens=False))]
        return CheckFailed("\n".join(f"{title.capitalize():9} {indent(text)}" for title, text in rows if text))

    def __str__(self) -> str:
        shown = [show(arg) for arg in self.args] + [f"{name}={show(arg)}" for name, arg in self.kwargs.items()]
        return f"{self.function}({', '.join(shown)})"


def find(module: str, function: str) -> Callable[..., Any]:
    """The student's function, or NotReady with the reason in one line."""
    loaded = load(module)
    if isinstance(loaded, str):
        raise NotReady(loaded)
    found: Callable[..., Any] | None = getattr(loaded, function, None)
    if not callable(found):
        raise NotReady(f"{module}.py has no function {function}")
    return found


@functools.cache
def load(module: str) -> ModuleType | str:
    """The student's module, or one line that says why it cannot be imported."""
    files = sorted(path.name for path in FOLDER.iterdir())
    if f"{module}.py" not in files:
        near = next((name for name in files if resembles(name, module)), "")
        advice = f"; is it {near}? Rename that" if near else f": it must lie beside the folder {CHECKS.name}"
        return f"{module}.py is missing{advice}"
    try:
        return importlib.import_module(module)
    except NotImplementedError as unfinished:
        return f"{module}.py cannot be imported: {unfinished or 'something in it is not written yet'}"
    except (Exception, SystemExit) as error:
        reason = where(error).partition("\n")[0]
        return reason if reason.startswith(f"{module}.py,") else f"{module}.py cannot be imported: {reason}"


def resembles(name: str, module: str) -> bool:
    """Whether a file may be the module under another name: LayerNorm.py, layernorm (1).py, layer-norm.py.txt."""
    letters = "".join(c for c in name.lower().partition(".")[0] if c.isalpha())
    return ".py" in name and letters.startswith(module.replace("_", ""))


def not_written(function: str, error: NotImplementedError) -> NotReady:
    """The line for a function that still ends in NotImplementedError, or needs one that does."""
    reason = str(error).partition("\n")[0] or f"{function} is not written yet"
    return NotReady(reason if reason.split()[0] == function else f"{reason} ({function} needs it)")


def where(error: BaseException) -> str:
    """File, line and reason of an exception, from the last line of the student's own code that led to it."""
    reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}".removesuffix(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    if isinstance(error, ModuleNotFoundError):
        reason += " (NumPy and the standard library are all that is needed)"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if FOLDER in path.parents and CHECKS not in path.parents:
            return f"{path.name}, line {frame.lineno}: {reason}" + (f"\n    {frame.line}" if frame.line else "")
    return reason


def differs(result: Any, expected: Any, tolerance: float) -> str:
    """Why result is not as expected, kind and shape before values; empty if it is."""
    if isinstance(expected, tuple):
        return differs_in_parts(result, expected, tolerance)
    if type(result) not in (np.ndarray, bool, int, float) and not isinstance(result, np.generic):
        return f"{OTHER_KIND} {type(result).__name__}, not a {'NumPy array' if np.ndim(expected) else 'number'}"
    if np.shape(result) != np.shape(expected):
        return f"its shape is {np.shape(result)}, not {np.shape(expected)}"
    result, expected = np.asarray(result), np.asarray(expected)
    if expected.dtype == bool and result.dtype != bool:
        return f"its entries are {result.dtype}, not bool"
    if expected.dtype.kind == "i" and result.dtype.kind not in "iu":
        return f"its entries are {result.dtype}, not whole numbers (int)"
    if result.dtype.kind not in "biuf":
        return f"its entries are {result.dtype}, not numbers"
    if expected.dtype == np.float32 and result.dtype != np.float32:
        return f"its dtype is {result.dtype}, not float32"
    right = np.isclose(result.astype(float), expected.astype(float), rtol=tolerance, atol=tolerance)
    if right.all():
        return ""
    if right.ndim == 0:
        return "the value differs"
    first = tuple(int(i) for i in np.argwhere(~right)[0])
    entry = f"entry {list(first)} is {show(result[first])}, not {show(expected[first])}"
    return entry if right.size < 2 else f"{np.sum(~right)} of {right.size} entries differ; {entry}"


def differs_in_parts(result: Any, expected: tuple[Any, ...], tolerance: float) -> str:
    """differs, for a function that returns several things."""
    if not isinstance(result, tuple | list) or len(result) != len(expected):
        return f"it is not a tuple of {len(expected)} things"
    for i, (one, two) in enumerate(zip(result, expected, strict=True)):
        difference = differs(one, two, tolerance)
        if difference:
            return f"part {i} of the tuple: {difference}"
    return ""


def same(one: Any, two: Any) -> bool:
    """Whether arguments, also nested ones, are equal to the last bit."""
    if isinstance(one, np.ndarray):
        return one.shape == two.shape and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two, strict=True))
    return bool(one == two)


def show(value: Any, entries: int = 12) -> str:
    """A value in one line, in as few characters as tell what it is."""
    if isinstance(value, np.ndarray):
        if value.size > entries:
            return f"<array of shape {value.shape}>"
        return " ".join(table(value).split()).replace("[ ", "[").replace(" ,", ",").replace(" ]", "]")
    if isinstance(value, bool | np.bool_ | int):
        return str(value)
    if isinstance(value, float | np.floating):
        return f"{float(value):.7g}"
    if isinstance(value, dict):
        items = [(repr(key), show(entry)) for key, entry in value.items()]
        short = sum(len(entry) for _, entry in items) <= 100
        return "{" + ", ".join(f"{key}: {entry if short else '...'}" for key, entry in items) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(show(entry) for entry in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(show(entry) for entry in value) + "]"
    if callable(value):
        return getattr(value, "__name__", "a function")
    text = repr(value)
    return text if len(text) <= 200 else f"<{type(value).__name__}>"


def show_result(value: Any) -> str:
    """A value that came back or should have: as show, but the rows of an array one below the other."""
    if isinstance(value, np.ndarray) and value.size <= 40:
        return table(value)
    if isinstance(value, tuple):
        return "\n".join(f"{i}: {show(entry, 40)}" for i, entry in enumerate(value))
    return show(value)


def table(array: np.ndarray) -> str:
    """An array as NumPy prints it, with commas and six decimals."""
    return np.array2string(array, precision=6, suppress_small=True, separator=", ", max_line_width=10**6)


def indent(text: str) -> str:
    """Further lines of a text stand under its first one."""
    return text.replace("\n", "\n" + " " * 10)
