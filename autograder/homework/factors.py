"""What each function may be called with, laid out once: factors, and the values of each.

A table for each module stands beside its suite, in `suites/<module>_factors.py`. A value is a few words with a condition on the
arguments, so that the calls of any suite can be held against it. The hidden suites make calls of every value, and of every
pair of values of two factors that interact; `proof/blind_spots.py` looks for each such class of calls in them.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from autograder.homework import kit, reference
from autograder.homework import rubric as rubrics

Condition = Callable[..., Any]
Values = Mapping[str, Condition]


@dataclass(frozen=True)
class Factor:
    """One thing in which the calls of a function may differ.

    `about` are the short names of the criteria that speak of it. `values` maps the words for each value to its condition: a
    function of arguments, by their names, and, if wanted, of `result`, which is what the reference makes of them. Several
    values may hold for one call; a call that raises has no result, and no condition on the result holds for it.
    """

    name: str
    about: tuple[str, ...]
    values: Values


@dataclass(frozen=True)
class Inputs:
    """The factors of one function and the pairs of them that interact.

    `never` are the pairs of values that no allowed call has together.
    """

    factors: tuple[Factor, ...]
    pairs: tuple[tuple[str, str], ...]
    never: frozenset[frozenset[str]]


@dataclass(frozen=True)
class InputClass:
    """The calls of `function` for which all conditions hold.

    `about` are the ids of the criteria that speak of it; `uses` are the arguments with a default that are something else here.
    """

    module: str
    function: str
    name: str
    about: frozenset[str]
    conditions: tuple[Condition, ...]
    uses: tuple[str, ...]

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a call is of this class; `values` as `seen` gives them."""
        return all(_holds(condition, values) for condition in self.conditions)


def factor(name: str, about: str, values: Values) -> Factor:
    """A factor; `about` are names of criteria with blanks between them."""
    return Factor(name, tuple(about.split()), values)


def inputs(
    *factors: Factor, pairs: tuple[tuple[str, str], ...] = (), never: tuple[tuple[str, str], ...] = ()
) -> Inputs:
    """The factors of one function, the names of those that interact, and the pairs of values that cannot be."""
    return Inputs(factors, pairs, frozenset(map(frozenset, never)))


def of_module(module: str) -> dict[str, Inputs]:
    """The table of a module by function; empty for a module without one."""
    if not (kit.suites() / f"{module}_factors.py").is_file():
        return {}
    table: dict[str, Inputs] = importlib.import_module(f"autograder.homework.suites.{module}_factors").INPUTS
    return table


def classes(module: str) -> Iterator[InputClass]:
    """The classes of a module: ways of giving arguments, values of factors, pairs of values of two factors that interact."""
    for function, table in of_module(module).items():
        yield from _ways_of_giving(module, function)
        known = {one.name: one for one in table.factors}
        for one in known.values():
            for value in one.values:
                yield _input_class(module, function, {value: one})
        for pair in table.pairs:
            first, second = (known[name] for name in pair)
            for values in product(first.values, second.values):
                if frozenset(values) not in table.never:
                    yield _input_class(module, function, dict(zip(values, (first, second), strict=True)))


def seen(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> dict[str, Any]:
    """What conditions may ask of a call: the arguments by name, also those left out; `result`; `named`; `left_out`."""
    signature = inspect.signature(reference.functions()[function])
    bound = signature.bind(*args, **kwargs)
    left_out = signature.parameters.keys() - bound.arguments.keys()
    bound.apply_defaults()
    return {**bound.arguments, "result": result, "named": set(kwargs), "left_out": left_out}


def defaults(function: str) -> dict[str, Any]:
    """The arguments of a function that may be left out, with what they are then."""
    parameters = inspect.signature(reference.functions()[function]).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@cache
def parameters(condition: Condition) -> tuple[str, ...]:
    """What a condition asks for; a parameter with a default is its own business."""
    return tuple(p.name for p in inspect.signature(condition).parameters.values() if p.default is p.empty)


def _holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    wanted = [values[name] for name in parameters(condition)]
    if any(isinstance(value, Exception) for value in wanted):
        return False
    try:
        return bool(condition(*wanted))
    except IndexError:  # it speaks of an axis, or of an entry, that this call does not have
        return False
    except Exception as error:
        error.add_note(f"in {condition} of {parameters(condition)}")
        raise


def _input_class(module: str, function: str, chosen: Mapping[str, Factor]) -> InputClass:
    conditions = tuple(one.values[value] for value, one in chosen.items())
    uses = [name for name, default in defaults(function).items() if any(_used(c, name, default) for c in conditions)]
    name = " and ".join(f"{one.name}: {value}" for value, one in chosen.items())
    about = frozenset(f"{module}.{criterion}" for one in chosen.values() for criterion in one.about)
    return InputClass(module, function, name, about, conditions, tuple(uses))


def _used(condition: Condition, name: str, default: Any) -> bool:
    """Whether a condition asks for another value of the argument than its default."""
    parts: tuple[Condition, ...] = getattr(condition, "parts", ())
    names = parameters(condition)
    return (
        any(_used(part, name, default) for part in parts)
        if parts
        else name in names and (names != (name,) or not condition(default))
    )


def _ways_of_giving(module: str, function: str) -> Iterator[InputClass]:
    """Each argument given by name; those with a default also by position, and left out."""
    criteria = [c.id for c in rubrics.current().of(module) if function in c.grades and not c.visible]
    about, optional = frozenset(criteria) - {f"{module}.dtype", f"{module}.purity"}, defaults(function)
    for name in inspect.signature(reference.functions()[function]).parameters:
        ways: dict[str, tuple[Condition, tuple[str, ...]]] = {
            "given by name": (lambda named, name=name: name in named, (name,))
        }
        if name in optional:
            given = lambda named, left_out, name=name: name not in named | left_out  # noqa: E731
            ways["given by position"] = (given, (name,))
            ways["left out"] = (lambda left_out, name=name: name in left_out, ())
        for way, (condition, uses) in ways.items():
            used = tuple(use for use in uses if use in optional)
            yield InputClass(module, function, f"{name} {way}", about, (condition,), used)
