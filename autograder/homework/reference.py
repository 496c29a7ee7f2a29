"""Loads and compiles the reference solutions.

They are loaded in the grader's process. A student's process receives the compiled code of the modules that the module under
test depends on.
"""

import ast
import contextlib
import importlib
import inspect
import marshal
import re
import sys
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


def load(folder: Path, names: Collection[str]) -> dict[str, ModuleType]:
    """Import `names` from `folder`."""
    with importable(folder, names):
        return {name: importlib.import_module(name) for name in names}


@contextlib.contextmanager
def importable(folder: Path, names: Collection[str]) -> Iterator[None]:
    """Import modules and packages of these names from `folder`, without leaving them in sys.modules, or bytecode on disk."""
    path, dont_write = [*sys.path], sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        with hidden(names):
            yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, dont_write


@contextlib.contextmanager
def hidden(names: Collection[str]) -> Iterator[None]:
    """Hide modules and packages of these names in sys.modules, and forget those that are imported in the meantime."""
    before = _taken(names)
    try:
        yield
    finally:
        _taken(names)
        sys.modules.update(before)


def _taken(names: Collection[str]) -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in names}


@cache
def compiled(file: str, source: bytes, without: frozenset[str] = frozenset()) -> bytes:
    """Return the code of a reference module, without some of its functions."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in without)]
    return marshal.dumps(compile(tree, file, "exec", dont_inherit=True))


def parts(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parts of the tuple that a function returns, from its docstring; () for any other function.

    The docstring says "Returns: a tuple (y (n, d), new_running_mean (d,))", with or without shapes.
    """
    listed = (inspect.getdoc(function) or "").partition("Returns: a tuple (")[2]
    without_shapes = re.sub(r"\s\([^()]*\)", "", listed).partition(")")[0]
    return tuple(without_shapes.replace(",", " ").split())
