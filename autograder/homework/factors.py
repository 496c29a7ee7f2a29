"""The inputs that the hidden suites must cover: for each function, the factors of its arguments and their values.

A table for each module is in `suites/<module>_factors.py`. A value is a few words with a condition on the arguments, so the
calls of any suite can be checked against it. The hidden suites make calls of every value, and of every pair of values of two
factors that interact; the audit finds classes without a call.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from autograder.homework import kit, reference
from autograder.homework import rubric as rubrics

Condition = Callable[..., Any]
Values = Mapping[str, Condition]


@dataclass(frozen=True)
class Factor:
    """One property in which the calls of a function may differ.

    `about` are the short names of the criteria that it concerns. `values` maps the words for each value to its condition: a
    function of arguments, by name, and optionally of `result`, the reference's result. Several values may be true of one
    call; a call that raises has no result, so no condition on the result is true.
    """

    name: str
    about: tuple[str, ...]
    values: Values


@dataclass(frozen=True)
class Inputs:
    """The factors of one function, and the pairs of them that interact.

    `never` are the pairs of values that no valid call combines.
    """

    factors: tuple[Factor, ...]
    pairs: tuple[tuple[str, str], ...]
    never: frozenset[frozenset[str]]


@dataclass(frozen=True)
class InputClass:
    """The calls of `function` for which all conditions are true.

    `about` are the ids of the criteria that grade it. `uses` are the arguments whose value in this class is not the default.
    """

    module: str
    function: str
    name: str
    about: frozenset[str]
    conditions: tuple[Condition, ...]
    uses: tuple[str, ...]

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a call belongs to this class; `values` are those of `seen`."""
        for condition in self.conditions:
            wanted = [values[name] for name in parameters(condition)]
            if any(isinstance(value, Exception) for value in wanted):
                return False
            try:
                if not condition(*wanted):
                    return False
            except IndexError:  # this call has no such axis or entry
                return False
            except Exception as error:
                error.add_note(f"in {condition} of {parameters(condition)}")
                raise
        return True


def factor(name: str, about: str, values: Values) -> Factor:
    """A factor; `about` are names of criteria, separated by spaces."""
    return Factor(name, tuple(about.split()), values)


def inputs(
    *factors: Factor, pairs: tuple[tuple[str, str], ...] = (), never: tuple[tuple[str, str], ...] = ()
) -> Inputs:
    """The factors of one function, the names of those that interact, and the impossible pairs of values."""
    return Inputs(factors, pairs, frozenset(map(frozenset, never)))


@cache
def of_module(module: str) -> dict[str, Inputs]:
    """The table of a module by function; empty for a module without one."""
    path = kit.suites() / f"{module}_factors.py"
    table: dict[str, Inputs] = kit.module(path).INPUTS if path.is_file() else {}
    return table


def classes(module: str) -> Iterator[InputClass]:
    """The input classes of a module: ways of passing arguments, values of factors, pairs of values that interact."""
    for function, table in of_module(module).items():
        # Each argument by name; those with a default also by position, and omitted.
        criteria = [c.id for c in rubrics.current().of(module) if function in c.grades and not c.visible]
        about, optional = frozenset(criteria) - {f"{module}.dtype", f"{module}.purity"}, defaults(function)
        for name in inspect.signature(reference.functions()[function]).parameters:
            ways: dict[str, tuple[Condition, tuple[str, ...]]] = {
                "given by name": (lambda named, name=name: name in named, (name,))
            }
            if name in optional:
                ways["given by position"] = (lambda named, left_out, name=name: name not in named | left_out, (name,))
                ways["left out"] = (lambda left_out, name=name: name in left_out, ())
            for way, (condition, uses) in ways.items():
                used = tuple(use for use in uses if use in optional)
                yield InputClass(module, function, f"{name} {way}", about, (condition,), used)
        by_name = {factor.name: factor for factor in table.factors}
        for factor in by_name.values():
            for value in factor.values:
                yield _input_class(module, function, {value: factor})
        for pair in table.pairs:
            first, second = (by_name[name] for name in pair)
            for values in product(first.values, second.values):
                if frozenset(values) not in table.never:
                    yield _input_class(module, function, dict(zip(values, (first, second), strict=True)))


