"""Finds the changes that a call made to its arguments."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

MAX_CHANGES = 32  # reported per call
ROUNDING = 16  # units in the last place; a change that was undone up to rounding does not count
CHANGED = {
    "entry written": "values in {place} were overwritten",
    "key added": "a key was added to {place}",
    "key removed": "{place} was removed",
    "length": "the length of {place} changed",
    "elements": "the elements of {place} changed",
    "replaced": "{place} was replaced",
    "dtype or shape": "the shape or dtype of {place} changed",
}
WORK_ON_COPIES = "A function must not modify its arguments; work on copies."
Path = tuple[Any, ...]


class Change(NamedTuple):
    """One change to an argument.

    Arguments are numbered from 0, keyword arguments after the others. The path leads to the changed part, by keys and
    indices that the argument had before the call; `how` is a key of CHANGED.
    """

    argument: int
    path: Path
    how: str


def differences(arguments: Sequence[Any], before: Sequence[Any]) -> list[Change]:
    """Return the changes of the arguments of a call since `before`, copies of them; at most MAX_CHANGES."""
    pairs = enumerate(zip(arguments, before, strict=True))
    changes = (Change(number, *change) for number, (now, was) in pairs for change in _differences(now, was, ()))
    return list(islice(changes, MAX_CHANGES))


def in_words(names: Sequence[str], changes: Iterable[Change]) -> str:
    """Return the first change of each argument, in words; `names` are the arguments by number."""
    first: dict[int, str] = {}
    for number, path, how in changes:
        name = f"`{expression(names, number, path)}`"
        first.setdefault(number, CHANGED.get(how, CHANGED["replaced"]).format(place=name))
    return ", ".join(first[number] for number in sorted(first))


def expression(names: Sequence[str], number: int, path: Path) -> str:
    """Return a part of an argument as Python: params['w_q']."""
    name = names[number] if number < len(names) else f"argument {number}"
    return name + "".join(f"[{key!r}]" for key in path)


def _differences(now: Any, was: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if type(now) is not type(was):
        yield path, "replaced"
    elif isinstance(was, np.ndarray):
        if now.shape != was.shape or now.dtype != was.dtype:
            yield path, "dtype or shape"
        elif now.tobytes() != was.tobytes():
            unit = ROUNDING * np.finfo(was.dtype).eps if was.dtype.kind == "f" else 0
            if not unit or not np.allclose(now, was, rtol=unit, atol=unit, equal_nan=True):
                yield path, "entry written"
    elif isinstance(was, dict):
        if now.keys() - was.keys():
            yield path, "key added"
        for key, entry in was.items():
            if key in now:
                yield from _differences(now[key], entry, (*path, key))
            else:
                yield (*path, key), "key removed"
    elif isinstance(was, list | tuple):
        if len(now) != len(was):
            yield path, "length"
        else:
            for number, (new, old) in enumerate(zip(now, was, strict=True)):
                for changed, how in _differences(new, old, (*path, number)):
                    is_part = isinstance(was, tuple) and how == "replaced" and len(changed) == len(path) + 1
                    yield path if is_part else changed, how  # the parts of a tuple cannot be replaced
    elif now is not was and now != was:
        yield path, "elements" if isinstance(was, set) else "replaced"
