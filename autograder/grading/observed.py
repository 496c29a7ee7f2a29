"""Mistakes of form are named by what was seen: which argument changed and how, which dtype came back. Never by a guess at the
cause.

An observed mistake has an id like a known one: `<function>.changes_<argument>`, `.float64_result`, `.changes_<argument>_later`,
`.shares_memory`, `.overwrites_result`, `.remembers`.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from autograder.grading.record import Record
from autograder.homework import reference
from autograder.homework.mistakes import Mistake
from autograder.values.changes import Change
from autograder.values.tree import leaves

HOW = {
    "entry written": "writes into {place}",
    "key added": "adds a key to {place}",
    "key removed": "removes a key from {place}",
    "length": "changes the length of {place}",
    "replaced": "puts something else in the place of {place}",
    "dtype or shape": "changes the shape or the dtype of {place}",
}
KEPT = "the Python FAQ on default values that calls share; a name outside the function is shared too"
COPIES, PROMOTION = "NumPy's page on copies and views", "NumPy's page on data type promotion (NEP 50)"


def observed(records: Sequence[Record], explained: bool) -> tuple[Mistake, ...]:
    """What is wrong in form in records of one function, each thing once, in the order in which it was seen.

    `explained`: the values are, so that a result that differs from the first needs no name of its own.
    """
    found: dict[str, Mistake] = {}
    for record in records:
        if record.fault is not None:
            for mistake in seen(record, explained):
                found.setdefault(mistake.name, mistake)
    return tuple(
        mistake for name, mistake in found.items() if name.removesuffix("_later") == name or name[:-6] not in found
    )


def seen(record: Record, explained: bool) -> Iterator[Mistake]:
    """What one wrong record shows of wrong form."""
    yield from _changed(record)
    name, floats = _dtypes(record)
    if name:
        does = f"Your result is {name} for {floats} arguments."
        read = f"the docstring of `{record.target.function}`; {PROMOTION}"
        yield _mistake(record, f"{name}_result", does, "Floating results keep the dtype of the arguments.", read)
    if record.reply.shared:
        does, right = "Your result shares its memory with an argument.", "Return a new array, or a copy."
        yield _mistake(record, "shares_memory", does, right, COPIES)
    kind = record.fault.kind if record.fault is not None else ""
    if kind == "overwritten":
        does = (
            "A result that you had returned held something else later: it shares its memory with what is written into."
        )
        yield _mistake(record, "overwrites_result", does, "Return a new array in every call.", COPIES)
    if kind == "unsteady" and not explained:
        does, right = "The same call gave another result the second time.", "Keep nothing from one call to the next."
        yield _mistake(record, "remembers", does, right, KEPT)


def _changed(record: Record) -> Iterator[Mistake]:
    later = record.step.kind == "changes"
    for change in _one_each(record.reply.changed):
        name, place = _place(record.target.function, change)
        how = HOW.get(change.how, HOW["replaced"]).format(place=place)
        does = f"Your code {how}" + (", which shows only after the call." if later else ".")
        right = "Leave the caller's arguments as they are: work on copies or new arrays."
        yield _mistake(record, f"changes_{name}" + ("_later" if later else ""), does, right, COPIES)


def _one_each(changes: Iterable[Change]) -> list[Change]:
    """The first change of each argument."""
    first: dict[int, Change] = {}
    for change in changes:
        first.setdefault(change.argument, change)
    return list(first.values())


def _place(function: str, change: Change) -> tuple[str, str]:
    """The name of the argument, and the changed part of it as Python and in words."""
    names = list(inspect.signature(reference.functions()[function]).parameters)
    name = names[change.argument] if change.argument < len(names) else f"argument_{change.argument}"
    if not change.path:
        return name, f"the argument `{name}`"
    return name, f"`{name}{''.join(f'[{key!r}]' for key in change.path)}`, a part of the argument `{name}`"


def _dtypes(record: Record) -> tuple[str, str]:
    """The first dtype of a number that came back and is none of those expected, and the one that is due; "" where all are right.

    A wrong shape, or more or fewer results than expected, hide no wrong dtype.
    """
    reply, step = record.reply, record.step
    expected = [part.dtype for part in leaves(step.expected) if isinstance(part, np.ndarray)]
    due = next((dtype for dtype in expected if dtype.kind == "f"), None)
    if due is None or not step.rules.dtype or reply.error is not None or reply.ended is not None:
        return "", ""
    returned = [part.dtype for part in leaves(reply.value) if isinstance(part, np.ndarray | np.generic)]
    wrong = next((dtype for dtype in returned if dtype.kind in "fiu" and dtype not in expected), None)
    return (str(wrong), str(due)) if wrong is not None else ("", "")


def _mistake(record: Record, name: str, does: str, right: str, read: str) -> Mistake:
    criteria = (record.step.criterion,) if record.step.criterion else ()
    return Mistake(record.target.module, record.target.function, name, criteria, does, right, read)
