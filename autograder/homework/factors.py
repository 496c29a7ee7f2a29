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
Values = Mapping[str, Condition | tuple[Condition, ...]]  # several conditions must all be true


@dataclass(frozen=True)
class Factor:
    """One property in which the calls of a function may differ.

    `about` are the short names of the criteria that it concerns, separated by spaces. `values` maps the words for each value to
    its condition: a function of arguments, by name, and optionally of `result`, the reference's result. Several values may be
    true of one call; a call that raises has no result, so no condition on the result is true.
    """

    name: str
    about: str
    values: Values


class Inputs:
    """The factors of one function, and the pairs of them that interact; no valid call combines a pair of values in `never`."""

    def __init__(
        self, *factors: Factor, pairs: tuple[tuple[str, str], ...] = (), never: tuple[tuple[str, str], ...] = ()
    ):
        self.factors, self.pairs, self.never = factors, pairs, frozenset(map(frozenset, never))


factor, inputs = Factor, Inputs  # in the tables


@dataclass(frozen=True)
class InputClass:
    """The calls of `function` for which all conditions are true.

    `about` are the ids of the criteria that grade it. `uses` are the arguments whose value in this class is not the default.
    """

    function: str
    name: str
    about: frozenset[str]
    conditions: tuple[Condition, ...]
    uses: tuple[str, ...]

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a call belongs to this class; `values` are those of `seen`."""
        return all(_holds(condition, values) for condition in self.conditions)


def _holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    wanted = [values[name] for name in parameters(condition)]
    try:
        return not any(isinstance(value, Exception) for value in wanted) and bool(condition(*wanted))
    except IndexError:  # this call has no such axis or entry
        return False
    except Exception as error:
        error.add_note(f"in {condition} of {parameters(condition)}")
        raise


@cache
def of_module(module: str) -> dict[str, Inputs]:
    """The table of a module by function; empty for a module without one."""
    path = kit.suites() / f"{module}_factors.py"
    table: dict[str, Inputs] = kit.module(path).INPUTS if path.is_file() else {}
    return table


def classes(module: str) -> Iterator[InputClass]:
    """The input classes of a module: ways of passing arguments, values of factors, pairs of values that interact."""
    for function, table in of_module(module).items():
        criteria = {c.id for c in rubrics.current().of(module) if function in c.grades and not c.visible}
        about, optional = frozenset(criteria - {f"{module}.dtype", f"{module}.purity"}), defaults(function)
        for name in inspect.signature(reference.functions()[function]).parameters:
            used = (name,) if name in optional else ()
            ways: dict[str, tuple[Condition, tuple[str, ...]]] = {
                "given by name": (lambda named, name=name: name in named, used)
            }
            if used:
                ways["given by position"] = (lambda named, left_out, name=name: name not in named | left_out, used)
                ways["left out"] = (lambda left_out, name=name: name in left_out, ())
            for way, (condition, uses) in ways.items():
                yield InputClass(function, f"{name} {way}", about, (condition,), uses)
        by_name = {factor.name: factor for factor in table.factors}
        chosen: list[tuple[tuple[Factor, str], ...]] = [
            ((factor, value),) for factor in table.factors for value in factor.values
        ]
        for pair in table.pairs:
            first, second = (by_name[name] for name in pair)
            both = (values for values in product(first.values, second.values) if frozenset(values) not in table.never)
            chosen += [((first, one), (second, other)) for one, other in both]
        yield from (_input_class(module, function, values) for values in chosen)


def _input_class(module: str, function: str, values: tuple[tuple[Factor, str], ...]) -> InputClass:
    conditions = [condition for factor, value in values for condition in parts(factor.values[value])]
    uses = [name for name, default in defaults(function).items() if any(_uses(c, name, default) for c in conditions)]
    about = frozenset(f"{module}.{criterion}" for factor, _ in values for criterion in factor.about.split())
    name = " and ".join(f"{factor.name}: {value}" for factor, value in values)
    return InputClass(function, name, about, tuple(conditions), tuple(uses))


def _uses(condition: Condition, name: str, default: Any) -> bool:
    """Whether a condition uses another value of the argument than its default."""
    names = parameters(condition)
    return name in names and (names != (name,) or not condition(default))


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


def parts(value: Condition | tuple[Condition, ...]) -> tuple[Condition, ...]:
    return value if isinstance(value, tuple) else (value,)


@cache
def parameters(condition: Condition) -> tuple[str, ...]:
    """The names that a condition uses: its parameters without a default."""
    return tuple(p.name for p in inspect.signature(condition).parameters.values() if p.default is p.empty)


def where(condition: Condition, values: Values) -> Values:
    """The values, only for calls that meet the condition."""
    return {words: (condition, *parts(value)) for words, value in values.items()}


# Values that many functions share: axes, lengths, entries, masks. Each is a condition on the argument `name`.


def _of(name: str, values: Mapping[str, Condition]) -> Mapping[str, Condition]:
    """Conditions on one value as conditions on the argument `name`; none is true if that is None."""
    signature = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)])

    def on(condition: Condition) -> Condition:
        def holds(value: Any) -> bool:
            return value is not None and bool(condition(value))

        holds.__signature__ = signature  # type: ignore[attr-defined]
        return holds

    return {words: on(condition) for words, condition in values.items()}


def leading(name: str, own: int) -> Values:
    """The axes of an array before its last `own` axes."""
    counts = {"no leading axis": 0, "one leading axis": 1, "two leading axes": 2, "three leading axes": 3}
    values: dict[str, Condition] = {
        words: lambda x, number=number: np.ndim(x) - own == number for words, number in counts.items()
    }
    values["a leading axis of length 1"] = lambda x: 1 in np.shape(x)[: np.ndim(x) - own]
    return _of(name, values)


def length(name: str, axis: int, large: int = 16) -> Values:
    """The length of one axis of an array."""
    values: dict[str, Condition] = {
        "length 1": lambda n: n == 1,
        "length 2": lambda n: n == 2,
        "an odd length": lambda n: n % 2 == 1 < n,
        "an even length above 3": lambda n: n % 2 == 0 and n > 3,
        f"a length above {large}": lambda n: n > large,
    }
    return _of(name, {words: lambda x, of=of: of(np.shape(x)[axis]) for words, of in values.items()})


def layout(name: str) -> Values:
    """The memory layout of an array."""
    return _of(name, {"by columns": lambda x: x.flags.fnc})


def order(name: str, first: str) -> Values:
    """The order of the keys of a dict; `first` usually comes first."""
    return _of(name, {"keys in another order": lambda params: next(iter(params)) != first})


def numbers(name: str) -> Mapping[str, Condition]:
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
    return _of(name, conditions | ({f"above {above}": lambda n: n > above} if above is not None else {}))


def masks(name: str = "mask") -> Mapping[str, Condition]:
    """The shapes of a mask for scores, whose last two axes are queries and keys."""
    shapes = (
        "queries, keys", "1, keys", "queries, 1", "1, 1", "1, queries, keys", "n, queries, keys", "n, 1, keys",
        "n, queries, 1", "m, 1, 1, keys", "m, 1, queries, keys", "1, n, queries, keys", "m, n, queries, keys",
    )  # fmt: skip
    ones = {f"({shape})": [axis == "1" for axis in shape.split(", ")] for shape in shapes}
    return _of(
        name, {words: lambda m, ones=ones: [size == 1 for size in m.shape] == ones for words, ones in ones.items()}
    )


def hidden(name: str = "mask") -> Mapping[str, Condition]:
    """The ways in which a mask hides keys."""

    def blind(mask: Any) -> Any:
        """The queries that attend to nothing."""
        return ~mask.any(axis=-1)

    def one_alone(of_examples: Any) -> bool:
        return bool(of_examples.any() and not of_examples.all())

    values: dict[str, Condition] = {
        "nothing is hidden": lambda m: m.all(),
        "everything is hidden": lambda m: not m.any(),
        "some query sees nothing": lambda m: blind(m).any() and m.any(),
        "some query sees everything": lambda m: m.all(axis=-1).any() and not m.all(),
        "some query sees one key": lambda m: (m.sum(axis=-1) == 1).any() and m.shape[-1] > 1,
        "some key is hidden from all queries": lambda m: (~m.any(axis=-2)).any() and m.any(),
        "some example alone sees nothing": lambda m: m.ndim > 2 and one_alone(blind(m).all(axis=-1)),
        "some example alone has something hidden": lambda m: m.ndim > 2 and one_alone(~m.all(axis=(-1, -2))),
        "the future is hidden": lambda m: m.shape[-1] > 1 and np.array_equal(m, np.tril(np.ones(m.shape[-2:], bool))),
        "the past is hidden": lambda m: m.shape[-1] > 1 and np.array_equal(m, np.triu(np.ones(m.shape[-2:], bool))),
    }
    return _of(name, values)
