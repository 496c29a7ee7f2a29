"""Finds the functions of your modules, what they call, and why they cannot be called."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

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
    where_it_was,
)
from student_limits import as_graded
from student_values.errors import CIRCULAR, location, missing
from student_values.source import definitions as functions_of
from student_values.source import is_stub, no_python, rename_advice, repeated_definition, resembles
from time_limit import SECONDS, limit

UNFINISHED: set[tuple[str, str]] = set()
LOADING: set[str] = set()  # modules may import each other


class Broken(NamedTuple):
    """Why a module cannot be imported, and which module to fix."""

    text: str
    cause: str


def find(module: str, function: str) -> Callable[..., Any]:
    """Return the student's function; raises NotReady with the reason if it cannot be called."""
    if (module, function) in UNFINISHED:
        raise NotReady(f"{function} was not called again because it did not finish (see above)")
    loaded = load(module)
    if isinstance(loaded, Broken):
        error = NotReady(loaded.text)
        error.cause = loaded.cause
        raise error
    found: Callable[..., Any] | None = getattr(loaded, function, None)
    if not callable(found):
        raise NotReady(missing(function, module))
    if unwritten_functions(module, [function]) and inspect.isfunction(found):
        raise NotWritten(f"{function} is not written yet")
    return found


@functools.cache
def load(module: str) -> ModuleType | Broken:
    """Return the student's module, or why it cannot be imported."""
    files = sorted(path.name for path in FOLDER.iterdir())
    name = f"{module}.py"
    if name not in files:
        near = next((file for file in files if resembles(file, module)), "")
        advice = (
            f", but there is {near}: {rename_advice(near, name)}"
            if near
            else f": it belongs next to the folder {CHECKS.name}"
        )
        return Broken(f"{name} is missing{advice}", module)
    data = (FOLDER / name).read_bytes()
    if said := no_python(data, name):
        return Broken(said, module)
    LOADING.add(module)
    try:
        with as_graded(), limit():
            return importlib.import_module(module)
    except TooLong as error:
        if (other := Path(error.file).stem) in {*MODULES} - LOADING:
            return Broken(f"{name} imports {other}.py, which cannot be imported", other)
        return Broken(where_it_was(error, f"stopped after {SECONDS:g} seconds").partition("\n")[0], module)
    except (Exception, SystemExit) as error:
        reason, other = where(error), ended_in(error)
        if other in {*MODULES} - LOADING and CIRCULAR not in reason and isinstance(found := load(other), Broken):
            return Broken(f"{name} imports {other}.py, which cannot be imported", found.cause)
        if not isinstance(error, SyntaxError):
            reason = reason.partition("\n")[0]
        said = reason if reason.startswith(f"{module}.py,") else f"{module}.py cannot be imported: {reason}"
        return Broken(said, module)
    finally:
        LOADING.discard(module)


def alone(module: str, function: str) -> Callable[..., Any]:
    """Return the function, from a fresh import of the student's modules."""
    loaded = [name for name, found in sys.modules.items() if is_students(getattr(found, "__file__", None) or "")]
    before = {name: sys.modules.pop(name) for name in loaded}
    try:
        with as_graded():
            found: Callable[..., Any] = getattr(importlib.import_module(module), function)
        return found
    finally:
        sys.modules.update(before)


def ended_in(error: BaseException) -> str:
    """Return the module in which an import failed, if the error names it."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename).stem
    if isinstance(error, ImportError) and error.name in MODULES:
        return error.name
    return Path(location(error.__traceback__, is_students)[0]).stem


def not_written(module: str, function: str, error: NotImplementedError) -> NotWritten | None:
    """Return the error for a function that is a stub, or calls one; None if the function itself raises NotImplementedError."""
    name, file, reason = unwritten(error)
    if not reason.endswith("is not written yet"):
        return None
    if name in (function, ""):
        return NotWritten(reason)
    if file != f"{module}.py" and file not in reason:
        reason = reason.replace(name, f"{name} ({file})", 1)
    return NotWritten(f"{reason}, and {function} calls it")


def unwritten_functions(module: str, functions: list[str]) -> list[str]:
    """Return the functions in this list that are still stubs."""
    found = definitions(module)
    return [function for function in functions if function in found and is_stub(found[function][-1])]


def silent_stubs(module: str) -> list[str]:
    """Return the stubs that do not raise NotImplementedError, which their callers do not notice."""
    found = definitions(module)
    return [
        name for name in unwritten_functions(module, [*found]) if "NotImplementedError" not in ast.dump(found[name][-1])
    ]


def defined_twice(module: str, functions: list[str]) -> list[str]:
    """Return a sentence about each function that is defined more than once."""
    return [
        said for function in functions if (said := repeated_definition(function, definitions(module).get(function, [])))
    ]


def place(module: str, function: str) -> str:
    """Where a function is defined: layernorm.py, line 37."""
    found = definitions(module).get(function)
    return f"{module}.py" + (f", line {found[-1].lineno}" if found else "")


@functools.cache
def definitions(module: str) -> dict[str, list[ast.FunctionDef]]:
    """Return the functions of a file by name; none if it cannot be parsed."""
    path = FOLDER / f"{module}.py"
    return functions_of(path.read_bytes()) if path.is_file() else {}


def cut_off(module: str, function: str) -> None:
    """Replace a function that does not finish with one that raises Stopped, wherever the student's code has imported it."""
    UNFINISHED.add((module, function))
    unfinished = getattr(sys.modules[module], function)

    def stopped(*args: Any, **kwargs: Any) -> None:
        raise Stopped(f"functions that call {function} were not run, because it did not finish (see above)")

    for loaded in [*sys.modules.values()]:
        if is_students(getattr(loaded, "__file__", None) or ""):
            for name, value in [*vars(loaded).items()]:
                if value is unfinished:
                    setattr(loaded, name, stopped)
