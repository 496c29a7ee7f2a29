"""Known mistakes in code that does the work of another function: a block may have a layer norm of its own, written out inside.

Each is the correct function, built on a wrong version of one of the functions that it calls, directly or not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from types import CodeType
from typing import Any

from autograder.homework import mistakes, reference, rubric
from autograder.homework.mistakes import Mistake, Version, compiled, correct


@dataclass(frozen=True)
class Inlined(Version):
    """A function that is built on a wrong version of another one."""

    changed: Version = field(repr=False)

    def fresh(self, helpers: object = None) -> Callable[..., Any]:
        return _assembled(self, self.changed)

    def enter(self, names: dict[str, Any]) -> None:
        names[self.function] = self.fresh()


@cache
def of_function(module: str, function: str) -> tuple[Mistake, ...]:
    """The mistakes of value in the functions below this one, the nearest first. They belong to no criterion yet."""
    values = {c.id for c in rubric.current().criteria.values() if c.looks_at == "values"}
    below = [m for name in _below(function) for m in mistakes.of_function(rubric.current().module_of(name), name)]
    told = (m for m in below if not m.memory and not m.inexact and values.issuperset(m.criteria))
    return tuple(_moved(mistake, module, function) for mistake in told)


def find(id: str) -> Mistake | None:
    """The mistake of this id, inside other code or not, if today's files have it."""
    function, _, name = id.partition(".")
    if "." not in name or function not in reference.functions():
        return mistakes.find(id)
    known = of_function(rubric.current().module_of(function), function)
    return next((mistake for mistake in known if mistake.name == name), None)


def _moved(mistake: Mistake, module: str, function: str) -> Mistake:
    does = f"Where `{function}` does the work of `{mistake.function}`: {mistake.does}"
    name = f"{mistake.function}.{mistake.name}"
    return replace(
        mistake, module=module, function=function, name=name, criteria=(), does=does, inside=mistake, inexact=False
    )


def made(module: str, function: str, chosen: tuple[Mistake, ...]) -> Version | None:
    """The function with these mistakes, one of which may be in what it is built on; None where they cannot stand together."""
    inside = [mistake.inside for mistake in chosen if mistake.inside is not None]
    base = mistakes.made(module, function, tuple(mistake for mistake in chosen if mistake.inside is None))
    if not inside:
        return base
    return Inlined(module, function, chosen, base.source, inside[0].alone) if base and len(inside) == 1 else None


@cache
def _below(function: str) -> tuple[str, ...]:
    """The contract functions that a correct one calls, directly or not, the nearest first."""
    found = [function]
    for name in found:
        found += [other for other in _called(name) if other not in found]
    return tuple(found[1:])


@cache
def _called(function: str) -> tuple[str, ...]:
    source = correct(rubric.current().module_of(function), function).source
    names = dict.fromkeys(_names(compiled(source, function)))
    return tuple(name for name in names if name in reference.functions() and name != function)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _assembled(version: Version, changed: Version) -> Callable[..., Any]:
    """A version that finds, wherever it calls for it, the changed function."""
    names = dict(vars(reference.modules()[version.module]))
    for name in _called(version.function):
        if name == changed.function:
            names[name] = changed.fresh()
        elif changed.function in _below(name):
            names[name] = _assembled(correct(rubric.current().module_of(name), name), changed)
    exec(compiled(version.source, version.function), names)  # noqa: S102 - the kit's own text
    return names[version.function]  # type: ignore[no-any-return]
