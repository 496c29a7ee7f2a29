"""What is wrong with a function? The fewest known mistakes that reproduce all that was recorded of it.

One mistake is tried, then growing sets of them, each first beside correct helpers and then beside the helpers as they were
explained (search.py).
Values, errors and what is remembered between calls are explained so; which argument changed, and which dtype came back, is
observed (`observed`, at the end).
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.known_responses import KnownResponses, wrong_in_value
from autograder.grading.probes import arguments
from autograder.grading.search import Candidate, Search, Table
from autograder.grading.thresholds import LEAST_EVIDENCE
from autograder.homework import reference
from autograder.homework.library import COPIES, KEEP_DTYPE, KEPT, Misconception, of_form, of_function
from autograder.homework.rubric import Rubric
from autograder.sandbox.wire import Kept
from autograder.values.changes import Change, in_words, part
from autograder.values.tree import arrays, leaves

MOST_HELD = 20_000  # versions whose replies are kept for the next submissions: some 60 MB with their texts and code
Helpers = tuple[tuple[str, tuple[Misconception, ...]], ...]


@dataclass(frozen=True)
class Explanation:
    """Why a function replied as it did.

    `chosen` are the misconceptions that reproduce every record, or one that shows beside an unknown mistake; `rivals` reproduce as
    much. `observed` are changed arguments, wrong dtypes and the like, which come from none of these. `right_in_value`: nothing
    else is wrong. `empty`: the function computes nothing. `repair` stands for one small edit of its text that makes every call
    right (repair.py).
    """

    chosen: Candidate | None = None
    rivals: tuple[Candidate, ...] = ()
    observed: tuple[Misconception, ...] = ()
    right_in_value: bool = False
    empty: bool = False
    repair: Misconception | None = None

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The function's own."""
        if self.repair is not None:
            return (self.repair,)
        return self.chosen.misconceptions if self.chosen is not None else ()

    @property
    def helpers(self) -> tuple[Misconception, ...]:
        """The mistakes of the functions that it is built from."""
        return self.chosen.table.helpers if self.chosen is not None else ()

    @property
    def complete(self) -> bool:
        """Whether every record is reproduced, in values."""
        return self.right_in_value or self.repair is not None or (self.chosen is not None and self.chosen.is_complete)

    @property
    def formal(self) -> bool:
        """Whether every record is reproduced in form too."""
        return self.repair is not None or (self.chosen is not None and self.chosen.is_formal)

    def explains(self, criterion: str) -> bool:
        """Whether every record of a criterion is reproduced."""
        return self.repair is not None or (self.chosen is not None and criterion in self.chosen.criteria)

    def replies_so(self, call_result: CallResult) -> bool:
        """Whether the chosen misconceptions explain everything, and reply to this call as recorded, whatever was called before."""
        if (
            self.chosen is None
            or not self.chosen.is_complete
            or any(m.memory for m in (*self.misconceptions, *self.helpers))
        ):
            return False
        return self.chosen.fits(call_result) and self.chosen.fits_in_form(call_result)

    @property
    def named(self) -> tuple[Misconception, ...]:
        """The mistakes that have a name: those in every set that explains all records, and what was observed."""
        return tuple(m for m in self.sure if all(m.id in rival.ids for rival in self.rivals)) + self.observed

    @property
    def sure(self) -> tuple[Misconception, ...]:
        """The mistakes of which there is enough evidence."""
        chosen = self.chosen if self.repair is None else None
        return () if chosen is not None and (chosen.is_guess or chosen.changes_unseen) else self.misconceptions

    @property
    def at_least(self) -> bool:
        """Whether the mistakes are told though they are not all that is wrong."""
        return self.chosen is not None and not self.complete

    @property
    def inherited(self) -> tuple[Misconception, ...]:
        """The helpers' mistakes, where they explain every record."""
        return self.helpers if self.complete else ()

    @property
    def undecided(self) -> tuple[Misconception, ...]:
        """Mistakes that do the same on every call, so that none of them is named."""
        ids = {misconception.id for misconception in self.misconceptions}
        others = [rival.misconceptions for rival in self.rivals if not ids <= rival.ids]
        by_id = {m.id: m for chosen in (self.misconceptions, *others) for m in chosen} if others else {}
        return tuple(m for m in by_id.values() if not has(self.named, m))

    @property
    def shared(self) -> str:
        """What the undecided mistakes share: the half sentence that says what is right, if it is one for all."""
        right = {misconception.right for misconception in self.undecided}
        return right.pop() if len(right) == 1 else ""


