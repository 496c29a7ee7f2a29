"""Helpers for hidden suites, in addition to the fixtures `check` and `rng`."""

import doctest
import linecache
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograder.shared.tree import arrays, copied, mapped

Array = np.ndarray[Any, Any]

criterion = pytest.mark.criterion

# Docstrings print four decimals, which hide smaller errors. A passing doctest earns the worked examples.
PRINTED = 1e-4


def worked_examples(check: Any, module: str) -> None:
    """Call a module's functions as in the examples of their docstrings."""
    for target, function in check._recorder.functions.items():
        if target.module != module:
            continue
        name, examples = target.function, doctest.DocTestParser().get_examples(function.__doc__ or "")
        file = f"<examples of {name} in {function.__code__.co_filename}>"
        source = "".join(example.source for example in examples)
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # students see its functions
        names = {**function.__globals__, name: getattr(check.within(PRINTED), name)}
        exec(compile(source, file, "exec"), names)  # noqa: S102 - our own docstrings


def leaves_no_trace(check: Any, function: str, first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
    """Check that calls have no lasting effects; `first` and `second` are different arguments of the same shapes.

    Arguments must not change, and a repeated call must return the same result, also after a call with `second`. The
    function is also called with other parameters, with the same arrays changed in place, and once more with the first
    arguments after the caller has overwritten their first result. A result may be a view of an argument, so no argument
    is used again after its result was overwritten.
    """
    retained = getattr(check.keep, function)
    if arrays(first):  # else the results may have other shapes
        retained(*copied(second))
    result = getattr(check.keep.pure, function)(*copied(first))
    changing = copied((second[0], *first[1:]) if callable(first[0]) else (first[0], *second[1:]))
    retained(*changing)
    for written in _changes(changing, second):
        for array, value in written:
            check.overwrite(array, value)
        retained(*changing)
    new_arrays = arrays(result)
    if new_arrays or isinstance(result, dict | list):
        check.stays(result)
    for array in new_arrays:
        check.overwrite(array, 0)
    repeated = retained(*copied(first))
    if new_arrays and not arrays(first):  # without arrays two results could be one array
        check.overwrite(new_arrays[0], 1)
        check.stays(repeated)


def _changes(arguments: tuple[Any, ...], second: tuple[Any, ...]) -> Iterator[list[tuple[Array, Array]]]:
    """Yield the changes that the caller makes between calls: to the first array, then to two in a dict or list of parameters."""
    written = arrays(arguments)
    if written:
        yield [(written[0], arrays(copied(second))[0])]
    nested = [array for argument in arguments if isinstance(argument, dict | list) for array in arrays(argument)]
    if nested:
        yield [(array, 2 * array + 1) for array in (nested[len(nested) // 3], nested[-1])]


def varied(rng: np.random.Generator, *shapes: tuple[int, ...], start: int = 0) -> Iterator[Array]:
    """Yield an array of each shape, in turn with mixed signs, positive, negative, with some zeros, all zero."""
    for number, shape in enumerate(shapes, start):
        array = (
            rng.normal(0, 1, shape),
            rng.uniform(1, 3, shape),
            -rng.uniform(1, 3, shape),
            rng.normal(0, 1, shape),
            np.zeros(shape),
        )[number % 5]
        if number % 5 == 3:
            array.flat[:: 2 + array.size // 3] = 0
        yield array


by_columns = np.asfortranarray  # column-major, like a transposed array


def turned(value: Any) -> Any:
    """Return the value with the keys of its dicts in reverse order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


def single(value: Any) -> Any:
    """Return the value with its float arrays in float32."""

    def narrow(leaf: Any) -> Any:
        return leaf.astype(np.float32) if isinstance(leaf, np.ndarray) and leaf.dtype == np.float64 else leaf

    return mapped(narrow, value)
