"""Why a function replied as it did: what the diagnosis finds, and what of it has a name."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.grading.played import Played, alike
from autograder.grading.record import Record
from autograder.homework.mistakes import Mistake
from autograder.sandbox.messages import Reply


@dataclass(frozen=True)
class Explanation:
    """Why a function replied as it did.

    `mistakes` are its own, `helpers` those of the functions that it is built from. `criteria` are those of value whose calls
    of this function are all reproduced; `complete`: every record is, in values. `others` are further sets of mistakes that do
    the same. `observed` are changed arguments, wrong dtypes and the like.
    """

    module: str
    function: str
    mistakes: tuple[Mistake, ...] = ()
    helpers: tuple[Mistake, ...] = ()
    criteria: frozenset[str] = frozenset()
    complete: bool = False
    others: tuple[tuple[Mistake, ...], ...] = ()
    observed: tuple[Mistake, ...] = ()
    reproduced: frozenset[int] = frozenset()  # numbers of steps
    played: Played | None = field(default=None, repr=False, compare=False)

    @property
    def named(self) -> tuple[Mistake, ...]:
        """The mistakes that have a name: those in every set that explains all records, and what was observed."""
        sure = self.mistakes if self.complete else ()
        return tuple(m for m in sure if all(has(other, m) for other in self.others)) + self.observed

    @property
    def keeps(self) -> bool:
        """Whether something of an earlier call, its dtype too, is what came back."""
        return self.complete and any(mistake.memory for mistake in self.mistakes)

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
