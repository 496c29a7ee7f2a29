"""Other arguments of a call: other flags, swapped arrays, a missing part.

Code that returns what the reference returns for other arguments probably uses those by mistake.
"""

import inspect
import warnings
from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Any

import numpy as np

from autograder.shared.compare import equal
from autograder.shared.tree import arrays, copied, leaves

Arguments = dict[str, Any]
Function = Callable[..., Any]  # a reference function

FROM_THE_END = (
    "Count axes from the end (`axis=-1`, `swapaxes(-1, -2)`) and keep reduced ones (`keepdims=True`), "
    "so that the number of dimensions does not matter."
)
LENGTHS = "Check which axis each length in your code belongs to."
AXIS = "Use the argument `axis` in every reduction, and keep the reduced axis (`keepdims=True`)."


def result(function: Function, arguments: Arguments) -> Any:
    """Return the reference's result; None if it rejects the arguments."""
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            return function(**copied(arguments))
        except Exception:
            return None


def results_by_change(
    function: Function, arguments: Arguments, expected: Any, allowed: float
) -> Iterator[tuple[str, Any]]:
    """Yield the reference's results for other arguments, where they differ from `expected`, each with words for the arguments.

    Small integer or boolean results match too many arrays by chance; for these, only flags, strings, counts, defaults and
    masks are changed.
    """
    kinds = [(np.asarray(leaf).dtype.kind, np.size(leaf)) for leaf in leaves(expected)]
    of_floats = all(kind == "f" for kind, _ in kinds)
    many = all(kind == "f" or (kind == "b" and size > 5) for kind, size in kinds)
    for words, changed in (
        *_plain(function, arguments),
        *(_floats(function, arguments) if of_floats else ()),
        *(_lists(arguments) if many else ()),
    ):
        value = result(function, changed)
        if value is not None and is_telling(value) and not equal(expected, value, allowed):
            yield words, value


def is_telling(value: Any) -> bool:
    """Return whether a result is no coincidence for code that computes nothing: its floats are defined and not all the same."""
    floats = [array for array in arrays(value) if array.dtype.kind == "f"]
    is_constant = all(array.size > 1 and (array == array.flat[0]).all() for array in floats)
    return not (floats and is_constant) and not any((np.isnan(array) | np.isposinf(array)).any() for array in floats)


