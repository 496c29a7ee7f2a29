"""Diagnosis: the fewest misconceptions that reproduce every response of a function.

The search (search.py) tries one misconception, then growing combinations, first with correct helpers and then with the helpers as
they were diagnosed. It explains values, errors and state kept between calls. Changed arguments and wrong dtypes are observed
directly (`observed`, at the end).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.grading.call_results import CallResult, of_function
from autograder.grading.known_responses import KnownResponses, wrong_in_value
from autograder.grading.plan import Plan
from autograder.grading.probes import arguments
from autograder.grading.search import Candidate, Search
from autograder.grading.thresholds import LEAST_EVIDENCE, MOST_TOGETHER
from autograder.homework.library import CHANGES, COPIES, KEEP_DTYPE, KEPT, NO_CHANGES, Misconception, of_form
from autograder.sandbox.wire import Kept
from autograder.values.changes import in_words, part
from autograder.values.tree import arrays, leaves

MOST_HELD = 20_000  # cached versions with their responses: about 60 MB
Helpers = tuple[tuple[str, tuple[Misconception, ...]], ...]


@dataclass(frozen=True)
class Diagnosis:
    """Why a function fails.

    `chosen` are the misconceptions that reproduce every response, or one that is evident next to an unknown mistake;
    `rivals` reproduce as much. `observed` are side effects and dtypes that none of these explain. `right_in_value`:
    nothing else is wrong. `empty`: the function computes nothing. `repair` represents a single edit of the source that
    fixes every call (repair.py).
    """

    chosen: Candidate | None = None
    rivals: tuple[Candidate, ...] = ()
    observed: tuple[Misconception, ...] = ()
    right_in_value: bool = False
    empty: bool = False
    repair: Misconception | None = None

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The misconceptions of the function itself."""
        if self.repair is not None:
            return (self.repair,)
        return self.chosen.misconceptions if self.chosen is not None else ()

    @property
    def helpers(self) -> tuple[Misconception, ...]:
        """The misconceptions of the functions it calls."""
        return self.chosen.known.misconceptions if self.chosen is not None else ()

    @property
    def complete(self) -> bool:
        """Whether every response is reproduced in value."""
        return self.right_in_value or self.repair is not None or (self.chosen is not None and self.chosen.is_complete)

    @property
    def formal(self) -> bool:
        """Whether side effects and dtypes are reproduced too."""
        return self.repair is not None or (self.chosen is not None and self.chosen.is_formal)

    @property
    def memory(self) -> bool:
        """Whether it explains results that depend on earlier calls."""
        return self.repair is not None or (self.chosen is not None and self.chosen.memory)

    def explains(self, criterion: str) -> bool:
        """Whether every response of a criterion is reproduced."""
        return self.repair is not None or (self.chosen is not None and criterion in self.chosen.criteria)

    @property
    def sure(self) -> tuple[Misconception, ...]:
        """The misconceptions with enough evidence."""
        chosen = self.chosen if self.repair is None else None
        return () if chosen is not None and (chosen.is_guess or chosen.changes_unseen) else self.misconceptions

    @property
    def named(self) -> tuple[Misconception, ...]:
        """The misconceptions to name: those in every set that explains everything, and the observed ones."""
        return tuple(m for m in self.sure if all(m.id in rival.ids for rival in self.rivals)) + self.observed

    @property
    def undecided(self) -> tuple[Misconception, ...]:
        """Misconceptions that have the same results on every call, so that none of them is named."""
        ids = {misconception.id for misconception in self.misconceptions}
        others = [rival.misconceptions for rival in self.rivals if not ids <= rival.ids]
        by_id = {m.id: m for chosen in (self.misconceptions, *others) for m in chosen} if others else {}
        return tuple(m for m in by_id.values() if not has(self.named, m))


