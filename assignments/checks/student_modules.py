"""Your modules: how a function of one is found, what it needs, and why it cannot be called."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from endless_loops import SECONDS
from student_errors import (
    CHECKS,
    FOLDER,
    MODULES,
    NotReady,
    Stopped,
    TooLong,
    is_stub,
    is_students,
    unwritten,
    where,
    where_it_stood,
)
from student_values.names import resembles

ENDLESS: set[tuple[str, str]] = set()


def find(module: str, function: str) -> Callable[..., Any]:
    """The student's function, or NotReady with the reason in one line."""
    if (module, function) in ENDLESS:
        raise NotReady(f"{function} is not called any more: it did not end, see above")
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
    except TooLong as error:
        return where_it_stood(error, SECONDS).partition("\n")[0]
    except (Exception, SystemExit) as error:
        reason = where(error).partition("\n")[0]
        return reason if reason.startswith(f"{module}.py,") else f"{module}.py cannot be imported: {reason}"


def not_written(module: str, function: str, error: NotImplementedError) -> NotReady:
    """The line for a function that still ends in NotImplementedError, or needs one that does."""
    name, file, reason = unwritten(error)
    if name in (function, ""):
        return NotReady(reason)
    if file != f"{module}.py" and file not in reason:
        reason = reason.replace(name, f"{name} ({file})", 1)
    return NotReady(f"{reason}, and {function} needs it")


def unwritten_functions(module: str, functions: list[str]) -> list[str]:
    """Those of the functions in whose place there is still only the raise of the stub."""
    path = FOLDER / f"{module}.py"
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError):
        return []
    stubs = {node.name: is_stub(node) for node in body if isinstance(node, ast.FunctionDef)}  # of two, the last one
    return [function for function in functions if stubs.get(function)]


def cut_off(module: str, function: str) -> None:
    """Put something that ends at once in the place of a function that does not, wherever the student's code has it."""
    ENDLESS.add((module, function))
    endless = getattr(sys.modules[module], function)

    def stopped(*args: Any, **kwargs: Any) -> None:
        raise Stopped(f"a function that needs {function} is not called: that one did not end, see above")

    for loaded in [*sys.modules.values()]:
        if is_students(getattr(loaded, "__file__", None) or ""):
            for name, value in [*vars(loaded).items()]:
                if value is endless:
                    setattr(loaded, name, stopped)


def needs(module: str, function: str) -> set[tuple[str, str]]:
    """The functions of the homework that a student's function calls, itself or through others, as (module, name)."""
    found: set[tuple[str, str]] = set()
    start = getattr(sys.modules.get(module), function, None)
    waiting = [start] if inspect.isfunction(start) else []
    while waiting:
        made = waiting.pop()
        for value in _named_in(made.__code__, made.__globals__):
            key = (value.__module__, value.__name__)
            if key not in found and is_students(value.__code__.co_filename):
                found.add(key)
                waiting.append(value)
    return {key for key in found if key[0] in MODULES} - {(module, function)}


def _named_in(code: CodeType, names: dict[str, Any]) -> list[Any]:
    """The functions that the names in a piece of code may stand for, also as layernorm.layer_norm."""
    nested = [const for const in code.co_consts if isinstance(const, CodeType)]
    direct = [names.get(name, sys.modules.get(name) if name in MODULES else None) for name in code.co_names]
    modules = [value for value in direct if isinstance(value, ModuleType) and value.__name__ in MODULES]
    through = [getattr(module, name, None) for module in modules for name in code.co_names]
    found = [value for value in [*direct, *through] if inspect.isfunction(value)]
    return found + [value for inner in nested for value in _named_in(inner, names)]
