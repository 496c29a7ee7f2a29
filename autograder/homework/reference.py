"""The reference functions by name: `from autograder.homework.reference import layer_norm`.

They are loaded once from the solutions, in the grader's process. A student's process never imports this module; it
receives the compiled code of the modules that the module under test depends on.
"""

import ast
import contextlib
import importlib
import inspect
import marshal
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.homework import kit, rubric
from autograder.sandbox.protocol import Reference


@cache
def modules() -> dict[str, ModuleType]:
    """Every reference module by name."""
    return load(kit.solutions(), tuple(rubric.current().modules))


def load(folder: Path, names: Collection[str]) -> dict[str, ModuleType]:
    """Import `names` from `folder`."""
    with importable(folder, names):
        return {name: importlib.import_module(name) for name in names}


@contextlib.contextmanager
def importable(folder: Path, names: Collection[str]) -> Iterator[None]:
    """Import modules and packages of these names from `folder`, without leaving them in sys.modules, or bytecode on disk."""
    hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in names}
    path, dont_write = [*sys.path], sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    _forget(names)
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, dont_write
        _forget(names)
        sys.modules.update(hidden)


def _forget(names: Collection[str]) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Every contract function by name."""
    entries = rubric.current().modules
    return {function: getattr(modules()[name], function) for name in entries for function in entries[name].functions}


def files() -> dict[str, bytes]:
    """The reference modules as a submission."""
    return {f"{name}.py": (kit.solutions() / f"{name}.py").read_bytes() for name in rubric.current().modules}


def replacing(modules: Iterable[str]) -> list[Reference]:
    """References that replace a student's modules, preceded by those that they import."""
    wanted, entries = set(modules), rubric.current()
    needed = wanted.union(*map(entries.below, wanted))
    return [
        Reference(name, _compiled(name), tuple(entry.functions) if name in wanted else ())
        for name, entry in entries.modules.items()
        if name in needed
    ]


@cache
def helpers(module: str, functions: tuple[str, ...]) -> Reference:
    """Some functions of a reference module, without its other contract functions."""
    needed = (*functions, *rubric.current().helpers(module, functions))
    return Reference(
        module, _compiled(module, frozenset(rubric.current().modules[module].functions) - {*needed}), functions
    )


@cache
def _compiled(module: str, without: frozenset[str] = frozenset()) -> bytes:
    """The code of a reference module, without some of its functions."""
    tree = ast.parse(files()[f"{module}.py"])
    tree.body = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in without)]
    return marshal.dumps(compile(tree, f"{module}.py", "exec", dont_inherit=True))


def parts(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parts of the tuple that a function returns, from its docstring; () for any other function.

    The docstring says "Returns: a tuple (y (n, d), new_running_mean (d,))", with or without shapes.
    """
    listed = (inspect.getdoc(function) or "").partition("Returns: a tuple (")[2]
    without_shapes = re.sub(r"\s\([^()]*\)", "", listed).partition(")")[0]
    return tuple(without_shapes.replace(",", " ").split())


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return functions()[name]
    except KeyError:
        raise AttributeError(f"there is no contract function {name!r}") from None
