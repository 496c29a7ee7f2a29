"""What a wrong result depends on and the right one does not, or the reverse, found by moving one thing at a time.

It names kinds of mistakes of which there is no list: an argument that is not used, a mean over too many axes, the queries of one
head for all. Each sentence says what was seen in trials of a public call, and no more.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from autograder.grading.experiments import Path, Tried, moved, part

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
        one, other = part(base.step.expected, number, names), part(base.reply.value, number, names)
        if moved(one, one) is None or moved(other, other) is None or np.shape(one) != np.shape(other):
            continue
        for path, own in of_leaves:
            pairs = [
                (
                    t.trial.entry,
                    moved(one, part(t.record.step.expected, number, names)),
                    moved(other, part(t.record.reply.value, number, names)),
                    _again(t, number, names),
                    *(moved(*(part(value, number, names) for value in pair)) for pair in t.trial.elsewhere),
                )
                for t in own
            ]
            if all(found is not None for _, *every in pairs for found in every):
                said += _of_leaf(_named(path), name, pairs)
    return " ".join(sentence for _, sentence in sorted(said, key=lambda one: one[0])[:MOST_SAID])


def _again(tried: Tried, number: int, names: Sequence[str]) -> Array:
    """Where your result moves among other numbers; everywhere, where that was not played."""
    shape = np.shape(part(tried.record.step.expected, number, names))
    found = [moved(*(part(record.reply.value, number, names) for record in pair)) for pair in tried.again]
    alike = [one for one in found if one is not None and one.shape == shape]
    return np.abs(alike).max(axis=0) if alike and len(alike) == len(found) else np.ones(shape, int)


def _named(path: Path) -> str:
    return f"`{path[0]}{''.join(f'[{key!r}]' for key in path[1:])}`"


def _of_leaf(leaf: str, part: str, pairs: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The coarsest thing in which the two differ, first the coarsest: the whole argument (0), rows, columns or entries of it (1),
    a row of it that moves a row of the result (2)."""
    entries, *found = zip(*pairs, strict=True)
    right, yours, again, *elsewhere = (np.array(one).reshape(len(pairs), -1) for one in found)
    ever = np.max([right, *np.abs(elsewhere)], axis=0)  # what moves the right result, here or elsewhere
    yours_ever = np.where((right == 1) & (yours == 0), again, yours)
    for first, second, mine in ((yours, ever, True), (right, yours_ever, False)):
        if (first == 1).any() and (second == 0).all():
            yield 0, _sentence(leaf, part, mine)
            return
    if not all(entries):
        return
    shape = tuple(n + 1 for n in np.max(entries, axis=0))
    if len(pairs) < np.prod(shape):
        return
    for first, second, mine in ((yours, ever, True), (right, yours_ever, False)):
        where = _where(((first == 1).any(axis=1) & (second == 0).all(axis=1)).reshape(shape))
        if where:
            yield 1, _sentence(f"{where} of {leaf}", part, mine)
            return
    given = np.shape(pairs[0][1])
    if len(shape) != 2 or len(given) != 2:
        return
    right, ever, yours, yours_ever = (
        np.moveaxis(one.reshape(*shape, *given), 2, 1) for one in (right, ever, yours, yours_ever)
    )
    for i, j in np.ndindex(shape[0], given[0]):
        for first, second, mine in ((yours, ever, True), (right, yours_ever, False)):
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
