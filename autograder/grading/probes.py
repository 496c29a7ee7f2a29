"""Probes: a failing public call with one change, on the student's code and on the reference.

A *move* changes one entry of one argument, or all entries of a large one, to show whether a result depends on it. A
*change* drops an argument, flips a flag or takes one row; if the result is then correct, this is the cause. Probes come
from public examples and run before any hidden call, since their results are shown.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.thresholds import ELSEWHERE, MOST_ENTRIES, MOST_MOVES, MOVES, SAME
from autograder.homework import reference
from autograder.sandbox.messages import prepared
from autograder.values.compare import deviations, values_agree
from autograder.values.tree import copied

Arguments = dict[str, Any]
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Probe:
    """A made-up call.

    `change` describes the change, "" for a move. `path` leads to the moved argument or part of one: at `entry`, or as a
    whole if that is None. `others` are other arguments before and after the same move, since independence in a single
    call means little.
    """

    test_call: TestCall
    change: str = ""
    path: Path = ()
    entry: tuple[int, ...] | None = None
    others: tuple[tuple[Arguments, Arguments], ...] = ()

    @cached_property
    def elsewhere(self) -> list[tuple[Any, Any]]:
        """The reference's results with `others`."""
        return [
            (expected_with(self.test_call, args), expected_with(self.test_call, after)) for args, after in self.others
        ]


@dataclass(frozen=True)
class ProbeResult:
    """The result of a probe. `again`: the results before and after the same move with other numbers, if it was repeated."""

    probe: Probe
    call_result: CallResult
    again: tuple[tuple[CallResult, CallResult], ...] = ()


@lru_cache(maxsize=1024)
def probes_of(test_call: TestCall) -> tuple[Probe, ...]:
    """The probes of a public example, starting with the example itself; none if it takes functions or must raise."""
    given = arguments(test_call)
    if test_call.rules.error or any(map(callable, given.values())):
        return ()
    changes = dict[bytes, Probe]()  # by payload: the same call may have several descriptions
    parameters = inspect.signature(reference.functions()[test_call.target.function]).parameters.items()
    zeros = [(f"`{n}=0.0`", given | {n: 0.0}) for n, p in parameters if isinstance(p.default, float)]  # such as an eps
    for words, changed in (*plain(test_call.target.function, given), *zeros, *_first_row(given)):
        for variant in _made(test_call, changed):
            changes.setdefault(variant.call.payload, Probe(variant, words))
    moves = []
    others = [_with_others(given, seed) for seed in range(ELSEWHERE)]
    for (path, entry, changed), *there in zip(*map(_moves, (given, *others)), strict=True):
        pairs = tuple((args, after) for args, (_, _, after) in zip(others, there, strict=True))
        moves += [Probe(variant, "", path, entry, pairs) for variant in _made(test_call, changed)]
    return (Probe(test_call), *changes.values(), *moves)


def with_other_numbers(
    outcomes: Sequence[ProbeResult], run: Callable[[Sequence[TestCall]], Sequence[CallResult]]
) -> tuple[ProbeResult, ...]:
    """Repeat moves that change only the correct result with other numbers: next to a 0, an argument seems not to matter."""
    moves = [outcome for outcome in outcomes if outcome.probe.path]
    doubtful = [outcome for outcome in moves if _rests(outcomes[0].call_result, outcome.call_result)]
    sets = zip(*(outcome.probe.others for outcome in doubtful), strict=True)
    given = [args for pairs in sets for args in (pairs[0][0], *(after for _, after in pairs))]
    test_calls = [test_call for args in given for test_call in _made(outcomes[0].probe.test_call, args)]
    call_results = run(test_calls) if test_calls and len(test_calls) == len(given) else ()
    if len(call_results) < len(given):
        return tuple(outcomes)
    rounds = [call_results[n : n + len(doubtful) + 1] for n in range(0, len(call_results), len(doubtful) + 1)]
    again = {id(outcome): tuple((own[0], own[k]) for own in rounds) for k, outcome in enumerate(doubtful, 1)}
    return tuple(replace(outcome, again=again.get(id(outcome), ())) for outcome in outcomes)


def is_unsteady(outcomes: Sequence[ProbeResult]) -> bool:
    """Whether these are repetitions of one call with different results."""
    values = [outcome.call_result.response.value for outcome in outcomes]
    same_call = len({outcome.probe.test_call for outcome in outcomes}) == 1 < len(outcomes)
    return same_call and not all(values_agree(values[0], value) for value in values)


def _rests(before: CallResult, after: CallResult) -> bool:
    """Whether a part of the correct result moved and the student's did not."""
    names = before.test_call.parts
    for number in range(max(1, len(names))):
        right = moved(*(part(call_result.test_call.expected, number, names) for call_result in (before, after)))
        yours = moved(*(part(call_result.response.value, number, names) for call_result in (before, after)))
        if (
            right is not None
            and yours is not None
            and right.shape == yours.shape
            and ((right == 1) & (yours == 0)).any()
        ):
            return True
    return False


def part(value: Any, number: int, names: Sequence[str]) -> Any:
    """One part of a tuple; None if there is no such part."""
    if len(names) < 2:
        return value
    return value[number] if isinstance(value, tuple | list) and len(value) == len(names) else None


def moved(before: Any, after: Any) -> "np.ndarray[Any, Any] | None":
    """For each entry: 1 moved, 0 unmoved, -1 unclear; None if this cannot be determined."""
    if not all(isinstance(v, np.ndarray | float) and np.asarray(v).dtype.kind == "f" for v in (before, after)):
        return None
    first, second = np.asarray(before), np.asarray(after)
    if first.shape != second.shape or np.isnan(first).any() or np.isnan(second).any():
        return None
    away = deviations(first, second)
    return np.where(away > MOVES, 1, np.where(away <= SAME, 0, -1))


