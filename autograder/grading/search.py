"""The search for the fewest known mistakes that reproduce what was recorded of one function of one submission.

It is bounded by a count of versions, never by time, so that it ends alike on every machine.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from autograder.grading.explanation import Explanation, wrong_in_value
from autograder.grading.pairing import MOST_PAIRS, Evidence, Single, likely
from autograder.grading.played import Played, alike, alike_in_form, alike_in_rounding, inexact, same_if_other_type
from autograder.grading.record import Record
from autograder.grading.rounding import look_rounded, mostly_shown
from autograder.homework import inlined
from autograder.homework.mistakes import Mistake, Version, of_function
from autograder.homework.rubric import Rubric

MOST_INLINED = 400  # mistakes in what a function is built on
NEARLY = 0.95  # of the wrong records: an explanation of so many may be told


@dataclass(frozen=True, eq=False)
class Table:
    """Replies of versions beside certain helpers, and those helpers' mistakes.

    `given` are mistakes of form that were seen: every version has them too, since what they write is there in later calls.
    """

    played: Played
    helpers: tuple[Mistake, ...]
    given: tuple[Mistake, ...] = ()
    alone: bool = False  # tried without mistakes of the function's own only

    def version(self, mistakes: tuple[Mistake, ...]) -> Version | None:
        return self.played.version((*mistakes, *(mistake for mistake in self.given if mistake not in mistakes)))


class Search:
    """The search for one function of one submission."""

    def __init__(self, rubric: Rubric, module: str, function: str, records: list[Record], tables: list[Table]):
        self.rubric, self.module, self.function, self.tables = rubric, module, function, tables
        # A wrong record tells versions apart, a right one seldom does.
        self.records = sorted(records, key=lambda record: record.fault is None)
        self.places = {id(record): place for place, record in enumerate(self.records)}
        self.verdicts: dict[tuple[int, int, int], bool] = {}
        self.singles: dict[int, list[Single]] = {}
        values = {c.id for c in rubric.of(module) if c.looks_at == "values"}
        self.of_criterion: dict[str, list[Record]] = {}
        for record in self.records:
            if record.step.criterion in values:
                self.of_criterion.setdefault(record.step.criterion, []).append(record)

    def complete(self) -> Explanation | None:
        """The smallest set that reproduces every record, also what a result of wrong type holds, if any does.

        Of several the one that costs the fewest points.
        """
        loose: tuple[Table, list[Version]] | None = None
        for size, table in self._order():
            fitting = [v for v in self._versions(size, table, [self.records]) if self._fits(table, v, self.records)]
            fitting = [version for version in fitting if not self._changes_more(table, version)]
            if any(self._fits_strictly(table, version) for version in fitting):
                return self._chosen(table, fitting)
            if fitting and loose is None:
                loose = table, fitting
        return self._chosen(*loose) if loose is not None else None

    def inlined(self) -> Explanation | None:
        """The one mistake in code that does the work of another function, where results are floating numbers: few others tell."""
        table = self.tables[0]
        if not all(
            _of_floats(r.step.expected) for r in self.records if r.step.kind == "call" and not r.step.rules.error
        ):
            return None
        if not any(wrong_in_value(r) and r.reply.error is None for r in self.records):
            return None  # many mistakes raise the same error
        home = tuple(c.id for c in self.rubric.of(self.module) if c.id in self._wrong)[:1]
        found = []
        for mistake in inlined.of_function(self.module, self.function)[:MOST_INLINED]:
            version = table.version((mistake,))
            if (
                version is not None
                and self._fits(table, version, self.records)
                and not self._changes_more(table, version)
            ):
                found.append(table.version((replace(mistake, criteria=home),)))
        return self._chosen(table, [version for version in found if version is not None]) if found else None

    def _changes_more(self, table: Table, version: Version) -> bool:
        """Whether a version changes an argument that the submission was seen to leave alone."""
        replies = ((table.played.reply(version, record.step.number), record.reply) for record in self.records)
        return any(set(reply.changed) - set(seen.changed) for reply, seen in replies if seen.error is None)

    def partial(self) -> Explanation | None:
        """The smallest set that reproduces the most criteria, at least one of which has a wrong record."""
        best: tuple[tuple[float, ...], Explanation] | None = None
        for place, (size, table) in enumerate(self._order()):
            for version in self._versions(size, table, [self.of_criterion[name] for name in self._wrong]):
                if inexact(version.mistakes) is not None:
                    continue  # rounding is told from other mistakes only by all calls together
                met = self._criteria(table, version)
                if not self._homes(version) <= met or self._changes_more(table, version):
                    continue  # it contradicts calls of a criterion that its own mistakes belong to
                key = (-len(met), size, self._cost(version.mistakes, self._wrong - met), place)
                if met & self._wrong and (best is None or key < best[0]):
                    best = key, self._explanation(table, version, met)
        return best[1] if best is not None else None

    def _homes(self, version: Version) -> set[str]:
        """The criteria of value that a version's mistakes belong to, as far as there are records of them."""
        return {name for mistake in version.mistakes for name in mistake.criteria if name in self.of_criterion}

    def formal(self) -> Explanation | None:
        """The one mistake of form, or the helpers' mistakes, that reproduces what changed, what is shared, and every dtype."""
        for size, table in self._order():
            fitting = [v for v in self._versions(size, table, []) if size < 2 and self._fits_in_form(table, v)]
            if fitting and all(_ids(version) == _ids(fitting[0]) for version in fitting):
                explanation = self._explanation(table, fitting[0], frozenset(self.of_criterion))
                return replace(explanation, complete=True, formal=True)
        return None

    def _fits_in_form(self, table: Table, version: Version) -> bool:
        if not self._fits(table, version, self.records):
            return False
        replies = ((record, table.played.reply(version, record.step.number)) for record in self.records)
        return all(alike_in_form(record.step, reply, record.reply) for record, reply in replies)

    @cached_property
    def _wrong(self) -> frozenset[str]:
        """The criteria of value with a wrong record."""
        return frozenset(name for name, own in self.of_criterion.items() if any(map(wrong_in_value, own)))

    def _order(self) -> Iterator[tuple[int, Table]]:
        for size in range(3):
            for table in self.tables:
                if (size and not table.alone) or (not size and (table.helpers or table.given)):
                    yield size, table

    def _versions(self, size: int, table: Table, groups: list[list[Record]]) -> Iterator[Version]:
        """The versions with so many mistakes; of the pairs those that could reproduce one of the groups of records."""
        sets: list[tuple[Mistake, ...]] = [()]
        if size == 1:
            sets = [(mistake,) for mistake in of_function(self.module, self.function)]
        if size == 2:
            sets = list(self._pairs(table, groups))
        return filter(None, map(table.version, sets))

    def _pairs(self, table: Table, groups: list[list[Record]]) -> list[tuple[Mistake, Mistake]]:
        """The pairs that could reproduce one of the groups of records, the likeliest first."""
        right = self._bits(table, table.version(()))[1]
        criteria = [self._mask(self.of_criterion[name]) for name in self._wrong]
        evidence = Evidence(right, [self._mask(own) for own in groups], criteria, self._fresh(table))
        pairs = (pair for pair in likely(self._alone(table), evidence) if table.version(pair) is not None)
        return list(islice(pairs, MOST_PAIRS))

    def _mask(self, records: list[Record]) -> int:
        """The bits of some records."""
        return sum(1 << self.places[id(record)] for record in records)

    def _fresh(self, table: Table) -> int:
        """The bit of the call that is played first, if something is seen to be kept: a call gave another result when repeated."""
        if not any(record.fault is not None and record.fault.kind == "unsteady" for record in self.records):
            return 0
        order = list(table.played.steps)
        return self._mask([min(self.records, key=lambda record: order.index(record.step.number))])

    def _alone(self, table: Table) -> list[Single]:
        if id(table) not in self.singles:
            found = []
            for mistake in of_function(self.module, self.function):
                shows, fits = self._bits(table, table.version((mistake,)))
                found.append(Single(mistake, shows, fits))
            self.singles[id(table)] = found
        return self.singles[id(table)]

    def _bits(self, table: Table, version: Version | None) -> tuple[int, int]:
        correct = table.version(())
        shows = fits = 0
        if version is None or correct is None:
            return 0, 0
        for place, record in enumerate(self.records):
            shows |= table.played.differ(version, correct, [record.step.number]) << place
            fits |= self._alike(table, version, record) << place
        return shows, fits

    def _fits_strictly(self, table: Table, version: Version) -> bool:
        """Whether a version replies the same also where the type alone is wrong enough."""
        return all(
            same_if_other_type(r.step, table.played.reply(version, r.step.number), r.reply) for r in self.records
        )

    def _criteria(self, table: Table, version: Version) -> frozenset[str]:
        """The criteria that a version reproduces; none if it reproduces no wrong one."""
        met = {name for name in self._wrong if self._fits(table, version, self.of_criterion[name])}
        others = [name for name in self.of_criterion if name not in self._wrong and met]
        return frozenset(met.union(name for name in others if self._fits(table, version, self.of_criterion[name])))

    def _chosen(self, table: Table, fitting: list[Version]) -> Explanation:
        fitting = [v for v in fitting if self._fits_strictly(table, v)] or fitting
        fitting = [v for v in fitting if self._fits_in_form(table, v)] or fitting
        costs = [self._cost(version.mistakes, frozenset()) for version in fitting]
        first = fitting[costs.index(min(costs))]
        others = [version for version in fitting if not _ids(first) <= _ids(version)]
        explanation = self._explanation(table, first, frozenset(self.of_criterion))
        alike = tuple(version.mistakes for version in fitting)
        return replace(explanation, complete=True, others=tuple(version.mistakes for version in others), alike=alike)

    def _explanation(self, table: Table, version: Version, met: frozenset[str]) -> Explanation:
        steps = frozenset(r.step.number for r in self.records if self._fits(table, version, [r]))
        own, helpers, played = version.mistakes, table.helpers, table.played
        return Explanation(
            self.module, self.function, own, helpers, met, nearly=self._nearly(steps), reproduced=steps, played=played
        )

    def _nearly(self, steps: frozenset[int]) -> bool:
        """Whether these steps are all that are right, and nearly all that are wrong."""
        left = [record for record in self.records if record.step.number not in steps]
        wrong = sum(map(wrong_in_value, self.records))
        return all(map(wrong_in_value, left)) and len(left) <= (1 - NEARLY) * wrong

    def _cost(self, mistakes: tuple[Mistake, ...], unexplained: Iterable[str]) -> float:
        lost = {name for mistake in mistakes for name in mistake.criteria}.union(unexplained)
        return sum(self.rubric.criteria[name].points for name in lost)

    def _fits(self, table: Table, version: Version, records: list[Record]) -> bool:
        exact = inexact(version.mistakes)
        if exact is None:
            return all(self._alike(table, version, record) for record in records)
        base = table.version(exact)  # with what is given
        if base is None:
            return False
        if not all(self._rounded(table, base, version, r) for r in records) or not table.played.rounds(version, base):
            return False
        return records is not self.records or self._looks_rounded(table, base, version)

    def _alike(self, table: Table, version: Version, record: Record) -> bool:
        number = record.step.number
        kind = table.played.reply_class(version, number)
        key = (id(table), number, kind)
        if key not in self.verdicts:
            self.verdicts[key] = alike(record.step, table.played.classes[number][kind], record.reply)
        return self.verdicts[key]

    def _looks_rounded(self, table: Table, base: Version, version: Version) -> bool:
        """Whether the records show an error of rounding, and the exact mistakes beside it as well."""
        values = [record.reply.value for record in self.records]
        if not look_rounded(self._values(table, base, version), values):
            return False
        right = table.version(())
        assert right is not None
        allowed = [record.step.allowed for record in self.records]
        return not base.mistakes or mostly_shown(self._values(table, right, base), values, allowed)

    def _values(self, table: Table, one: Version, other: Version) -> list[tuple[Any, Any]]:
        reply, numbers = table.played.reply, [record.step.number for record in self.records]
        return [(reply(one, number).value, reply(other, number).value) for number in numbers]

    def _rounded(self, table: Table, base: Version, version: Version, record: Record) -> bool:
        exact, known = (table.played.reply(v, record.step.number) for v in (base, version))
        return alike_in_rounding(record.step, exact, known, record.reply)


def _ids(version: Version) -> set[str]:
    return {mistake.id for mistake in version.mistakes}


def _of_floats(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_of_floats, value))
    return np.asarray(value).dtype.kind == "f"
