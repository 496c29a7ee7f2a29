"""Probes: a failing public call with one change, on the student's code and on the reference.

A *change* drops an argument, replaces a flag, number, string or mask, or keeps only the first row; a correct result
then points to the cause. A *move* adds to the numbers of one argument or of one row, to show whether a result depends
on them. Probes come from public examples and run before any hidden call, since their results are shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.thresholds import MOVES, SAME, TIMES
from autograder.homework import other_arguments
from autograder.homework.other_arguments import Arguments
from autograder.sandbox.protocol import Call
from autograder.values.compare import deviations, values_agree
from autograder.values.signatures import as_tested

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Probe:
    """A made-up call. `change` describes its change; `moved` is the argument that a move adds to, perhaps only in a `row`."""

    test_call: TestCall
    change: str = ""
    moved: str = ""
    row: int | None = None


@dataclass(frozen=True)
class ProbeResult:
    """The result of a probe."""

    probe: Probe
    call_result: CallResult


@lru_cache(maxsize=1024)
def probes_of(test_call: TestCall) -> tuple[Probe, ...]:
    """The probes of a public example, starting with repetitions of it; none if it takes functions or must raise."""
    given = arguments(test_call)
    if test_call.rules.error or any(map(callable, given.values())):
        return ()
    changes = dict[bytes, Probe]()  # by payload: the same call may have several descriptions
    for words, changed in other_arguments.changes(test_call.reference, given):
        for made in _made(test_call, changed):
            changes.setdefault(made.call.payload, Probe(made, words))
    moves = [Probe(made, "", name, row) for name, row, moved in _moves(given) for made in _made(test_call, moved)]
    return (*[Probe(test_call)] * TIMES, *changes.values(), *moves)


def is_unsteady(outcomes: Sequence[ProbeResult]) -> bool:
    """Whether the same call had different results."""
    values = [outcome.call_result.response.value for outcome in outcomes[:TIMES]]
    return not all(values_agree(values[0], value) for value in values)


def arguments(test_call: TestCall) -> Arguments:
    """The arguments of a call by name."""
    return other_arguments.arguments(test_call.reference, test_call.args, test_call.kwargs)


def _made(test_call: TestCall, given: Arguments) -> Iterator[TestCall]:
    """The call with other arguments; none if the reference rejects them."""
    expected = other_arguments.result(test_call.reference, given)
    if expected is not None:
        args, kwargs = as_tested(test_call.reference, (), given)
        call = Call(test_call.target.module, test_call.target.function, args, kwargs)
        names = (*test_call.names[: len(args)], *kwargs)
        yield replace(test_call, args=args, kwargs=kwargs, names=names, expected=expected, call=call)


def _moves(given: Arguments) -> Iterator[tuple[str, int | None, Arguments]]:
    """Add different amounts to the numbers of one argument or part of one, then to those of one row of a matrix."""
    for path, value in _numbers(given):
        name = f"`{path[0]}{''.join(f'[{key!r}]' for key in path[1:])}`"
        yield name, None, _with(given, path, _moved(np.asarray(value)) if np.ndim(value) else value * 1.5 + 0.1)
    for name, matrix in given.items():
        if isinstance(matrix, np.ndarray) and matrix.dtype.kind in "fb" and matrix.ndim == 2:
            for row, moved in enumerate(_moved(matrix)):
                changed = matrix.copy()
                changed[row] = moved
                yield f"`{name}`", row, given | {name: changed}


def _moved(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    if array.dtype.kind == "b":
        return ~array
    amounts = 1 + np.arange(array.size).reshape(array.shape) % 7 / 10
    return (array + amounts * (0.2 + np.abs(np.where(np.isfinite(array), array, 0)) / 4)).astype(array.dtype)


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
