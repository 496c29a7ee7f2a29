"""The catalogue of known mistakes: each an executable wrong version of one function.

A file of `misconceptions/` holds functions named `<function>__<name>` under `@misconception(sentence, read)` and a table
EXAMPLES of tiny public inputs. Nothing here runs student code.
"""

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, ModuleType
from typing import Any, cast

from autograder.homework import kit, mistakes, reference

Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Misconception:
    """A wrong version of `function`: its source as a student would write it, and what to tell the student."""

    function: str
    name: str
    sentence: str
    read: str
    source: str = field(repr=False)
    names: dict[str, Any] = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        return f"{self.function}.{self.name}"

    def fresh(self) -> Callable[..., Any]:
        """The wrong version without any state left by earlier calls."""
        namespace = dict(self.names)
        exec(_compiled(self.source, self.id), namespace)
        made: Callable[..., Any] = namespace[self.function]
        return made


@cache
def _compiled(source: str, name: str) -> CodeType:
    return compile(source, f"<{name}>", "exec")


def misconception(sentence: str, read: str) -> Callable[[Callable[..., Any]], Misconception]:
    """Turn a function named `<function>__<name>` into a catalogue entry."""

    def enter(body: Callable[..., Any]) -> Misconception:
        function, _, name = body.__name__.partition("__")
        if not name:
            raise ValueError(f"{body.__name__}: a misconception is named <function>__<name>")
        return Misconception(function, name, sentence, read, _renamed(body, function), body.__globals__)

    return enter


def _renamed(body: Callable[..., Any], name: str) -> str:
    tree = ast.parse(inspect.getsource(body))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list, definition.name = [], name
    return ast.unparse(tree) + "\n"


@cache
def _file(module: str) -> ModuleType:
    path = kit.catalogue() / f"{module}.py"
    loaded = ModuleType(f"autograder.homework.misconceptions.{module}")
    if path.is_file():
        spec = importlib.util.spec_from_file_location(loaded.__name__, path)
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[loaded.__name__] = loaded  # so that inspect finds the source of its functions
        spec.loader.exec_module(loaded)
    return loaded


@cache
def of_module(module: str) -> tuple[Misconception, ...]:
    """The misconceptions of a module, in the order of the file."""
    converted = mistakes.of_module(module)
    if converted:
        return cast(tuple[Misconception, ...], converted)  # what this module is used for is the same in both forms
    return tuple(entry for entry in vars(_file(module)).values() if isinstance(entry, Misconception))


@cache
def of_function(module: str, function: str) -> tuple[Misconception, ...]:
    return tuple(entry for entry in of_module(module) if entry.function == function)


def examples(module: str, function: str) -> list[Call]:
    """Tiny public inputs on which a wrong function is shown to be wrong, smallest first."""
    table: dict[str, list[Call]] = dict(mistakes.known(module).examples) or getattr(_file(module), "EXAMPLES", {})
    return table.get(function, [])


TRIVIAL = {
    "zeros": "return _like(_right(*args, **kwargs), 0)",
    "constant": "return _like(_right(*args, **kwargs), 1)",
    "first_argument": "return _first(_right(*args, **kwargs), args)",
    "always_value_error": "raise ValueError('no')",
    "nothing": "return None",
}
_TRIVIAL_SOURCE = """
{right}

def _like(right, value):
    if isinstance(right, tuple):
        return tuple(_like(part, value) for part in right)
    if isinstance(right, np.ndarray):
        return np.full_like(right, value)
    return {{key: str(value) for key in right}} if isinstance(right, dict) else type(right)(value)

def _first(right, args):
    first = args[0] if args else None
    return tuple(first for _ in right) if isinstance(right, tuple) else first

def {function}(*args, **kwargs):
    {body}
"""


def trivial(module: str, function: str) -> tuple[Misconception, ...]:
    """Code that computes nothing, even where it knows the right shape: it must earn nothing."""
    right = reference.functions()[function]
    names = vars(reference.modules()[module])
    sources = {
        name: _TRIVIAL_SOURCE.format(right=_renamed(right, "_right"), function=function, body=body)
        for name, body in TRIVIAL.items()
    }
    return tuple(
        Misconception(function, name, "This computes nothing yet.", "the docstring", source, names)
        for name, source in sources.items()
    )