class Diagnoser:
    """Explains what submissions do in a script. The replies of known versions are kept for the next ones."""

    def __init__(self, rubric: Rubric, test_calls: Mapping[str, Sequence[Sequence[TestCall]]]):
        """`test_calls` are those of each module, by process, in the order in which it plays them."""
        self.rubric, self.test_calls = rubric, test_calls
        self._kept: dict[tuple[str, str, Helpers], KnownResponses] = {}  # what was used last comes last

    def known_responses(self, module: str, function: str, helpers: Helpers = ()) -> KnownResponses:
        """The replies of a function's known versions, beside helpers with these mistakes."""
        key = (module, function, helpers)
        self._kept[key] = self._kept.pop(key) if key in self._kept else self._new_table(*key)
        return self._kept[key]

    def forget(self) -> None:
        """Keep what was used last, so that what is held does not grow with a class."""
        held = sum(known_responses.held for known_responses in self._kept.values())
        while held > MOST_HELD:
            held -= self._kept.pop(next(iter(self._kept))).held

    def explain(
        self,
        module: str,
        call_results: Iterable[CallResult],
        before: Mapping[str, Explanation] | None = None,
    ) -> dict[str, Explanation]:
        """Every function of a module that has a wrong record, explained as far as it can be, in the order of the rubric.

        Nothing but these records is looked at: what is shown before the due date is made from visible ones. `before` is what
        explained some of them: what explains all of them explains these too.
        """
        explanations: dict[str, Explanation] = {}
        every = list(call_results)
        for function in self.rubric.modules[module].functions:
            some = (before or {}).get(function)
            helpers = self.rubric.helpers(module, (function,))
            hopeless = some is not None and not some.complete and not any(name in explanations for name in helpers)
            explanations |= self.explained(module, function, every, explanations, hopeless)
        return explanations

    def explained(
        self,
        module: str,
        function: str,
        call_results: Iterable[CallResult],
        above: Mapping[str, Explanation],
        hopeless: bool = False,
    ) -> dict[str, Explanation]:
        """One function of a module, if it has a wrong record, beside helpers that are wrong as explained `above`."""
        own = [call_result for call_result in call_results if call_result.target.function == function]
        if all(call_result.failure is None for call_result in own):
            return {}
        nothing = Explanation(empty=computes_nothing(own))
        explanation = nothing if hopeless else self._explain(module, function, own, above)
        chosen = explanation.chosen if explanation.complete else None
        strange = [call_result for call_result in own if chosen is None or not chosen.fits_in_form(call_result)]
        unnamed = tuple(m for m in observed(strange, explanation.complete) if not has(explanation.named, m))
        return {function: replace(explanation, observed=unnamed)}

    def evident(self, module: str, function: str, call_results: Sequence[CallResult]) -> list[Candidate]:
        """Single known mistakes whose wrong reply the function gave in a few calls at least, those with the most first; none that
        would have made a right call wrong."""
        table = Table(self.known_responses(module, function))
        search = Search(self.rubric, module, function, call_results, [table])
        exact = [m for m in of_function(module, function) if not m.inexact and not m.memory]
        right = [call_result for call_result in call_results if call_result.failure is None]
        wrong = [
            call_result
            for call_result in call_results
            if wrong_in_value(call_result) and call_result.response.error is None
        ]
        candidates = filter(None, (search.candidate(table, (misconception,)) for misconception in exact))
        ranked = [(sum(map(c.fits, wrong)), c) for c in candidates if c.reproduces(right)]
        return [c for calls, c in sorted(ranked, key=lambda pair: -pair[0]) if calls >= LEAST_EVIDENCE]

    def _explain(
        self,
        module: str,
        function: str,
        call_results: list[CallResult],
        above: Mapping[str, Explanation],
    ) -> Explanation:
        wrong = [call_result for call_result in call_results if wrong_in_value(call_result)]
        if wrong and all(r.response.ended is not None or is_absent(r) for r in wrong):
            return Explanation(empty=computes_nothing(call_results))
        helpers = self.rubric.helpers(module, (function,))
        if any(name in above and not above[name].complete for name in helpers):
            # It is played again beside correct helpers; what fits now is chance.
            return Explanation(empty=computes_nothing(call_results))
        tables = list(self._tables(module, function, above))
        # What a call changed before it raised is seen later.
        seen = {misconception.name.removesuffix("_later") for misconception in observed(call_results, True)}
        given = tuple(m for m in of_function(module, function) if m.name in seen and m.way == 0)
        if given:
            tables += [replace(table, given=given) for table in tables]
        # What computes nothing loses all criteria, so that what fits in one of them decides nothing, and is no two mistakes.
        empty = bool(wrong) and computes_nothing(call_results)
        search = Search(self.rubric, module, function, call_results, tables, 1 if empty else None)
        if not wrong:
            return Explanation(search.formal(), right_in_value=True)
        candidates = search.complete()
        return Explanation(next(iter(candidates), None), tuple(candidates[1:]), empty=empty)

    def _tables(self, module: str, function: str, above: Mapping[str, Explanation]) -> Iterator[Table]:
        """The replies to be searched: beside correct helpers, then beside those that the submission has."""
        yield Table(self.known_responses(module, function))
        helpers = self.rubric.helpers(module, (function,))
        misconceptions = {n: above[n].sure for n in helpers if n in above and above[n].sure}
        if misconceptions:
            yield self._beside(module, function, misconceptions)
        for name in misconceptions:  # what cannot be told apart in the helper may show here
            for rival in above[name].rivals:
                if rival.misconceptions:
                    yield replace(
                        self._beside(module, function, misconceptions | {name: rival.misconceptions}), alone=True
                    )

    def _beside(self, module: str, function: str, helpers: Mapping[str, tuple[Misconception, ...]]) -> Table:
        misconceptions = tuple(dict.fromkeys(m for own in helpers.values() for m in own))
        return Table(self.known_responses(module, function, tuple(helpers.items())), misconceptions)

    def _new_table(self, module: str, function: str, helpers: Helpers) -> KnownResponses:
        built = {name: KnownResponses(module, name, (), {}).version(misconceptions) for name, misconceptions in helpers}
        return KnownResponses(
            module, function, self.test_calls[module], {n: version for n, version in built.items() if version}
        )


