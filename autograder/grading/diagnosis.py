"""What is wrong with a function? The fewest known mistakes that reproduce all that was recorded of it.

One mistake is tried, then two, each first beside correct helpers and then beside the helpers as they were explained. Values,
errors and what is remembered between calls are explained so; which argument changed, and which dtype came back, is observed
(observed.py). The search is bounded by a count of versions, never by time, so that it ends alike on every machine.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

import numpy as np

from autograder.grading.observed import observed
from autograder.grading.played import Played, alike, alike_in_form, alike_in_rounding, inexact
from autograder.grading.record import Record, Step
from autograder.homework.mistakes import Mistake, Version, of_function, versions
from autograder.homework.rubric import Rubric
from autograder.sandbox.messages import Reply

MOST_VERSIONS = 4000  # of one function and one number of mistakes
MOST_TABLES = 64  # of replies that are kept: one for each function and set of helpers


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
        return tuple(m for m in sure if all(_has(other, m) for other in self.others)) + self.observed

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
        return tuple(m for m in found.values() if not _has(self.named, m))

    @property
    def shared(self) -> str:
        """What the undecided mistakes share: the half sentence that says what is right, if it is one for all."""
        right = {mistake.right for mistake in self.undecided}
        return right.pop() if len(right) == 1 else ""


def _has(mistakes: Iterable[Mistake], one: Mistake) -> bool:
    """Whether a mistake is among others, made in whatever way."""
    return any(mistake.id == one.id for mistake in mistakes)


def _same_names(one: Version, other: Version) -> bool:
    return {mistake.id for mistake in one.mistakes} == {mistake.id for mistake in other.mistakes}


class Diagnoser:
    """Explains what submissions do in a script. The replies of known versions are kept from one submission to the next."""

    def __init__(self, rubric: Rubric, steps: Mapping[str, Sequence[Step]]):
        """`steps` are those of each module, in the order in which a process plays them."""
        self.rubric, self.steps = rubric, steps
        self._played = lru_cache(MOST_TABLES)(self._new_table)

    def explain(self, module: str, records: Iterable[Record]) -> dict[str, Explanation]:
        """Every function of a module that has a wrong record, explained as far as it can be, in the order of the rubric.

        Of the records that are given nothing but these is looked at: what is shown before the due date is made from visible ones.
        """
        found: dict[str, Explanation] = {}
        every = list(records)
        for function in self.rubric.modules[module].functions:
            own = [record for record in every if record.target.function == function]
            if any(record.fault is not None for record in own):
                explanation = self._explain(module, function, own, found)
                found[function] = replace(explanation, observed=_unnamed(own, explanation))
        return found

    def hidden(self, explanation: Explanation, criterion: str) -> tuple[Mistake, ...] | None:
        """The criterion's own known mistakes in this function that would not show beside the explanation; () if all would.

        One shows where it would change a reply that the explanation reproduces: the student's function has not made it then.
        None where there is no such mistake to try: nothing proves then that the criterion is met.
        """
        played = explanation.played
        base = played.version(explanation.mistakes) if played is not None else None
        if played is None or base is None:
            return None
        tried, unseen = 0, []
        for mistake in of_function(explanation.module, explanation.function):
            if criterion not in mistake.criteria or _has(explanation.mistakes, mistake):
                continue
            version = played.version((*explanation.mistakes, mistake))
            if version is not None:
                tried += 1
                if not played.differ(base, version, explanation.reproduced):
                    unseen.append(mistake)
        return tuple(unseen) if tried else None

    def _explain(
        self, module: str, function: str, records: list[Record], above: Mapping[str, Explanation]
    ) -> Explanation:
        nothing = Explanation(module, function)
        wrong = [record for record in records if wrong_in_value(record)]
        if not wrong:
            return replace(nothing, complete=True)
        if all(record.reply.ended is not None or _absent(record) for record in wrong):
            return nothing
        search = _Search(self.rubric, module, function, records, list(self._tables(module, function, above)))
        return search.complete() or search.partial() or nothing

    def _tables(self, module: str, function: str, above: Mapping[str, Explanation]) -> Iterator["_Table"]:
        """The replies to be searched: beside correct helpers, then beside those that the submission has."""
        yield _Table(self._played(module, function, ()), ())
        helpers = self.rubric.helpers(module, (function,))
        found = {n: above[n].mistakes for n in helpers if n in above and above[n].complete and above[n].mistakes}
        if found:
            mistakes = tuple(dict.fromkeys(m for own in found.values() for m in own))
            yield _Table(self._played(module, function, tuple(found.items())), mistakes)

    def _new_table(self, module: str, function: str, helpers: tuple[tuple[str, tuple[Mistake, ...]], ...]) -> Played:
        built = {name: Played(module, name, (), {}).version(mistakes) for name, mistakes in helpers}
        return Played(module, function, self.steps[module], {n: version for n, version in built.items() if version})


@dataclass(frozen=True)
class _Table:
    """Replies of versions beside certain helpers, and those helpers' mistakes."""

    played: Played
    helpers: tuple[Mistake, ...]


