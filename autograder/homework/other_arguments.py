"""Other arguments of a call: other flags, swapped arrays, a missing part.

Code that returns what the reference returns for other arguments probably uses those by mistake.
"""

import inspect
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, permutations
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
STEPS = "Check each step that depends on {}."


def result(function: Function, arguments: Arguments) -> Any:
    """Return the reference's result; None if it rejects the arguments."""
    return _result_of(partial(_on_copies, function, arguments))


def results_by_change(
    function: Function, arguments: Arguments, expected: Any, allowed: float
) -> Iterator[tuple[str, str, Any]]:
    """Yield the reference's results for other arguments, where they differ from `expected`; the most likely mix-ups come first.

    Each comes with a macro of feedback/messages.j2 and its argument. Small integer or boolean results match too many arrays
    by chance; for these, only flags, strings, counts, defaults and masks are changed.
    """
    for macro, words, call in _calls(function, arguments, expected):
        value = _result_of(call)
        if value is not None and (macro == "unchanged" or is_telling(value)) and not equal(expected, value, allowed):
            yield macro, words, value


def is_telling(value: Any) -> bool:
    """Return whether a result is no coincidence for code that computes nothing: its floats are defined and not all the same."""
    floats = [array for array in arrays(value) if array.dtype.kind == "f"]
    is_constant = all(array.size > 1 and (array == array.flat[0]).all() for array in floats)
    return not (floats and is_constant) and not any((np.isnan(array) | np.isposinf(array)).any() for array in floats)


def _calls(function: Function, arguments: Arguments, expected: Any) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    for words, changed in _plain(function, arguments):
        yield "right_for", words, partial(_on_copies, function, changed)
        if words.endswith("one larger"):
            first = "row" if isinstance(expected, np.ndarray) and expected.ndim > 1 else "entry"
            shifted = f"{words}, without the first {first} of that result"
            yield "right_for", shifted, partial(lambda arguments: _on_copies(function, arguments)[1:], changed)
    kinds = [(np.asarray(leaf).dtype.kind, np.size(leaf)) for leaf in leaves(expected)]
    if all(kind == "f" or (kind == "b" and size > 5) for kind, size in kinds):  # floats, or many bools
        of_floats = all(kind == "f" for kind, _ in kinds)
        for words, changed in (
            *(_floats(function, arguments) if of_floats else ()),
            *_mixed_up(arguments, "`{}".format),
        ):
            yield "right_for", words, partial(_on_copies, function, changed)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            yield "unchanged", name, value.copy


def _on_copies(function: Function, arguments: Arguments) -> Any:
    return function(**copied(arguments))