def seen(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> dict[str, Any]:
    """The values that conditions may use: each argument by name; `result`; `named` and `left_out`, sets of names."""
    signature = inspect.signature(reference.functions()[function])
    bound = signature.bind(*args, **kwargs)
    left_out = signature.parameters.keys() - bound.arguments.keys()
    bound.apply_defaults()
    return {**bound.arguments, "result": result, "named": set(kwargs), "left_out": left_out}


def defaults(function: str) -> dict[str, Any]:
    """The arguments of a function that have defaults, with these."""
    parameters = inspect.signature(reference.functions()[function]).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@cache
def parameters(condition: Condition) -> tuple[str, ...]:
    """The names that a condition uses: its parameters without a default."""
    return tuple(p.name for p in inspect.signature(condition).parameters.values() if p.default is p.empty)


def _input_class(module: str, function: str, chosen: Mapping[str, Factor]) -> InputClass:
    conditions = tuple(factor.values[value] for value, factor in chosen.items())
    uses = [name for name, default in defaults(function).items() if any(_used(c, name, default) for c in conditions)]
    name = " and ".join(f"{factor.name}: {value}" for value, factor in chosen.items())
    about = frozenset(f"{module}.{criterion}" for factor in chosen.values() for criterion in factor.about)
    return InputClass(module, function, name, about, conditions, tuple(uses))


def _used(condition: Condition, name: str, default: Any) -> bool:
    """Whether a condition uses another value of the argument than its default."""
    parts: tuple[Condition, ...] = getattr(condition, "parts", ())
    if parts:
        return any(_used(part, name, default) for part in parts)
    names = parameters(condition)
    return name in names and (names != (name,) or not condition(default))


# Values that many functions share: axes, lengths, entries, masks.


def leading(name: str, own: int) -> Values:
    """The axes of an array before its last `own` axes."""

    def before(value: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = np.shape(value)[: np.ndim(value) - own]
        return shape

    values: dict[str, Condition] = {
        "no leading axis": lambda x: not before(x),
        "one leading axis": lambda x: len(before(x)) == 1,
        "two leading axes": lambda x: len(before(x)) == 2,
        "three leading axes": lambda x: len(before(x)) == 3,
        "a leading axis of length 1": lambda x: 1 in before(x),
    }
    return _of(name, values)


def length(name: str, axis: int, large: int = 16) -> Values:
    """The length of one axis of an array."""
    values: dict[str, Condition] = {
        "length 1": lambda x: np.shape(x)[axis] == 1,
        "length 2": lambda x: np.shape(x)[axis] == 2,
        "an odd length": lambda x: np.shape(x)[axis] % 2 == 1 < np.shape(x)[axis],
        "an even length above 3": lambda x: np.shape(x)[axis] % 2 == 0 and np.shape(x)[axis] > 3,
        f"a length above {large}": lambda x: np.shape(x)[axis] > large,
    }
    return _of(name, values)


def layout(name: str) -> Values:
    """The memory layout of an array."""
    return _of(name, {"by columns": lambda x: x.flags.fnc})


def order(name: str, first: str) -> Values:
    """The order of the keys of a dict; `first` usually comes first."""
    return _of(name, {"keys in another order": lambda params: next(iter(params)) != first})


def numbers(name: str) -> Values:
    """The entries of an array."""
    values: dict[str, Condition] = {
        "all entries zero": lambda x: not np.any(x),
        "some entries zero": lambda x: np.any(x == 0) and np.any(x),
        "all entries positive": lambda x: np.all(x > 0),
        "all entries negative": lambda x: np.all(x < 0),
        "entries of both signs": lambda x: np.any(x > 0) and np.any(x < 0),
    }
    return _of(name, values)


def dtypes(name: str) -> Values:
    """The dtype of an array."""
    return _of(name, {"float32": lambda x: x.dtype == np.float32, "float64": lambda x: x.dtype == np.float64})


def count(name: str, *values: int, above: int | None = None) -> Values:
    """An int argument."""
    conditions: dict[str, Condition] = {str(value): lambda n, value=value: n == value for value in values}
    if above is not None:
        conditions[f"above {above}"] = lambda n: n > above
    return _of(name, conditions)


def masks(name: str = "mask") -> Values:
    """The shapes of a mask for scores, whose last two axes are queries and keys."""
    forms: dict[str, Condition] = {
        "(queries, keys)": lambda m: m.ndim == 2 and 1 not in m.shape,
        "(1, keys)": lambda m: m.ndim == 2 and m.shape[0] == 1 < m.shape[1],
        "(queries, 1)": lambda m: m.ndim == 2 and m.shape[1] == 1 < m.shape[0],
        "(1, 1)": lambda m: m.shape == (1, 1),
        "(1, queries, keys)": lambda m: m.ndim == 3 and m.shape[0] == 1 and 1 not in m.shape[1:],
        "(n, queries, keys)": lambda m: m.ndim == 3 and 1 not in m.shape,
        "(n, 1, keys)": lambda m: m.ndim == 3 and m.shape[0] > 1 and m.shape[1] == 1 < m.shape[2],
        "(n, queries, 1)": lambda m: m.ndim == 3 and m.shape[0] > 1 and m.shape[2] == 1 < m.shape[1],
        "(m, 1, 1, keys)": lambda m: m.ndim == 4 and m.shape[0] > 1 and m.shape[1:3] == (1, 1) and m.shape[3] > 1,
        "(m, 1, queries, keys)": lambda m: m.ndim == 4 and m.shape[0] > 1 and m.shape[1] == 1 and 1 not in m.shape[2:],
        "(1, n, queries, keys)": lambda m: m.ndim == 4 and m.shape[0] == 1 and 1 not in m.shape[1:],
        "(m, n, queries, keys)": lambda m: m.ndim == 4 and 1 not in m.shape,
    }
    return _of(name, forms)


def hidden(name: str = "mask") -> Values:
    """The ways in which a mask hides keys."""

    def blind(mask: Any) -> Any:
        """The queries that attend to nothing."""
        return ~mask.any(axis=-1)

    values: dict[str, Condition] = {
        "nothing is hidden": lambda m: m.all(),
        "everything is hidden": lambda m: not m.any(),
        "some query sees nothing": lambda m: blind(m).any() and m.any(),
        "some query sees everything": lambda m: m.all(axis=-1).any() and not m.all(),
        "some query sees one key": lambda m: (m.sum(axis=-1) == 1).any() and m.shape[-1] > 1,
        "some key is hidden from all queries": lambda m: (~m.any(axis=-2)).any() and m.any(),
        "some example alone sees nothing": lambda m: m.ndim > 2 and _one_alone(blind(m).all(axis=-1)),
        "some example alone has something hidden": lambda m: m.ndim > 2 and _one_alone(~m.all(axis=(-1, -2))),
        "the future is hidden": lambda m: (
            m.shape[-1] > 1 and np.array_equal(m, np.tril(np.ones(m.shape[-2:], dtype=bool)))
        ),
        "the past is hidden": lambda m: (
            m.shape[-1] > 1 and np.array_equal(m, np.triu(np.ones(m.shape[-2:], dtype=bool)))
        ),
    }
    return _of(name, values)


def where(condition: Condition, values: Values) -> Values:
    """The values, only for calls that meet the condition."""
    return {words: _both(condition, value) for words, value in values.items()}


def _both(first: Condition, second: Condition) -> Condition:
    names = list(dict.fromkeys(parameters(first) + parameters(second)))

    def both(*given: Any) -> bool:
        values = dict(zip(names, given, strict=True))
        return all(condition(*(values[name] for name in parameters(condition))) for condition in (first, second))

    both.parts = (first, second)  # type: ignore[attr-defined]
    return _taking(names, both)


def _one_alone(holding: Any) -> bool:
    return bool(holding.any() and not holding.all())


def _of(name: str, values: Values) -> Values:
    """Conditions on one value as conditions on the argument `name`; none is true if that is None."""
    return {words: _on(name, condition) for words, condition in values.items()}


def _on(name: str, condition: Condition) -> Condition:
    """A condition whose only parameter is `name`."""

    def on(value: Any) -> bool:
        return value is not None and bool(condition(value))

    return _taking([name], on)


def _taking(names: list[str], condition: Condition) -> Condition:
    """The condition, with its parameters renamed."""
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    condition.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return condition
