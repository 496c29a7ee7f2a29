"""Values of factors that many functions share: axes, lengths, entries, masks."""

import inspect
from typing import Any

import numpy as np

from autograder.homework.factors import Condition, Values, parameters


def leading(name: str, own: int) -> Values:
    """The axes that an array may have before its own `own` axes."""

    def before(value: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = np.shape(value)[: np.ndim(value) - own]
        return shape

    return _of(
        name,
        {
            "no axis before": lambda x: not before(x),
            "one axis before": lambda x: len(before(x)) == 1,
            "two axes before": lambda x: len(before(x)) == 2,
            "three axes before": lambda x: len(before(x)) == 3,
            "an axis of length 1 before": lambda x: 1 in before(x),
        },
    )


def length(name: str, axis: int, large: int = 16) -> Values:
    """The length of one axis of an array."""
    return _of(
        name,
        {
            "length 1": lambda x: np.shape(x)[axis] == 1,
            "length 2": lambda x: np.shape(x)[axis] == 2,
            "an odd length": lambda x: np.shape(x)[axis] % 2 == 1 < np.shape(x)[axis],
            "a length above 3 that is even": lambda x: np.shape(x)[axis] % 2 == 0 and np.shape(x)[axis] > 3,
            f"a length above {large}": lambda x: np.shape(x)[axis] > large,
        },
    )


def layout(name: str) -> Values:
    """How an array lies in memory."""
    return _of(name, {"by columns": lambda x: x.flags.fnc})


def order(name: str, first: str) -> Values:
    """The order of the keys of a dict, of which `first` is usually the first."""
    return _of(name, {"keys in another order": lambda params: next(iter(params)) != first})


def numbers(name: str) -> Values:
    """The entries of an array."""
    return _of(
        name,
        {
            "all entries zero": lambda x: not np.any(x),
            "some entries zero": lambda x: np.any(x == 0) and np.any(x),
            "all entries positive": lambda x: np.all(x > 0),
            "all entries negative": lambda x: np.all(x < 0),
            "entries of both signs": lambda x: np.any(x > 0) and np.any(x < 0),
        },
    )


def dtypes(name: str) -> Values:
    """The dtype of an array."""
    return _of(name, {"float32": lambda x: x.dtype == np.float32, "float64": lambda x: x.dtype == np.float64})


def count(name: str, *values: int, above: int | None = None) -> Values:
    """An int argument."""
    found: dict[str, Condition] = {str(value): lambda n, value=value: n == value for value in values}
    if above is not None:
        found[f"above {above}"] = lambda n: n > above
    return _of(name, found)


def masks(name: str = "mask") -> Values:
    """The shapes of a mask for scores whose own axes, the last two, are those of queries and keys."""
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
    """What a mask hides."""

    def blind(mask: Any) -> Any:
        """Which queries see nothing."""
        return ~mask.any(axis=-1)

    return _of(
        name,
        {
            "nothing is hidden": lambda m: m.all(),
            "everything is hidden": lambda m: not m.any(),
            "some query sees nothing": lambda m: blind(m).any() and m.any(),
            "some query sees everything": lambda m: m.all(axis=-1).any() and not m.all(),
            "some query sees one key": lambda m: (m.sum(axis=-1) == 1).any() and m.shape[-1] > 1,
            "some key is seen by none": lambda m: (~m.any(axis=-2)).any() and m.any(),
            "some example alone sees nothing": lambda m: m.ndim > 2 and _one_alone(blind(m).all(axis=-1)),
            "some example alone has something hidden": lambda m: m.ndim > 2 and _one_alone(~m.all(axis=(-1, -2))),
            "the future is hidden": lambda m: (
                m.shape[-1] > 1 and np.array_equal(m, np.tril(np.ones(m.shape[-2:], dtype=bool)))
            ),
            "the past is hidden": lambda m: (
                m.shape[-1] > 1 and np.array_equal(m, np.triu(np.ones(m.shape[-2:], dtype=bool)))
            ),
        },
    )


def where(condition: Condition, values: Values) -> Values:
    """The values, of those calls only for which the condition holds too."""
    return {words: _both(condition, value) for words, value in values.items()}


def _both(first: Condition, second: Condition) -> Condition:
    names = list(dict.fromkeys(parameters(first) + parameters(second)))

    def both(*given: Any) -> bool:
        values = dict(zip(names, given, strict=True))
        return all(condition(*(values[name] for name in parameters(condition))) for condition in (first, second))

    both.parts = (first, second)  # type: ignore[attr-defined]
    return _taking(names, both)


def _one_alone(found: Any) -> bool:
    return bool(found.any() and not found.all())


def _of(name: str, values: Values) -> Values:
    """Conditions on one value as conditions on the argument `name`; none holds where that is None."""
    return {words: _on(name, condition) for words, condition in values.items()}


def _on(name: str, condition: Condition) -> Condition:
    """A condition whose only parameter is called `name`."""

    def on(value: Any) -> bool:
        return value is not None and bool(condition(value))

    return _taking([name], on)


def _taking(names: list[str], condition: Condition) -> Condition:
    """The condition, with its parameters called by these names."""
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    condition.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return condition
