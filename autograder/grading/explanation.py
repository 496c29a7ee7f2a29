"""Why a function replied as it did: what the diagnosis finds, and what of it has a name."""

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.grading.played import Played, alike
from autograder.grading.record import Record, Step
from autograder.homework import reference
from autograder.homework.mistakes import Mistake
from autograder.sandbox.messages import Reply
from autograder.sandbox.wire import Kept
from autograder.values.compare import compare


@dataclass(frozen=True)
class Explanation:
    """Why a function replied as it did.

    `mistakes` are its own, `helpers` those of the functions that it is built from. `criteria` are those of value whose calls
    of this function are all reproduced; `complete`: every record is, in values. `others` are further sets of mistakes that do
    the same. `observed` are changed arguments, wrong dtypes and the like.

    Without `complete`, `mistakes` decide only what is charged: code that is wrong in another way may agree with them on one
    criterion by chance. They are told to nobody, unless `nearly`: only a few wrong records are not reproduced, and no right one.
    """

    module: str
    function: str
    mistakes: tuple[Mistake, ...] = ()
    helpers: tuple[Mistake, ...] = ()
    criteria: frozenset[str] = frozenset()
    complete: bool = False
    nearly: bool = False
    others: tuple[tuple[Mistake, ...], ...] = ()
    alike: tuple[tuple[Mistake, ...], ...] = ()  # every set that does the same, other ways of the same mistakes too
    observed: tuple[Mistake, ...] = ()
    reproduced: frozenset[int] = frozenset()  # numbers of steps
    formal: bool = False  # every record is reproduced in form too
    empty: bool = False  # the function computes nothing
    played: Played | None = field(default=None, repr=False, compare=False)

    @property
    def named(self) -> tuple[Mistake, ...]:
        """The mistakes that have a name: those in every set that explains all records, and what was observed."""
        return tuple(m for m in self.sure if all(has(other, m) for other in self.others)) + self.observed

    @property
    def sure(self) -> tuple[Mistake, ...]:
        """The mistakes of which there is enough evidence."""
        return self.mistakes if self.complete or self.nearly else ()

    @property
    def keeps(self) -> bool:
        """Whether something of an earlier call, its dtype too, may be what came back."""
        return any(mistake.memory for mistake in self.mistakes)

    def shows(self, mistakes: Iterable[Mistake], record: Record, least: float = 0.0) -> bool:
        """Whether the function would reply otherwise to a call without one of these mistakes of its own.

        Values count as other ones if they deviate by more than `least`, or than the step allows.
        """
        played, number = self.played, record.step.number
        whole = played.version(self.mistakes) if played is not None else None
        if played is None or whole is None or number not in played.steps:
            return False
        for mistake in mistakes:
            without = played.version(tuple(m for m in self.mistakes if m.id != mistake.id))
            if without is not None and played.differ(whole, without, (number,)):
                one, other = played.reply(whole, number), played.reply(without, number)
                raised = one.error is not None or other.error is not None
                values = record.step.counted(one.value), record.step.counted(other.value)
                if raised or compare(*values, max(least, record.step.allowed)).difference is not None:
                    return True
        return False

    @property
    def inherited(self) -> tuple[Mistake, ...]:
        """The helpers' mistakes, where they explain every record."""
        return self.helpers if self.complete else ()

    @property
    def undecided(self) -> tuple[Mistake, ...]:
        """Mistakes that do the same on every call, so that none of them is named."""
        if not self.complete or not self.others:
            return ()
        found = {m.id: m for chosen in (self.mistakes, *self.others) for m in chosen}
        return tuple(m for m in found.values() if not has(self.named, m))

    @property
    def shared(self) -> str:
        """What the undecided mistakes share: the half sentence that says what is right, if it is one for all."""
        right = {mistake.right for mistake in self.undecided}
        return right.pop() if len(right) == 1 else ""


def has(mistakes: Iterable[Mistake], one: Mistake) -> bool:
    """Whether a mistake is among others, made in whatever way."""
    return any(mistake.id == one.id for mistake in mistakes)


def wrong_in_value(record: Record) -> bool:
    """Whether more is wrong than form: what changed, what is shared, the dtype."""
    if record.fault is None or record.fault.kind in ("changed", "changed_later", "shared", "overwritten"):
        return False
    return record.fault.kind != "dtype" or not alike(record.step, Reply(value=record.step.expected), record.reply)


def computes_nothing(records: Iterable[Record]) -> bool:
    """Whether a function gives one and the same number everywhere, an argument as it is, or an error, on every call."""
    calls = [r for r in records if r.step.kind == "call" and not r.step.rules.error and r.reply.ended is None]
    if all(record.reply.error is not None for record in calls):
        return True
    if any(record.reply.error is not None for record in calls):
        return False
    numbers = {number for record in calls for number in _numbers(record.reply.value)}
    expected = {number for record in calls for number in _numbers(record.step.expected)}
    if len(numbers) <= 1 < len(expected):
        return True
    given = [(_arguments(record.step), record.reply.value) for record in calls]
    names = list(given[0][0]) if given else []
    return any(_is_returned([(arguments.get(name), value) for arguments, value in given]) for name in names)


def _numbers(value: Any) -> Iterator[float]:
    """The least and the greatest number of each array: only whether there is more than one matters."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, np.ndarray | np.generic | float | int) and np.asarray(value).dtype.kind in "biuf":
        array = np.asarray(value)
        yield from {float(array.min()), float(array.max())} if array.size else ()


def _arguments(step: Step) -> dict[str, Any]:
    """The arguments of a call by name, also where they are given by position."""
    bound = inspect.signature(reference.functions()[step.target.function]).bind_partial(*step.args, **step.kwargs)
    return dict(bound.arguments)


def _is_returned(pairs: Iterable[tuple[Any, Any]]) -> bool:
    """Whether what came back is an argument as it is; objects of an earlier call cannot be compared any more."""
    known = [(given, value) for given, value in pairs if not isinstance(given, Kept)]
    return bool(known) and all(_same(given, value) for given, value in known)


def _same(given: Any, value: Any) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return isinstance(given, np.ndarray) and all(isinstance(p, np.ndarray) and np.array_equal(p, given) for p in parts)