_signature = cache(inspect.signature)


def arguments(test_call: TestCall) -> Arguments:
    """The arguments of a call by name, including positional ones."""
    bound = _signature(reference.functions()[test_call.target.function]).bind_partial(
        *test_call.args, **test_call.kwargs
    )
    return dict(bound.arguments)


def _made(test_call: TestCall, given: Arguments) -> Iterator[TestCall]:
    """The call with other arguments; none if the reference rejects them."""
    module, function = test_call.target.module, test_call.target.function
    expected = expected_with(test_call, given)
    if expected is not None:
        call = prepared(module, function, (), given)
        yield replace(test_call, args=(), kwargs=given, expected=expected, call=call)


def expected_with(test_call: TestCall, given: Arguments) -> Any:
    """The reference's result; None if it rejects the arguments."""
    return result_of(lambda: reference.functions()[test_call.target.function](**copied(given)))


def result_of(call: Callable[[], Any]) -> Any:
    """The result of a call without warnings; None if it raises."""
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            return call()
        except Exception:
            return None


# Changes


def plain(function: str, given: Arguments) -> Iterator[tuple[str, Arguments]]:
    """Other flags, strings and counts, defaults instead of arguments, and a causal mask."""
    parameters = inspect.signature(reference.functions()[function]).parameters
    for name, parameter in parameters.items():
        value, default = given.get(name), parameter.default
        same = type(value) is type(default) and not isinstance(value, np.ndarray | dict | list) and value == default
        if default is not parameter.empty and name in given and not same:
            yield f"`{name}={default!r}`", {n: v for n, v in given.items() if n != name}
    for name, value in given.items():
        if isinstance(value, bool):
            yield f"`{name}={not value!r}`", given | {name: not value}
        elif isinstance(value, int):
            yield f"`{name}=1`", given | {name: 1}
            yield f"`{name}` one smaller", given | {name: value - 1}
            yield f"`{name}` one larger", given | {name: value + 1}
        elif isinstance(value, str):
            yield from ((f"`{name}={word!r}`", given | {name: word}) for word in sorted(_known_words() - {value}))
    first = next((value for value in given.values() if isinstance(value, np.ndarray) and value.ndim > 1), None)
    if "mask" in parameters and first is not None:
        mask, causal = given.get("mask"), np.tri(first.shape[-2], dtype=bool)
        if mask is None or mask.shape[-2:] == causal.shape:
            yield "a causal mask", given | {"mask": causal if mask is None else mask & causal}


def _first_row(given: Arguments) -> Iterator[tuple[str, Arguments]]:
    """The first row alone, in all arguments with as many rows as the first array; in masks, also the first column."""
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray) and value.ndim > 1}
    rows = next((array.shape[-2] for array in arrays.values()), 0)
    if rows < 2:
        return
    changed = {}
    for name, array in arrays.items():
        for axis in (-2, -1) if array.dtype.kind == "b" else (-2,):
            array = array.take([0], axis) if array.shape[axis] == rows else array
        changed[name] = array
    yield "the first row alone", given | changed


@cache
def _known_words() -> set[str]:
    """The strings that an argument may have: those that the references compare arguments with."""
    constants = [constant for function in reference.functions().values() for constant in function.__code__.co_consts]
    each = chain.from_iterable(c if isinstance(c, tuple | frozenset) else (c,) for c in constants)
    return {constant for constant in each if isinstance(constant, str) and constant.isidentifier()}


# Moves


def _moves(given: Arguments) -> Iterator[tuple[Path, tuple[int, ...] | None, Arguments]]:
    """Move one entry of one argument at a time if there are few, else all entries of an argument by different amounts."""
    left = MOST_MOVES
    for path, value in _numbers(given):
        array = np.asarray(value)
        single = array.size <= min(MOST_ENTRIES, left)
        for entry in np.ndindex(array.shape) if single else [None]:
            amounts = np.zeros(array.shape) if single else 1 + np.arange(array.size).reshape(array.shape) % 7 / 10
            if entry is not None:
                amounts[entry] = 1
            left -= 1
            if left >= 0:
                yield path, entry, _with(given, path, _moved(array, amounts) if array.ndim else value * 1.5 + 0.1)


def _moved(array: "np.ndarray[Any, Any]", amounts: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    if array.dtype.kind == "b":
        return np.where(amounts > 0, ~array, array)
    return (array + amounts * (0.2 + np.abs(np.where(np.isfinite(array), array, 0)) / 4)).astype(array.dtype)


def _with_others(given: Arguments, seed: int) -> Arguments:
    """Replace the numbers in each float array by others of the same magnitude; nonnegative arrays stay nonnegative."""
    rng = np.random.default_rng(seed)
    for path, value in list(_numbers(given)):
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            drawn = rng.normal(size=value.shape) * (1 + np.abs(value[np.isfinite(value)]).max(initial=0))
            given = _with(given, path, (np.abs(drawn) if (value >= 0).all() else drawn).astype(value.dtype))
    return given


def _numbers(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Float and boolean arrays, and floats, with the path to each."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(part, (*path, key))
    elif isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind in "fb"):
        yield path, value


def _with(value: Any, path: Path, leaf: Any) -> Any:
    if not path:
        return leaf
    parts = dict(value) if isinstance(value, dict) else list(value)
    parts[path[0]] = _with(parts[path[0]], path[1:], leaf)  # type: ignore[index]
    return parts