def changes(function: Function, arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Yield changes that may make a wrong call correct, and so point to the mistake."""
    yield from _plain(function, arguments)
    yield from _first_row(arguments)


def properties(function: Function, arguments: Arguments, counted: Callable[[Any], Any]) -> dict[tuple[str, str], str]:
    """Return simple properties of the arguments of a call: a text with a gap, and the words in it that fit these arguments.

    Each text comes with advice for code that is correct only for some words in the gap. `counted` replaces the parts of a result
    that do not count. An argument that does not affect the others counts as the default.
    """
    defaults = {n: p.default for n, p in inspect.signature(function).parameters.items() if p.default is not p.empty}
    matrices = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray) and value.ndim}
    words = {(f"a {{}} `{name}`", FROM_THE_END): f"{array.ndim}-D" for name, array in matrices.items()}
    for name, array in matrices.items():
        is_square = array.ndim > 1 and array.shape[-1] == array.shape[-2]
        words[f"a {{}} array `{name}`", LENGTHS] = "square" if is_square else "non-square"
    for name, value in (defaults | arguments).items():
        advice = f"Check where your code uses `{name}`, and where it should."
        if name == "axis" and isinstance(value, int) and matrices:
            from_the_start = value % (ndim := next(iter(matrices.values())).ndim)
            words["`axis` set to {}", AXIS] = "the last axis" if from_the_start == ndim - 1 else "another axis"
            words["axis {} (counted from 0)", AXIS] = str(from_the_start)
        elif isinstance(value, int) and not isinstance(value, bool):
            words[f"`{name}{{}}`", advice] = "=1" if value == 1 else ">1"
        elif isinstance(value, float) and name in defaults:
            default = counted(result(function, arguments | {name: defaults[name]}))
            is_default = equal(counted(result(function, arguments)), default, 1e-9)
            words[f"{{}} `{name}`", advice] = "the default" if is_default else "another"
        elif name in defaults and defaults[name] is None:
            words[f"{{}} `{name}`", advice] = "no" if value is None else "a"
    dtypes = {str(array.dtype) for array in matrices.values() if array.dtype.kind == "f"}
    if len(dtypes) == 1:
        words["{} arrays", "Check each step that depends on the dtype."] = dtypes.pop()
    return words


def variants(function: Function, arguments: Arguments, together: Collection[str]) -> Iterator[Arguments]:
    """Similar arguments: numbers in another order, other flags, and one axis more or less, or fewer rows, of some arrays."""
    rng = np.random.default_rng(0)
    floats = {n: v for n, v in arguments.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"}
    arguments = arguments | {
        name: rng.permutation(array.ravel()).reshape(array.shape) for name, array in floats.items()
    }
    yield arguments
    arrays = {n: v for n, v in arguments.items() if n in together and isinstance(v, np.ndarray) and v.ndim and v.size}
    if not arrays:
        return
    yield arguments | {name: np.stack([array, np.flip(array, -1)]) for name, array in arrays.items()}
    least = min(array.ndim for array in arrays.values())
    if all(np.ndim(value) < least for name, value in arguments.items() if name not in together):
        yield arguments | {name: array[-1] for name, array in arrays.items()}
    if least > 1 and all(array.shape[-2] > 2 for array in arrays.values()):
        yield arguments | {name: array[..., 1:, :] for name, array in arrays.items()}
    yield from (changed for _, changed in _plain(function, arguments))


def _plain(function: Function, arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Yield other flags, strings and counts, defaults instead of arguments, and a causal mask."""
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        value, default = arguments.get(name), parameter.default
        same = type(value) is type(default) and not isinstance(value, np.ndarray | dict | list) and value == default
        if default is not parameter.empty and name in arguments and not same:
            yield f"`{name}={default!r}`", {n: v for n, v in arguments.items() if n != name}
    for name, value in arguments.items():
        if isinstance(value, bool):
            yield f"`{name}={not value!r}`", arguments | {name: not value}
        elif isinstance(value, int):
            yield f"`{name}=1`", arguments | {name: 1}
            yield f"`{name}` one smaller", arguments | {name: value - 1}
            yield f"`{name}` one larger", arguments | {name: value + 1}
        elif isinstance(value, str):
            yield from (
                (f"`{name}={word!r}`", arguments | {name: word}) for word in sorted(_known_words(function) - {value})
            )
    first = next((value for value in arguments.values() if isinstance(value, np.ndarray) and value.ndim > 1), None)
    if "mask" in parameters and first is not None:
        mask, causal = arguments.get("mask"), np.tri(first.shape[-2], dtype=bool)
        if mask is None or mask.shape[-2:] == causal.shape:
            yield "a causal mask", arguments | {"mask": causal if mask is None else mask & causal}


def _first_row(arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Yield the first row alone, in all arguments with as many rows as the first array; in masks, also the first column."""
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray) and value.ndim > 1}
    rows = next((len(array) for array in arrays.values()), 0)
    if rows < 2 or any(array.ndim > 2 for array in arrays.values()):
        return
    changed = {}
    for name, array in arrays.items():
        for axis in (-2, -1) if array.dtype.kind == "b" else (-2,):
            array = array.take([0], axis) if array.shape[axis] == rows else array
        changed[name] = array
    yield "the first row alone", arguments | changed


def _known_words(function: Function) -> set[str]:
    """Return the strings that an argument may have: those that the functions of the module compare arguments with."""
    codes = [value.__code__ for value in function.__globals__.values() if inspect.isfunction(value)]
    each = chain.from_iterable(
        c if isinstance(c, tuple | frozenset) else (c,) for code in codes for c in code.co_consts
    )
    return {constant for constant in each if isinstance(constant, str) and constant.isidentifier()}


def _floats(function: Function, arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Yield other floats: the default, 0, and common wrong values of an eps, 1e-12 to 1e-3."""
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        if isinstance(default, float):
            powers = [float(f"1e{power}") for power in range(-12, -2)] if 0 < default < 1e-3 else []
            for number in dict.fromkeys((default, 0.0, *powers)):
                yield f"`{name}={number:.6g}`", arguments | {name: number}


def _lists(arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Yield lists, and arrays of tokens, in reverse order or without an entry."""
    for name, value in arguments.items():
        of_tokens = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu"
        if (isinstance(value, list) or of_tokens) and len(value) > 1:
            yield f"`{name}` in reverse order", arguments | {name: value[::-1]}
            yield f"`{name}` without its last entry", arguments | {name: value[:-1]}
            yield f"`{name}` without its first entry", arguments | {name: value[1:]}