def _result_of(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            return call()
        except Exception:
            return None


def changes(function: Function, arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Yield changes that may make a wrong call correct, and so point to the mistake."""
    yield from _plain(function, arguments)
    floats = [name for name, p in inspect.signature(function).parameters.items() if isinstance(p.default, float)]
    yield from ((f"`{name}=0.0`", arguments | {name: 0.0}) for name in floats)  # such as an eps
    yield from _first_row(arguments)


@dataclass(frozen=True)
class Property:
    """A simple property of arguments: a text with a gap, and advice to code that is correct only for some words in the gap."""

    text: str
    advice: str


def properties(function: Function, arguments: Arguments) -> dict[Property, str]:
    """Return simple properties of the arguments of a call, each with the words that fit these arguments."""
    defaults = {n: p.default for n, p in inspect.signature(function).parameters.items() if p.default is not p.empty}
    values, words = defaults | arguments, dict[Property, str]()
    matrices = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray) and value.ndim}
    for name, array in matrices.items():
        words[Property(f"a {{}} `{name}`", FROM_THE_END)] = f"{array.ndim}-D"
    for name, array in matrices.items():
        is_square = array.ndim > 1 and array.shape[-1] == array.shape[-2]
        words[Property(f"a {{}} array `{name}`", LENGTHS)] = "square" if is_square else "non-square"
    for name, value in values.items():
        if name == "axis" and isinstance(value, int) and matrices:
            ndim = next(iter(matrices.values())).ndim
            words[Property("`axis` set to {}", AXIS)] = "the last axis" if value % ndim == ndim - 1 else "another axis"
            words[Property("axis {} (counted from 0)", AXIS)] = str(value % ndim)
        elif isinstance(value, int) and not isinstance(value, bool):
            words[Property(f"`{name}{{}}`", STEPS.format(f"`{name}`"))] = "=1" if value == 1 else ">1"
        elif name in defaults and defaults[name] is None:
            words[Property(f"{{}} `{name}`", STEPS.format(f"`{name}`"))] = "no" if value is None else "a"
    dtypes = {str(array.dtype) for array in matrices.values() if array.dtype.kind == "f"}
    if len(dtypes) == 1:
        words[Property("{} arrays", STEPS.format("the dtype"))] = dtypes.pop()
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
    """Other flags, strings and counts, defaults instead of arguments, and a causal mask."""
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
    """Other floats."""
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        if isinstance(default, float):
            # Common wrong values of a small default: 1e-12 to 1e-3 for an eps.
            powers = [float(f"1e{power}") for power in range(-12, -2)] if 0 < default < 1e-3 else []
            for number in dict.fromkeys((default, 0.0, 1.0, 1 - default, *powers)):
                yield f"`{name}={number:.6g}`", arguments | {name: number}
            yield f"1 - `{name}` in place of `{name}`", arguments | {name: 1 - arguments.get(name, default)}


def _mixed_up(values: Arguments, name: Callable[[str], str]) -> Iterator[tuple[str, Arguments]]:
    """Other arrays in a dict, such as the arguments. `name(key)` is the code for an entry, without the closing backtick."""
    for first, second in combinations(values, 2):
        both = values[first], values[second]
        if _exchangeable(*both) or (isinstance(both[0], dict) and isinstance(both[1], dict)):
            yield f"{name(first)}` and {name(second)}` swapped", values | {first: both[1], second: both[0]}
    for first, second in permutations(values, 2):
        if _exchangeable(values[first], values[second]):
            yield f"{name(second)}` in place of {name(first)}`", values | {first: values[second]}
    for key, value in values.items():
        yield from ((words, values | {key: changed}) for words, changed in _changed(name(key), value))


def _exchangeable(first: Any, second: Any) -> bool:
    arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    return arrays and first.dtype.kind == second.dtype.kind and first.shape == second.shape


def _changed(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values for an argument or a part of it; `name` has no closing backtick."""
    if isinstance(value, np.ndarray):
        yield from ((f"{name}` {words}", changed) for words, changed in _arrays(value))
    elif isinstance(value, dict):
        yield from _mixed_up(value, lambda key: f"{name}[{key!r}]")
        arrays = {key: entry.T for key, entry in value.items() if isinstance(entry, np.ndarray)}
        if len(arrays) > 1:
            yield f"every array of {name}` transposed", value | arrays
    elif isinstance(value, list):
        yield f"{name}` in reverse order", value[::-1]
        if len(value) > 1:
            yield f"{name}` without its last entry", value[:-1]
            yield f"{name}` without its first entry", value[1:]
            yield f"only the last entry of {name}`", value[-1:]
        for number, entry in enumerate(value):
            changes = _changed(f"{name}[{number}]", entry)
            yield from ((words, [*value[:number], changed, *value[number + 1 :]]) for words, changed in changes)


def _arrays(value: "np.ndarray[Any, Any]") -> Iterator[tuple[str, Any]]:
    if value.dtype.kind == "b":
        yield "inverted (True and False swapped)", ~value
        yield "True everywhere", np.ones_like(value)
        yield "False everywhere", np.zeros_like(value)
    if value.dtype.kind == "f":
        yield "all zeros", np.zeros_like(value)
        yield "all ones", np.ones_like(value)
        if np.isfinite(value).all():  # no argument has +inf
            yield "negated", -value
    if value.ndim >= 2:
        yield "transposed", np.swapaxes(value, -1, -2)
        yield "with its rows in reverse order", np.flip(value, -2)
    if value.ndim:
        yield "in reverse order" if value.ndim == 1 else "with its columns in reverse order", np.flip(value, -1)
        if len(value) > 1:
            thing = "entry" if value.ndim == 1 else "row"
            yield f"without its first {thing}", value[1:]
            yield f"without its last {thing}", value[:-1]