def is_absent(call_result: CallResult) -> bool:
    """Whether there is nothing to explain: the function is missing, not written, or cannot be called with its arguments."""
    error = call_result.response.error
    return call_result.unwritten or (error is not None and error.hint in ("missing", "signature"))


def has(misconceptions: Iterable[Misconception], misconception: Misconception) -> bool:
    """Whether a mistake is among others, made in whatever way."""
    return any(m.id == misconception.id for m in misconceptions)


def computes_nothing(call_results: Iterable[CallResult]) -> bool:
    """Whether a function gives one and the same number everywhere, an argument as it is, or an error, on every call."""
    calls = [
        r
        for r in call_results
        if r.test_call.kind == "call" and not r.test_call.rules.error and r.response.ended is None
    ]
    if all(call_result.response.error is not None for call_result in calls):
        return True
    if any(call_result.response.error is not None for call_result in calls):
        return False
    if _is_one_number(r.response.value for r in calls) and not _is_one_number(r.test_call.expected for r in calls):
        return True
    names = set[str](arguments(calls[0].test_call))  # arguments that may be what is always returned
    returned = set[str]()
    for call_result in calls:
        given = arguments(call_result.test_call)
        kept = {name for name in names if isinstance(given.get(name), Kept)}  # of an earlier call: not there to compare
        same = {name for name in names - kept if _same(given.get(name), call_result.response.value)}
        names, returned = kept | same, returned | same
        if not names:
            return False
    return bool(names & returned)


def _is_one_number(values: Iterable[Any]) -> bool:
    """Whether the same number is everywhere in these values."""
    numbers = (number for value in values for number in _numbers(value))
    first = next(numbers, None)
    return all(number == first for number in numbers)


