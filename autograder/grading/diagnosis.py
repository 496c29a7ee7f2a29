"""What is wrong with a function? The fewest known mistakes that reproduce all that was recorded of it.

One mistake is tried, then two (pairing.py), each first beside correct helpers and then beside the helpers as they were explained
(search.py); last one mistake in code that does the work of another function (homework/inlined.py).
Values, errors and what is remembered between calls are explained so; which argument changed, and which dtype came back, is
observed (observed.py).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from autograder.grading.explanation import Explanation, computes_nothing, has, wrong_in_value
from autograder.grading.observed import observed
from autograder.grading.played import Played, alike_in_form
from autograder.grading.record import Record, Step
from autograder.grading.search import Search, Table
from autograder.homework.mistakes import Mistake, of_function
from autograder.homework.rubric import Rubric

MOST_ALIKE = 8  # sets of a helper's mistakes that do the same there, and are tried in the functions built on it
MOST_TABLES = 128  # of replies that are kept: one for each function and set of helpers

__all__ = ["Diagnoser", "Explanation", "wrong_in_value"]


class Diagnoser:
    """Explains what submissions do in a script. The replies of known versions are kept from one submission to the next."""

    def __init__(self, rubric: Rubric, steps: Mapping[str, Sequence[Step]]):
        """`steps` are those of each module, in the order in which a process plays them."""
        self.rubric, self.steps = rubric, steps
        self._played = lru_cache(MOST_TABLES)(self._new_table)

    def played(self, module: str, function: str) -> Played:
        """The replies of a function's known versions beside correct helpers."""
        return self._played(module, function, ())

    def explain(self, module: str, records: Iterable[Record]) -> dict[str, Explanation]:
        """Every function of a module that has a wrong record, explained as far as it can be, in the order of the rubric.

        Of the records that are given nothing but these is looked at: what is shown before the due date is made from visible ones.
        """
        found: dict[str, Explanation] = {}
        every = list(records)
        for function in self.rubric.modules[module].functions:
            found |= self.explained(module, function, every, found)
        return found

    def explained(
        self, module: str, function: str, records: Iterable[Record], above: Mapping[str, Explanation]
    ) -> dict[str, Explanation]:
        """One function of a module, if it has a wrong record, beside helpers that are wrong as explained `above`."""
        own = [record for record in records if record.target.function == function]
        if all(record.fault is None for record in own):
            return {}
        explanation = self._explain(module, function, own, above)
        return {function: replace(explanation, observed=_unnamed(own, explanation))}

    def hidden(self, explanation: Explanation, criterion: str) -> tuple[Mistake, ...] | None:
        """The criterion's own known mistakes in this function that would not show beside the explanation; () if all would.

        One shows where it would change a reply that the explanation reproduces: the student's function has not made it then.
        None where there is no such mistake to try: nothing proves then that the criterion is met.
        """
        played = explanation.played
        base = played.version(explanation.mistakes) if played is not None else None
        if played is None or base is None:
            return None
        shown: dict[str, bool] = {}
        correct = self.played(explanation.module, explanation.function)
        own = of_function(explanation.module, explanation.function)
        for mistake in (m for m in own if criterion in m.criteria and not has(explanation.mistakes, m)):
            version = played.version((*explanation.mistakes, mistake))
            if version is None or version.source == base.source:
                continue
            likely = explanation.reproduced.intersection((correct.shows_at(mistake),))
            shows = played.differ(base, version, (*likely, *explanation.reproduced))
            if shows or played.shows_at(mistake) is not None:  # one that never shows proves nothing
                shown[mistake.name] = shows or shown.get(mistake.name, False)
        unseen = {m.name: m for m in own if shown.get(m.name) is False}
        return tuple(unseen.values()) if shown else None

    def _explain(
        self, module: str, function: str, records: list[Record], above: Mapping[str, Explanation]
    ) -> Explanation:
        nothing = Explanation(module, function)
        wrong = [record for record in records if wrong_in_value(record)]
        if wrong and all(record.reply.ended is not None or is_absent(record) for record in wrong):
            return replace(nothing, empty=computes_nothing(records))
        if self._has_unexplained_helper(module, function, above):
            # It is played again beside correct helpers; what fits now is chance.
            return replace(nothing, empty=computes_nothing(records))
        tables = list(self._tables(module, function, above))
        # What a call changed before it raised is seen later.
        seen = {mistake.name.removesuffix("_later") for mistake in observed(records, True)}
        given = tuple(m for m in of_function(module, function) if m.name in seen and m.way == 0)
        if given:
            tables += [replace(table, given=given) for table in tables]
        search = Search(self.rubric, module, function, records, [t for t in tables if t.version(()) is not None])
        if not wrong:
            return search.formal() or replace(nothing, complete=True)
        found = search.complete() or search.inlined()
        if found is not None:
            formal = all(_has_form(found, record) for record in records)
            return replace(found, formal=formal, empty=computes_nothing(records))
        return replace(search.partial() or nothing, empty=computes_nothing(records))

    def _has_unexplained_helper(self, module: str, function: str, above: Mapping[str, Explanation]) -> bool:
        helpers = self.rubric.helpers(module, (function,))
        return any(name in above and not above[name].complete for name in helpers)

    def _tables(self, module: str, function: str, above: Mapping[str, Explanation]) -> Iterator["Table"]:
        """The replies to be searched: beside correct helpers, then beside those that the submission has."""
        yield Table(self._played(module, function, ()), ())
        helpers = self.rubric.helpers(module, (function,))
        found = {n: above[n].sure for n in helpers if n in above and above[n].sure}
        if found:
            yield self._beside(module, function, found)
        for name in found:  # what cannot be told apart in the helper may show here
            for alike in above[name].alike[:MOST_ALIKE]:
                if alike and alike != found[name]:
                    yield replace(self._beside(module, function, found | {name: alike}), alone=True)

    def _beside(self, module: str, function: str, helpers: Mapping[str, tuple[Mistake, ...]]) -> "Table":
        mistakes = tuple(dict.fromkeys(m for own in helpers.values() for m in own))
        return Table(self._played(module, function, tuple(helpers.items())), mistakes)

    def _new_table(self, module: str, function: str, helpers: tuple[tuple[str, tuple[Mistake, ...]], ...]) -> Played:
        built = {name: Played(module, name, (), {}).version(mistakes) for name, mistakes in helpers}
        return Played(module, function, self.steps[module], {n: version for n, version in built.items() if version})


def is_absent(record: Record) -> bool:
    """Whether there is nothing to explain: the function is missing, not written, or cannot be called with its arguments."""
    error = record.reply.error
    return record.unwritten or (error is not None and error.hint in ("missing", "signature"))


def _unnamed(records: list[Record], explanation: Explanation) -> tuple[Mistake, ...]:
    """What was observed and does not come from the mistakes of the explanation."""
    left = [record for record in records if not (explanation.complete and _has_form(explanation, record))]
    return tuple(m for m in observed(left, explanation.complete) if not has(explanation.named, m))


def _has_form(explanation: Explanation, record: Record) -> bool:
    """Whether the explanation's mistakes change, share and convert just what this record shows."""
    if explanation.formal:
        return True
    played = explanation.played
    version = played.version(explanation.mistakes) if played is not None else None
    if played is None or version is None:
        return False
    return alike_in_form(record.step, played.reply(version, record.step.number), record.reply)