class _Search:
    """The search for one function of one submission."""

    def __init__(self, rubric: Rubric, module: str, function: str, records: list[Record], tables: list[_Table]):
        self.rubric, self.module, self.function, self.tables = rubric, module, function, tables
        # A wrong record tells versions apart, a right one seldom does.
        self.records = sorted(records, key=lambda record: record.fault is None)
        self.verdicts: dict[tuple[int, int, int], bool] = {}
        values = {c.id for c in rubric.of(module) if c.looks_at == "values"}
        self.of_criterion: dict[str, list[Record]] = {}
        for record in self.records:
            if record.step.criterion in values:
                self.of_criterion.setdefault(record.step.criterion, []).append(record)

    def complete(self) -> Explanation | None:
        """The smallest set that reproduces every record; of several the one that costs the fewest points."""
        for size, table in self._order():
            fitting = [v for v in self._versions(size) if self._fits(table, v, self.records)]
            if fitting:
                return self._chosen(table, fitting)
        return None

    def partial(self) -> Explanation | None:
        """The smallest set that reproduces the most criteria, at least one of which has a wrong record."""
        best: tuple[tuple[float, ...], Explanation] | None = None
        wrong = {name for name, own in self.of_criterion.items() if any(map(wrong_in_value, own))}
        for place, (size, table) in enumerate(self._order()):
            for version in self._versions(size):
                if inexact(version.mistakes) is not None:
                    continue  # rounding is told from other mistakes only by all calls together
                met = self._criteria(table, version, wrong)
                key = (-len(met), size, self._cost(version.mistakes, wrong - met), place)
                if met & wrong and (best is None or key < best[0]):
                    best = key, self._explanation(table, version, met)
        return best[1] if best is not None else None

    def _order(self) -> Iterator[tuple[int, _Table]]:
        for size in range(3):
            for table in self.tables:
                if size or table.helpers:
                    yield size, table

    def _versions(self, size: int) -> Iterator[Version]:
        return islice(versions(self.module, self.function, size), MOST_VERSIONS)

    def _criteria(self, table: _Table, version: Version, wrong: set[str]) -> frozenset[str]:
        """The criteria that a version reproduces; a version that reproduces no wrong one is not looked at further."""
        met = {name for name in wrong if self._fits(table, version, self.of_criterion[name])}
        rest = (
            n for n in self.of_criterion if n not in wrong and met and self._fits(table, version, self.of_criterion[n])
        )
        return frozenset(met.union(rest))

    def _chosen(self, table: _Table, fitting: list[Version]) -> Explanation:
        costs = [self._cost(version.mistakes, frozenset()) for version in fitting]
        first = fitting[costs.index(min(costs))]
        others = [version for version in fitting if not _same_names(version, first)]
        if len(first.mistakes) == 1 and self._returns_bools():
            pairs = (v for v in self._versions(2) if first.mistakes[0] not in v.mistakes)
            others += [version for version in pairs if self._fits(table, version, self.records)]
        explanation = self._explanation(table, first, frozenset(self.of_criterion))
        return replace(explanation, complete=True, others=tuple(version.mistakes for version in others))

    def _explanation(self, table: _Table, version: Version, met: frozenset[str]) -> Explanation:
        steps = frozenset(r.step.number for r in self.records if self._fits(table, version, [r]))
        own, helpers, played = version.mistakes, table.helpers, table.played
        return Explanation(self.module, self.function, own, helpers, met, reproduced=steps, played=played)

    def _cost(self, mistakes: tuple[Mistake, ...], unexplained: Iterable[str]) -> float:
        lost = {name for mistake in mistakes for name in mistake.criteria}.union(unexplained)
        return sum(self.rubric.criteria[name].points for name in lost)

    def _returns_bools(self) -> bool:
        expected = [r.step.expected for r in self.records if r.step.kind == "call" and r.step.expected is not None]
        return bool(expected) and all(
            not isinstance(value, tuple) and np.asarray(value).dtype.kind == "b" for value in expected
        )

    def _fits(self, table: _Table, version: Version, records: list[Record]) -> bool:
        exact = inexact(version.mistakes)
        if exact is None:
            return all(self._alike(table, version, record) for record in records)
        base = table.played.version(exact)
        if base is None or not table.played.rounds(version, base):
            return False
        return all(self._rounded(table, base, version, record) for record in records)

    def _alike(self, table: _Table, version: Version, record: Record) -> bool:
        number = record.step.number
        kind = table.played.reply_class(version, number)
        key = (id(table), number, kind)
        if key not in self.verdicts:
            self.verdicts[key] = alike(record.step, table.played.classes[number][kind], record.reply)
        return self.verdicts[key]

    def _rounded(self, table: _Table, base: Version, version: Version, record: Record) -> bool:
        exact, known = (table.played.reply(v, record.step.number) for v in (base, version))
        return alike_in_rounding(record.step, exact, known, record.reply)


def wrong_in_value(record: Record) -> bool:
    """Whether more is wrong than form: what changed, what is shared, the dtype."""
    if record.fault is None or record.fault.kind in ("changed", "changed_later", "shared", "overwritten"):
        return False
    return record.fault.kind != "dtype" or not alike(record.step, Reply(value=record.step.expected), record.reply)


def _absent(record: Record) -> bool:
    """Whether there is nothing to explain: the function is missing, not written, or cannot be called with its arguments."""
    error = record.reply.error
    return error is not None and (error.kind == "NotImplementedError" or error.hint in ("missing", "signature"))


def _unnamed(records: list[Record], explanation: Explanation) -> tuple[Mistake, ...]:
    """What was observed and does not come from the mistakes of the explanation."""
    left = [record for record in records if not (explanation.complete and _has_form(explanation, record))]
    return tuple(m for m in observed(left, explanation.complete) if not _has(explanation.named, m))


def _has_form(explanation: Explanation, record: Record) -> bool:
    """Whether the explanation's mistakes change, share and convert just what this record shows."""
    played = explanation.played
    version = played.version(explanation.mistakes) if played is not None and explanation.mistakes else None
    if played is None or version is None:
        return False
    return alike_in_form(record.step, played.reply(version, record.step.number), record.reply)