def _numbers(value: Any) -> Iterator[float]:
    """The least and the greatest number of each array: only whether there is more than one matters."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, np.ndarray | np.generic | float | int) and np.asarray(value).dtype.kind in "biuf":
        array = np.asarray(value)
        yield from {float(array.min()), float(array.max())} if array.size else ()


def _same(given: Any, value: Any) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return isinstance(given, np.ndarray) and all(isinstance(p, np.ndarray) and np.array_equal(p, given) for p in parts)


# Mistakes of form are named by what was seen: which argument changed and how, which dtype came back. Never by a guess at the
# cause.
#
# An observed mistake has an id like a known one: `<function>.changes_<argument>`, `.float64_result`, `.changes_<argument>_later`,
# `.shares_memory`, `.overwrites_result`, `.remembers`.


def observed(call_results: Sequence[CallResult], explained: bool) -> tuple[Misconception, ...]:
    """What is wrong in form in records of one function, each thing once, in the order in which it was seen.

    `explained`: the values are, so that a result that differs from the first needs no name of its own.
    """
    by_name: dict[str, Misconception] = {}
    for call_result in call_results:
        if call_result.failure is not None:
            for misconception in seen(call_result, explained):
                by_name.setdefault(misconception.name, misconception)
    again = {name for name in by_name if name.endswith("_later") and name[:-6] in by_name}
    return tuple(misconception for name, misconception in by_name.items() if name not in again)


def seen(call_result: CallResult, explained: bool) -> Iterator[Misconception]:
    """What one wrong record shows of wrong form."""
    yield from _changed(call_result)
    name, floats = _dtypes(call_result)
    if name:
        _, right, read = of_form("float64_result", call_result.target.function)
        does = f"Your result is {name} for {floats} arguments."
        yield _mistake(call_result, f"{name}_result", does, right if name == "float64" else f"{KEEP_DTYPE}.", read)
    if call_result.response.shared:
        does, right = "Your result shares memory with an argument.", "Return a new array, or a copy."
        yield _mistake(call_result, "shares_memory", does, right, COPIES)
    kind = call_result.failure.kind if call_result.failure is not None else ""
    if kind == "overwritten":
        does = "An array you returned earlier changed later, because it shares memory with another array."
        yield _mistake(call_result, "overwrites_result", does, "Return a new array in every call.", COPIES)
    if kind == "unsteady" and not explained:
        does, right = (
            "The same call returned a different result the second time.",
            "Do not keep anything from one call to the next.",
        )
        yield _mistake(call_result, "remembers", does, right, KEPT)


def _changed(call_result: CallResult) -> Iterator[Misconception]:
    later = call_result.test_call.kind == "changes"
    names = list(inspect.signature(reference.functions()[call_result.target.function]).parameters)
    first: dict[int, Change] = {}  # of each argument
    for change in call_result.response.changed:
        first.setdefault(change.argument, change)
    for number, change in first.items():
        name = part(names, number, ()).replace(" ", "_")
        does, right, read = of_form(f"changes_{name}", call_result.target.function)
        how = in_words(names, [change]) + (", which is visible only after the call" if later else "")
        does = f"{does.rstrip('.')}: {how}."
        yield _mistake(call_result, f"changes_{name}" + ("_later" if later else ""), does, right, read)


def _dtypes(call_result: CallResult) -> tuple[str, str]:
    """The first dtype of a number that came back and is none of those expected, and the one that is due; "" where all are right.

    A wrong shape, or more or fewer results than expected, hide no wrong dtype.
    """
    response, test_call = call_result.response, call_result.test_call
    expected = [part.dtype for part in arrays(test_call.expected)]
    due = next((dtype for dtype in expected if dtype.kind == "f"), None)
    if due is None or not test_call.rules.dtype or response.error is not None or response.ended is not None:
        return "", ""
    returned = [part.dtype for part in leaves(response.value) if isinstance(part, np.ndarray | np.generic)]
    wrong = next((dtype for dtype in returned if dtype.kind in "fiu" and dtype not in expected), None)
    return (str(wrong), str(due)) if wrong is not None else ("", "")


def _mistake(call_result: CallResult, name: str, does: str, right: str, read: str) -> Misconception:
    criteria = (call_result.test_call.criterion,) if call_result.test_call.criterion else ()
    return Misconception(call_result.target.module, call_result.target.function, name, criteria, does, right, read)
