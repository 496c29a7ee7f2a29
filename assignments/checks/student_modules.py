"""Your modules: how a function of one is found, what it needs, and why it cannot be called."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from endless_loops import SECONDS
from student_errors import (
    CHECKS,
    FOLDER,
    MODULES,
    NotReady,
    NotWritten,
    Stopped,
    TooLong,
    is_students,
    unwritten,
    where,
    where_it_stood,
)
from student_limits import as_graded
from student_values.errors import CIRCULAR, missing
from student_values.errors import place as place_of
from student_values.names import mend, resembles
from student_values.source import definitions as functions_of
from student_values.source import is_stub, no_python, twice

ENDLESS: set[tuple[str, str]] = set()
LOADING: set[str] = set()  # modules may import one another


def find(module: str, function: str) -> Callable[..., Any]:
    """The student's function, or NotReady with the reason in one line."""
    if (module, function) in ENDLESS:
        raise NotReady(f"{function} is not called any more: it did not end, see above")
    loaded = load(module)
    if isinstance(loaded, str):
        raise NotReady(loaded)
    found: Callable[..., Any] | None = getattr(loaded, function, None)
    if not callable(found):
        raise NotReady(missing(function, module))
    if unwritten_functions(module, [function]) and inspect.isfunction(found):
        raise NotWritten(f"{function} is not written yet")
    return found


@functools.cache
def load(module: str) -> ModuleType | str:
    """The student's module, or one line that says why it cannot be imported."""
    files = sorted(path.name for path in FOLDER.iterdir())
    name = f"{module}.py"
    if name not in files:
        near = next((file for file in files if resembles(file, module)), "")
        advice = (
            f", but there is {near}: {mend(near, name)}" if near else f": it must lie beside the folder {CHECKS.name}"
        )
        return f"{name} is missing{advice}"
    data = (FOLDER / name).read_bytes()
    if said := no_python(data, name):
        return said
    LOADING.add(module)
    try:
        with as_graded():
            return importlib.import_module(module)
    except TooLong as error:
        other = Path(error.file).stem
        if other in {*MODULES} - LOADING:
            return f"{name} needs {other}.py, which cannot be imported"
        return where_it_stood(error, SECONDS).partition("\n")[0]
    except (Exception, SystemExit) as error:
        reason, other = where(error), ended_in(error)
        if other in {*MODULES} - LOADING and CIRCULAR not in reason and isinstance(load(other), str):
            return f"{name} needs {other}.py, which cannot be imported"
        if not isinstance(error, SyntaxError):
            reason = reason.partition("\n")[0]
        return reason if reason.startswith(f"{module}.py,") else f"{module}.py cannot be imported: {reason}"
    finally:
        LOADING.discard(module)


def alone(module: str, function: str) -> Callable[..., Any]:
    """A function in student's modules that have only just been imported."""
    loaded = [name for name, found in sys.modules.items() if is_students(getattr(found, "__file__", None) or "")]
    before = {name: sys.modules.pop(name) for name in loaded}
    try:
        with as_graded():
            found: Callable[..., Any] = getattr(importlib.import_module(module), function)
        return found
    finally:
        sys.modules.update(before)


def ended_in(error: BaseException) -> str:
    """The module that an import ended in, as far as its error says so."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename).stem
    if isinstance(error, ImportError) and error.name in MODULES:
        return error.name
    return Path(place_of(error.__traceback__, is_students)[0]).stem


def not_written(module: str, function: str, error: NotImplementedError) -> NotReady:
    """The line for a function that still ends in NotImplementedError, or needs one that does."""
    name, file, reason = unwritten(error)
    kind = NotWritten if reason.endswith("is not written yet") else NotReady
    if name in (function, ""):
        return kind(reason)
    if file != f"{module}.py" and file not in reason:
        reason = reason.replace(name, f"{name} ({file})", 1)
    return kind(f"{reason}, and {function} needs it")


def unwritten_functions(module: str, functions: list[str]) -> list[str]:
    """Those of the functions that compute nothing yet."""
    found = definitions(module)
    return [function for function in functions if function in found and is_stub(found[function][-1])]


def silent_stubs(module: str) -> list[str]:
    """The functions that compute nothing yet and do not raise NotImplementedError, which would tell those that need them."""
    found = definitions(module)
    return [
        name for name in unwritten_functions(module, [*found]) if "NotImplementedError" not in ast.dump(found[name][-1])
    ]


def defined_twice(module: str, functions: list[str]) -> list[str]:
    """A sentence about each of the functions of which only the last definition counts."""
    return [said for function in functions if (said := twice(function, definitions(module).get(function, [])))]


def place(module: str, function: str) -> str:
    """Where a function stands: layernorm.py, line 37."""
    found = definitions(module).get(function)
    return f"{module}.py" + (f", line {found[-1].lineno}" if found else "")


@functools.cache
def definitions(module: str) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a file by name; none where it cannot be read."""
    path = FOLDER / f"{module}.py"
    return functions_of(path.read_bytes()) if path.is_file() else {}


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