class Diagnoser:
    """Diagnoses submissions. Responses of known versions are cached for later submissions."""

    def __init__(self, plan: Plan):
        self.plan, self.homework, self.rubric = plan, plan.homework, plan.rubric
        self._kept: dict[tuple[str, str, Helpers], KnownResponses] = {}  # least recently used first

    def known_responses(self, module: str, function: str, helpers: Helpers = ()) -> KnownResponses:
        """The responses of a function's known versions, with helpers that have these misconceptions."""
        key = (module, function, helpers)
        known = self._kept.pop(key) if key in self._kept else None
        self._kept[key] = known or KnownResponses(
            self.homework, module, function, self.plan.in_order(module), dict(helpers)
        )
        return self._kept[key]

    def forget(self) -> None:
        """Drop the least recently used responses, so that memory does not grow with the class."""
        held = sum(known_responses.held for known_responses in self._kept.values())
        while held > MOST_HELD:
            held -= self._kept.pop(next(iter(self._kept))).held

    def explain(self, module: str, call_results: Sequence[CallResult]) -> dict[str, Diagnosis]:
        """Explain every function of a module that has a failing call, in the order of the rubric, from these results only."""
        diagnoses: dict[str, Diagnosis] = {}
        for function in self.rubric.modules[module].functions:
            diagnoses |= self.explained(module, function, call_results, diagnoses)
        return diagnoses

    def explained(
        self, module: str, function: str, call_results: Iterable[CallResult], above: Mapping[str, Diagnosis]
    ) -> dict[str, Diagnosis]:
        """Explain one function of a module, if it has a failing call, with helpers that are wrong as explained `above`."""
        own = of_function(call_results, function)
        if not any(call_result.failed for call_result in own):
            return {}
        wrong = [call_result for call_result in own if wrong_in_value(call_result)]
        diagnosis = Diagnosis(empty=bool(wrong) and computes_nothing(own))
        helpers = {name: above[name] for name in self.rubric.helpers(module, (function,)) if name in above}
        unanswered = bool(wrong) and all(r.response.ended is not None or r.is_absent for r in wrong)
        # With an unexplained helper, the function runs again with a correct one; a match now would be coincidence.
        if not unanswered and all(helper.complete and not helper.repair for helper in helpers.values()):
            search = self._search(module, function, own, helpers, MOST_TOGETHER if wrong and not diagnosis.empty else 1)
            if wrong:
                found = search.complete()
                diagnosis = replace(diagnosis, chosen=next(iter(found), None), rivals=tuple(found[1:]))
            else:
                diagnosis = Diagnosis(search.formal(), right_in_value=True)
        fitting = diagnosis.chosen if diagnosis.complete else None
        strange = [call_result for call_result in own if fitting is None or not fitting.fits_in_form(call_result)]
        unnamed = tuple(m for m in observed(strange, diagnosis.memory) if not has(diagnosis.named, m))
        return {function: replace(diagnosis, observed=unnamed)}

    def evident(self, module: str, function: str, call_results: Sequence[CallResult]) -> list[Candidate]:
        """Single misconceptions that reproduce some failing calls and every passing one, best first."""
        search = self._search(module, function, call_results, {}, 1)
        exact = [m for m in self.homework.of_function(module, function) if not m.inexact and not m.memory]
        candidates = filter(None, (search.candidate(search.tables[0], (misconception,)) for misconception in exact))
        right = [call_result for call_result in call_results if not call_result.failed]
        wrong = [r for r in call_results if wrong_in_value(r) and r.error is None]
        ranked = [(sum(map(c.fits, wrong)), c) for c in candidates if c.reproduces(right)]
        return [c for calls, c in sorted(ranked, key=lambda pair: -pair[0]) if calls >= LEAST_EVIDENCE]

    def _search(
        self,
        module: str,
        function: str,
        call_results: Sequence[CallResult],
        helpers: Mapping[str, Diagnosis],
        largest: int,
    ) -> Search:
        """A search with correct helpers, with the submission's, and with the helpers' rivals, which may differ in these calls."""
        wrong = {name: diagnosis.sure for name, diagnosis in helpers.items() if diagnosis.sure}
        rivals = [wrong | {n: r.misconceptions} for n in wrong for r in helpers[n].rivals if r.misconceptions]
        known, others = (
            [self.known_responses(module, function, tuple(own.items())) for own in tables]
            for tables in ([{}, wrong] if wrong else [{}], rivals)
        )
        return Search(self.homework, module, function, call_results, known, others, largest)


def has(misconceptions: Iterable[Misconception], misconception: Misconception) -> bool:
    """Whether a misconception is among others, in any variant."""
    return any(m.id == misconception.id for m in misconceptions)


