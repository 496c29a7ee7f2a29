"""What a wrong result depends on and the right one does not, or the reverse, found by moving one thing at a time.

It names kinds of mistakes of which there is no list: an argument that is not used, a mean over too many axes, the queries of one
head for all. Each sentence says what was seen in trials of a public call, and no more.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from autograder.grading.experiments import Path, Tried
from autograder.grading.thresholds import MOVES, RESTS
from autograder.values.compare import deviations

Array = np.ndarray[Any, Any]
MOST_SAID = 2  # sentences
FEW = 3  # rows, columns or entries that are named


def dependence(tried: Sequence[Tried]) -> str:
    """Sentences about the trials of one call, of which the first is the call itself; "" where both depend on the same."""
    moves = [one for one in tried[1:] if one.trial.path]
    if not moves:
        return ""
    base = tried[0].record
    names = tuple(f"`{name}`" for name in base.step.parts) or ("result",)
    of_leaves = [(path, list(own)) for path, own in groupby(moves, lambda one: one.trial.path)]
    said: list[tuple[int, str]] = []
    for number, name in enumerate(names):
        one, other = _part(base.step.expected, number, names), _part(base.reply.value, number, names)
        if np.shape(one) != np.shape(other):
            continue
        for path, own in of_leaves:
            pairs = [
                (
                    t.trial.entry,
                    _moved(one, _part(t.record.step.expected, number, names)),
                    _moved(other, _part(t.record.reply.value, number, names)),
                    *(_moved(*(_part(value, number, names) for value in pair)) for pair in t.trial.elsewhere),
                )
                for t in own
            ]
            if all(moved is not None for _, *every in pairs for moved in every):
                said += _of_leaf(_named(path), name, pairs)
    return " ".join(sentence for _, sentence in sorted(said, key=lambda one: one[0])[:MOST_SAID])


def _part(value: Any, number: int, names: Sequence[str]) -> Any:
    if len(names) < 2:
        return value
    return value[number] if isinstance(value, tuple | list) and len(value) == len(names) else None


def _moved(before: Any, after: Any) -> Array | None:
    """By entry: 1 moved, 0 not moved, -1 neither clearly; None where that cannot be said."""
    if not all(
        isinstance(value, np.ndarray | float) and np.asarray(value).dtype.kind == "f" for value in (before, after)
    ):
        return None
    one, other = np.asarray(before), np.asarray(after)
    if one.shape != other.shape or np.isnan(one).any() or np.isnan(other).any():
        return None
    away = deviations(one, other)
    return np.where(away > MOVES, 1, np.where(away <= RESTS, 0, -1))


def _named(path: Path) -> str:
    return f"`{path[0]}{''.join(f'[{key!r}]' for key in path[1:])}`"


def _of_leaf(leaf: str, part: str, pairs: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The coarsest thing in which the two differ, first the coarsest: the whole argument (0), rows, columns or entries of it (1),
    a row of it that moves a row of the result (2)."""
    entries, *moved = zip(*pairs, strict=True)
    right, yours, *elsewhere = (np.array(one).reshape(len(pairs), -1) for one in moved)
    ever = np.max([right, *np.abs(elsewhere)], axis=0)  # what moves the right result, here or elsewhere
    for first, second, mine in ((yours, ever, True), (right, yours, False)):
        if (first == 1).any() and (second == 0).all():
            yield 0, _sentence(leaf, part, mine)
            return
    if not all(entries):
        return
    shape = tuple(n + 1 for n in np.max(entries, axis=0))
    if len(pairs) < np.prod(shape):
        return
    for first, second, mine in ((yours, ever, True), (right, yours, False)):
        where = _where(((first == 1).any(axis=1) & (second == 0).all(axis=1)).reshape(shape))
        if where:
            yield 1, _sentence(f"{where} of {leaf}", part, mine)
            return
    given = np.shape(pairs[0][1])
    if len(shape) != 2 or len(given) != 2:
        return
    right, ever, yours = (np.moveaxis(found.reshape(*shape, *given), 2, 1) for found in (right, ever, yours))
    for i, j in np.ndindex(shape[0], given[0]):
        for first, second, mine in ((yours, ever, True), (right, yours, False)):
            if (first[i, j] == 1).any() and (second[i, j] == 0).all():
                yield 2, _sentence(f"row {i} of {leaf}", part, mine, f"row {j} of ")
                return


def _where(found: Array) -> str:
    """Which rows, columns or entries of an argument: "" for none, or too many to name."""
    if not found.any() or found.all():
        return ""
    lines = (
        [("row", found.all(axis=-1)), ("column", found.reshape(-1, found.shape[-1]).all(axis=0))]
        if found.ndim == 2
        else []
    )
    for name, own in lines:
        if own.sum() <= FEW and np.sum(found) == own.sum() * found.shape[1 if name == "row" else 0]:
            return _listed(name, f"{name}s", [str(n) for n in np.flatnonzero(own)])
    entries = [str([int(n) for n in index]) for index in np.argwhere(found)]
    return _listed("entry", "entries", entries) if len(entries) <= FEW else ""


def _listed(one: str, several: str, places: Sequence[str]) -> str:
    return f"the {one if len(places) == 1 else several} {' and '.join(places)}"


def _sentence(what: str, result: str, yours: bool, row: str = "") -> str:
    """`yours`: your result moves and the right one does not; else the reverse."""
    moves = "changes, and should not" if yours else "stays as it is, and should change"
    return f"When only {what} changes, {row}your {result} {moves}."