def computes_nothing(call_results: Iterable[CallResult]) -> bool:
    """Whether a function returns one constant or an unchanged argument on every call, or always raises an error."""
    calls = [r for r in call_results if r.test_call.kind == "call" and not r.test_call.rules.error]
    calls = [call_result for call_result in calls if call_result.response.ended is None]
    if not all(call_result.returned for call_result in calls):
        return not any(call_result.returned for call_result in calls)
    if len(_numbers(r.response.value for r in calls)) < 2 <= len(_numbers(r.test_call.expected for r in calls)):
        return True
    given = [(arguments(call_result.test_call), call_result.response.value) for call_result in calls]
    for name in given[0][0] if given else ():
        # An argument that is an object of an earlier call is not available here.
        known = [(args.get(name), value) for args, value in given if not isinstance(args.get(name), Kept)]
        if known and all(_same(argument, value) for argument, value in known):
            return True
    return not given


def _numbers(values: Iterable[Any]) -> set[float]:
    """The smallest and the largest number of each array."""
    numbers = (leaf for leaf in leaves(list(values)) if isinstance(leaf, np.ndarray | np.generic | float | int))
    arrays = (array for array in map(np.asarray, numbers) if array.size and array.dtype.kind in "biuf")
    return {float(end) for array in arrays for end in (array.min(), array.max())}


def _same(given: Any, value: Any) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return isinstance(given, np.ndarray) and all(isinstance(p, np.ndarray) and np.array_equal(p, given) for p in parts)


# Side effects and wrong dtypes are named by observation: `<function>.changes_<argument>`, `.float64_result`,
# `.changes_<argument>_later`, `.shares_memory`, `.overwrites_result`, `.remembers`.


def observed(call_results: Sequence[CallResult], explained: bool) -> tuple[Misconception, ...]:
    """The wrong side effects and dtypes of one function, each once; `explained`: the diagnosis covers kept state."""
    every = [(r.test_call.kind == "changes", m) for r in call_results if r.failed for m in seen(r, explained)]
    at_once = {m.changes for is_later, m in every if not is_later}
    first = {m.name: m for is_later, m in reversed(every) if not (is_later and m.changes in at_once)}
    return tuple(first[name] for name in dict.fromkeys(m.name for _, m in every) if name in first)


def seen(call_result: CallResult, explained: bool) -> Iterator[Misconception]:
    """The wrong side effects and dtypes in one call result."""
    yield from _changed(call_result)
    name, floats = _dtypes(call_result)
    if name:
        _, right, read = of_form("float64_result", call_result.target.function)
        does = f"Your result is {name} for {floats} arguments."
        yield _mistake(call_result, f"{name}_result", does, right if name == "float64" else f"{KEEP_DTYPE}.", read)
    if call_result.response.shared:
        does, right = "Your result shares memory with an argument.", "Return a new array, or a copy."
        yield _mistake(call_result, "shares_memory", does, right, COPIES)
    if call_result.kind == "overwritten":
        does = "An array that you returned changed in a later call, or when another result was overwritten."
        yield _mistake(call_result, "overwrites_result", does, "Return a new array in every call.", COPIES)
    if call_result.kind == "unsteady" and not explained:
        does = "The same call returned a different result the second time."
        right = "Keep nothing from one call to the next, and use no random numbers."
        yield _mistake(call_result, "remembers", does, right, KEPT)


def _changed(call_result: CallResult) -> Iterator[Misconception]:
    later, changed = call_result.test_call.kind == "changes", call_result.response.changed
    names = call_result.test_call.names
    for number in dict.fromkeys(change.argument for change in changed):
        name = part(names, number, ()).replace(" ", "_")
        how = in_words(names, (change for change in changed if change.argument == number))
        does = f"{CHANGES.format(name)}: {how}{', which is visible only after the call' if later else ''}."
        mistake = _mistake(call_result, f"changes_{name}" + "_later" * later, does, NO_CHANGES, COPIES)
        yield replace(mistake, changes=name)


def _dtypes(call_result: CallResult) -> tuple[str, str]:
    """The first returned dtype that is not expected, and the expected one, regardless of shape; "" if all are correct."""
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
