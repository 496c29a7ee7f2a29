"""Diagnosis: the fewest misconceptions that reproduce every response of a function.

The candidates are versions of the function with a set of misconceptions, first with correct helpers and then with the helpers as
they were diagnosed. The search is greedy: it tries every misconception alone, then adds one more to the few sets that explain the
most, until a set reproduces everything. It is bounded by counts, never by time, so it gives the same result on every machine.

Candidates explain values, errors and state kept between calls. Changed arguments and wrong dtypes are observed directly
(`observed` in call_results.py).
"""

import hashlib
import pickle
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import Any

import numpy as np

from autograder.grading.call_results import (
    CallResult,
    TestCall,
    alike,
    alike_in_form,
    alike_in_rounding,
    compared,
    explained,
    observed,
    of_function,
    with_needed,
    wrong_alike,
    wrong_in_value,
)
from autograder.grading.plan import Plan
from autograder.grading.runner.processes import Direct
from autograder.grading.thresholds import BEST, LEAST_EVIDENCE, MOST_COMBINATIONS, MOST_TOGETHER, TELLING
from autograder.homework.library import Misconception, Version
from autograder.sandbox.protocol import Response
from autograder.sandbox.wire import Handle
from autograder.shared.tree import leaves

MOST_HELD = 20_000  # cached versions with their responses: about 60 MB
Helpers = tuple[tuple[str, tuple[Misconception, ...]], ...]


class KnownResponses:
    """The responses of every version of one function, with helpers that have certain misconceptions, to the test calls.

    They are computed once for all submissions, when first needed, after the calls whose objects a call takes. A version that
    keeps state between calls makes all calls of the process, in order. Equal responses are one object, which saves memory
    and comparisons.
    """

    def __init__(self, plan: Plan, module: str, function: str, helpers: Mapping[str, tuple[Misconception, ...]]):
        """`helpers` have these misconceptions."""
        homework = plan.homework
        self.homework, self.module, self.function = homework, module, function
        self.misconceptions = tuple(dict.fromkeys(chain(*helpers.values())))
        versions = ((name, homework.version(module, name, misconceptions)) for name, misconceptions in helpers.items())
        self.helpers = {name: version for name, version in versions if version is not None}
        # Whether the helpers keep state between calls, so that each version runs on every call.
        self.keeps = any(helper.memory for helper in self.helpers.values())
        pairs = [
            (t, process)
            for process in (plan.second[module], plan.public[module])
            for t in process
            if t.target.function == function
        ]
        self.test_calls = {test_call.number: test_call for test_call, _ in pairs}
        # The calls of the first process that makes a call, and those of them that the call needs.
        self._process = {test_call.number: process for test_call, process in pairs}
        self._needed = {number: with_needed(self._process[number], [t]) for number, t in self.test_calls.items()}
        self.by_version: dict[tuple[Misconception, ...], dict[int, Response]] = {}
        self._distinct: dict[tuple[int, bytes], Response] = {}
        self._number_alike: dict[tuple[tuple[Misconception, ...], int], int] = {}

    def version(self, misconceptions: tuple[Misconception, ...]) -> Version | None:
        return self.homework.version(self.module, self.function, misconceptions)

    def response(self, version: Version, number: int) -> Response:
        """Return the response of a version to a call."""
        responses = self.by_version.setdefault(version.misconceptions, {})
        if number not in responses:
            process = self._process[number]
            needed: Sequence[TestCall] = self._needed[number]
            if (
                version.memory or self.keeps
            ):  # the order of all calls of the process matters, also through other functions
                needed, functions = process, version.whole_module(self.helpers)
            else:
                functions = {t.target.function: self.homework.functions[t.target.function] for t in needed}
                functions[self.function] = version.fresh(self.helpers)
            with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                answers = Direct(functions).run(t.call for t in needed)
            for test_call, response in zip(needed, answers, strict=True):
                if self._process.get(test_call.number) is process:
                    error = (response.error.kinds, response.error.text) if response.error is not None else None
                    content = pickle.dumps((response.value, response.changed, response.shared, error))
                    key = (test_call.number, hashlib.sha256(content).digest())
                    responses[test_call.number] = self._distinct.setdefault(key, response)
        return responses[number]

    def differ(self, first: Version, second: Version, number: int) -> bool:
        """Whether the responses of two versions to a call differ, in value."""
        responses = self.response(first, number), self.response(second, number)
        return responses[0] is not responses[1] and not alike(self.test_calls[number], *responses)

    def number_alike(self, version: Version, number: int) -> int:
        """Return how many misconceptions alone give a version's response to a call: few if the call is typical of it."""
        key = version.misconceptions, number
        if key not in self._number_alike:
            every = self.homework.of_function(self.module, self.function)
            singles = (self.version((misconception,)) for misconception in every if not misconception.memory)
            self._number_alike[key] = sum(s is not None and not self.differ(version, s, number) for s in singles)
        return self._number_alike[key]


@dataclass(frozen=True)
class Candidate:
    """A version of a function, with certain helpers, compared with the responses of a submission."""

    search: "Search" = field(repr=False, compare=False)
    table: KnownResponses = field(repr=False)
    version: Version

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        return self.version.misconceptions

    @cached_property
    def ids(self) -> frozenset[str]:
        return frozenset(misconception.id for misconception in self.misconceptions)

    @property
    def memory(self) -> bool:
        """Whether it keeps state between calls."""
        return self.version.memory or self.table.keeps

    @cached_property
    def exact(self) -> "Candidate":
        """The candidate without its rounding errors, itself if it has none."""
        exact = tuple(misconception for misconception in self.misconceptions if not misconception.inexact)
        if exact == self.misconceptions:
            return self
        return next(self.search.candidates(self.table, [exact]), self)

    def response(self, call_result: CallResult) -> Response:
        return self.table.response(self.version, call_result.test_call.number)

    def fits(self, call_result: CallResult) -> bool:
        """Whether it gives the same response as the submission in value; rounding errors are compared by size."""
        if self.exact is self:
            return bool(self.search.compared(alike, self, call_result))
        responses = self.exact.response(call_result), self.response(call_result)
        return alike_in_rounding(call_result.test_call, *responses, call_result.response)

    def fits_in_form(self, call_result: CallResult) -> bool:
        return alike_in_form(call_result.test_call, self.response(call_result), call_result.response)

    @cached_property
    def is_complete(self) -> bool:
        """Whether it reproduces every response."""
        return all(map(self.fits, self.search.call_results)) and self._shows_beside_rounding

    @property
    def _shows_beside_rounding(self) -> bool:
        """Whether most values changed by its exact misconceptions are wrong in the same way in the submission."""
        if self.exact is self or not self.exact.misconceptions:
            return True
        correct = next(self.search.candidates(self.table, [()]))
        verdicts = [
            wrong_alike(correct.response(r).value, self.exact.response(r).value, r.response.value, r.test_call.allowed)
            for r in self.search.call_results
        ]
        return verdicts.count(True) > verdicts.count(False)

    @cached_property
    def is_formal(self) -> bool:
        """Whether it also reproduces side effects and dtypes."""
        return self.is_complete and all(map(self.fits_in_form, self.search.call_results))

    @property
    def criteria(self) -> frozenset[str]:
        """The criteria on values that it reproduces; none if it reproduces no failing one."""
        graded = [r for r in self.search.call_results if r.test_call.criterion in self.search.on_values]
        failing = {r.test_call.criterion for r in graded if wrong_in_value(r)}
        missed = {r.test_call.criterion for r in graded if not self.fits(r)}
        return (
            frozenset() if failing and failing <= missed else frozenset(r.test_call.criterion for r in graded) - missed
        )

    @property
    def is_guess(self) -> bool:
        """Whether all failing calls raise errors, and a wrong helper raises them too or their reasons differ."""
        failing = self.search.failing
        if not failing or any(r.error is None or r.test_call.rules.error for r in failing):
            return False
        if self.table.misconceptions and self.misconceptions:
            return True
        if len(failing) >= LEAST_EVIDENCE and not all(call_result.failed for call_result in self.search.call_results):
            return False
        return not all(for_one_reason(self.response(call_result), call_result.response) for call_result in failing)

    @property
    def fits_in_changes(self) -> bool:
        """Whether it changes the same arguments as the submission, in every call that checks them."""
        results = self.search.call_results
        return all(set(self.response(r).changed) == set(r.response.changed) for r in results)

    @property
    def changes_unseen(self) -> bool:
        """Whether it changes an argument although no call showed a change."""
        changed = any(call_result.response.changed for call_result in self.search.call_results)
        return not changed and any(misconception.changes for misconception in self.misconceptions)

    @property
    def is_evident(self) -> bool:
        """Whether it reproduces all passing calls and errors, and several failing calls with floats.

        Equal booleans are weak evidence. The mistake that causes an error may also cause the other failures.
        """
        calls = [r for r in self.search.failing if r.returned]
        floats = (r for r in calls if any(np.asarray(leaf).dtype.kind == "f" for leaf in leaves(r.response.value)))
        rest = (r for r in supported(self.search.call_results) if not r.failed or not r.returned)
        return sum(map(self.fits, floats)) >= LEAST_EVIDENCE and all(map(self.fits, rest))

    def shows(self, misconceptions: Iterable[Misconception], call_result: CallResult) -> bool:
        """Whether the response to a call would be different without one of these misconceptions."""
        table, number = self.table, call_result.test_call.number
        if number not in table.test_calls:
            return False
        versions = (table.version(tuple(m for m in self.misconceptions if m.id != one.id)) for one in misconceptions)
        return any(version is not None and table.differ(self.version, version, number) for version in versions)

    def number_alike(self, call_result: CallResult) -> int:
        """Return how many misconceptions alone give the response of this version to a call."""
        return self.table.number_alike(self.version, call_result.test_call.number)


def for_one_reason(first: Response, second: Response) -> bool:
    """Whether two errors mention the same numbers, such as shapes, or have equal texts if there are no numbers."""
    texts = [response.error.text for response in (first, second) if response.error is not None]
    reasons = [sorted(re.findall(r"\d+", text) or text.split()) for text in texts]
    return len(reasons) == 2 and reasons[0] == reasons[1]


@dataclass(frozen=True)
class Diagnosis:
    """Why a function fails.

    `misconceptions` are its own mistakes, `sure` those with enough evidence, and `helpers` those of the functions that it
    calls. They reproduce every response in value (`complete`), side effects and dtypes too (`formal`), or at least the
    responses of `criteria`. `memory`: they explain results that depend on earlier calls. `chosen` is the version with these
    misconceptions; `rivals` reproduce as much. `observed` are side effects and dtypes that none of these explain. `empty`:
    the function computes nothing. `repaired`: the mistake is known only by a single edit of the source that fixes every call, or by
    a property of the arguments that separates the failing calls. `related` are criteria whose relation holds, although nothing
    explains the function.
    """

    misconceptions: tuple[Misconception, ...] = ()
    sure: tuple[Misconception, ...] = ()
    helpers: tuple[Misconception, ...] = ()
    complete: bool = False
    formal: bool = False
    criteria: frozenset[str] = frozenset()
    memory: bool = False
    chosen: Candidate | None = None
    rivals: tuple[Candidate, ...] = ()
    observed: tuple[Misconception, ...] = ()
    empty: bool = False
    repaired: bool = False
    related: frozenset[str] = frozenset()

    @classmethod
    def of(cls, chosen: Candidate, *rivals: Candidate, empty: bool = False) -> "Diagnosis":
        return cls(
            chosen.misconceptions,
            sure=() if chosen.is_guess or chosen.changes_unseen else chosen.misconceptions,
            helpers=chosen.table.misconceptions,
            complete=chosen.is_complete,
            formal=chosen.is_formal,
            criteria=chosen.criteria,
            memory=chosen.memory,
            chosen=chosen,
            rivals=rivals,
            empty=empty,
        )

    @property
    def named(self) -> tuple[Misconception, ...]:
        """The misconceptions to name: those in every set that explains everything, and the observed ones."""
        return tuple(m for m in self.sure if all(m.id in rival.ids for rival in self.rivals)) + self.observed

    @property
    def undecided(self) -> tuple[Misconception, ...]:
        """Misconceptions that have the same results on every call, so that none of them is named."""
        ids = {misconception.id for misconception in self.misconceptions}
        rival_sets = [rival.misconceptions for rival in self.rivals if not ids <= rival.ids]
        by_id = {m.id: m for chosen in (self.misconceptions, *rival_sets) for m in chosen} if rival_sets else {}
        named = {misconception.id for misconception in self.named}
        return tuple(m for m in by_id.values() if m.id not in named)


@dataclass(frozen=True)
class Analysis:
    """The results of a module's calls, and what is known about its functions.

    `helped`: for each function that ran again with correct helpers, the replaced helpers and its earlier failures.
    """

    module: str
    call_results: tuple[CallResult, ...]
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    helped: dict[str, tuple[tuple[str, ...], tuple[CallResult, ...]]] = field(default_factory=dict)

    def of(self, function: str) -> list[CallResult]:
        return of_function(self.call_results, function)

    @cached_property
    def failing_calls(self) -> frozenset[TestCall]:
        return frozenset(call_result.test_call for call_result in self.call_results if call_result.failed)

    @cached_property
    def failing_functions(self) -> frozenset[str]:
        return frozenset(test_call.target.function for test_call in self.failing_calls)

    @cached_property
    def by_criterion(self) -> Mapping[str, Sequence[CallResult]]:
        groups = defaultdict[str, list[CallResult]](list)
        for call_result in self.call_results:
            groups[call_result.test_call.criterion].append(call_result)
        return groups

    def helpers(self, function: str) -> tuple[str, ...]:
        """Return the helpers that were replaced when the function ran."""
        return self.helped.get(function, ((), ()))[0]


class Diagnoser:
    """Diagnoses submissions. Responses of known versions are cached for later submissions."""

    def __init__(self, plan: Plan):
        self.plan, self.homework, self.rubric = plan, plan.homework, plan.rubric
        self._tables: dict[tuple[str, str, Helpers], KnownResponses] = {}  # least recently used first

    def known_responses(self, module: str, function: str, helpers: Helpers = ()) -> KnownResponses:
        """Return the responses of a function's known versions, with helpers that have these misconceptions."""
        key = (module, function, helpers)
        table = self._tables.pop(key, None)
        self._tables[key] = table or KnownResponses(self.plan, module, function, dict(helpers))
        return self._tables[key]

    def forget(self) -> None:
        """Drop the least recently used responses, so that memory does not grow with the class."""
        held = sum(len(table.by_version) for table in self._tables.values())
        while held > MOST_HELD:
            held -= len(self._tables.pop(next(iter(self._tables))).by_version)

    def explain(self, module: str, call_results: Iterable[CallResult]) -> dict[str, Diagnosis]:
        """Explain every function of a module that has a failing call, in the order of the rubric, from these results only."""
        analysis = Analysis(module, tuple(call_results))
        for function in self.rubric.modules[module].functions:
            analysis = self.diagnosed(analysis, function)
        return analysis.diagnoses

    def diagnosed(self, analysis: Analysis, function: str) -> Analysis:
        """Diagnose a function if it has a failing call, with its helpers as they were diagnosed unless they were replaced."""
        diagnoses = {name: diagnosis for name, diagnosis in analysis.diagnoses.items() if name != function}
        if function not in analysis.failing_functions:
            return replace(analysis, diagnoses=diagnoses) if function in analysis.diagnoses else analysis
        results = analysis.of(function)
        failing = [call_result for call_result in results if wrong_in_value(call_result)]
        empty = bool(failing) and computes_nothing(results)
        diagnosis = Diagnosis(empty=empty)
        below = self.rubric.helpers(analysis.module, (function,)) if function not in analysis.helped else ()
        helpers = {name: diagnoses[name] for name in below if name in diagnoses}
        unanswered = bool(failing) and all(r.response.ended is not None or r.is_absent for r in failing)
        # With an unexplained helper, the function runs again with a correct one; a match now would be coincidence.
        if not unanswered and all(helper.complete and not helper.repaired for helper in helpers.values()):
            search = Search(self, results, helpers)
            # A function with wrong helpers runs again with correct ones, so larger sets wait for that.
            largest = 1 if empty else 2 if helpers else MOST_TOGETHER
            best = search.complete(largest) if failing else search.formal()
            if failing and not best and not empty:
                best = self._beside_unknown(search, results)
            diagnosis = Diagnosis.of(*best, empty=empty) if best else Diagnosis(complete=not failing, empty=empty)
        fitting = diagnosis.chosen if diagnosis.complete else None
        strange = [call_result for call_result in results if fitting is None or not fitting.fits_in_form(call_result)]
        named = {misconception.id for misconception in diagnosis.named}
        unnamed = tuple(m for m in observed(strange, diagnosis.memory) if m.id not in named)
        return replace(analysis, diagnoses=diagnoses | {function: replace(diagnosis, observed=unnamed)})

    def _beside_unknown(self, search: "Search", results: Sequence[CallResult]) -> tuple[Candidate, ...]:
        """Misconceptions that reproduce all calls whose numbers of dimensions the function supports.

        Else those that reproduce everything if one part of each result is correct, or each whole result where one is due.
        They are proven by the other parts, and by the calls that must raise an error.
        """
        usable = supported(results)
        every = [usable] if len(usable) < len(results) else []
        parts = (*range(max(len(r.test_call.parts) for r in results)), None)
        for corrected in (*every, *([_corrected(call_result, number) for call_result in results] for number in parts)):
            failing = [call_result for call_result in corrected if wrong_in_value(call_result)]
            if len(failing) < LEAST_EVIDENCE and not any(r.test_call.rules.error for r in failing):
                continue
            if matches := Search(self, corrected).complete(MOST_TOGETHER):
                candidates = tuple(next(search.candidates(search.tables[0], [c.misconceptions])) for c in matches)
                lost = {r.test_call.criterion for r in results if r.failed}
                costs = {name for candidate in candidates for m in candidate.misconceptions for name in m.criteria}
                return candidates if not any(c.criteria & lost - costs for c in candidates) else ()
        return ()

    def evident(self, call_results: Sequence[CallResult]) -> list[Candidate]:
        """Single misconceptions that reproduce some failing calls of a function and every passing one, best first."""
        search = Search(self, call_results)
        exact = [(m,) for m in search.misconceptions if not m.inexact and not m.memory]
        passing = [call_result for call_result in call_results if not call_result.failed]
        failing = [r for r in call_results if wrong_in_value(r) and r.error is None]
        # An unchanged argument shows no misconception.
        failing = [r for r in failing if not any(_same(a, r.response.value) for a in r.test_call.args)]
        candidates = (c for c in search.candidates(search.tables[0], exact) if all(map(c.fits, passing)))
        ranked = [(sum(map(c.fits, failing)), c) for c in candidates]
        return [c for calls, c in sorted(ranked, key=lambda pair: -pair[0]) if calls >= LEAST_EVIDENCE]


class Search:
    """The search for the function of these call results, whose `helpers` are wrong as diagnosed."""

    def __init__(
        self, diagnoser: Diagnoser, call_results: Sequence[CallResult], helpers: Mapping[str, Diagnosis] | None = None
    ):
        module, function = call_results[0].target
        self.rubric, self.misconceptions = diagnoser.rubric, diagnoser.homework.of_function(module, function)
        self.on_values = {c.id for c in self.rubric.of(module) if c.looks_at == "values"}
        # Failing calls distinguish versions; passing ones seldom do.
        self.call_results = sorted(call_results, key=lambda call_result: not call_result.failed)
        self.failing = [r for r in self.call_results if wrong_in_value(r)]
        # The responses with correct helpers, with the submission's, and with their rivals, which may differ in these calls.
        sure = {name: helper for name, helper in (helpers or {}).items() if helper.sure}
        diagnosed = {name: helper.sure for name, helper in sure.items()}
        rivals = [diagnosed | {n: r.misconceptions} for n in sure for r in sure[n].rivals if r.misconceptions]
        sets = [{}, diagnosed, *rivals] if diagnosed else [{}]
        self.tables = [diagnoser.known_responses(module, function, tuple(of_each.items())) for of_each in sets]
        self._compared: dict[tuple[Any, ...], float] = {}

    def complete(self, largest: int) -> tuple[Candidate, ...]:
        """Return the smallest sets that reproduce everything; the one that costs the fewest points comes first."""
        for candidates in self._generations(largest):
            # Calls that would have shown a changed argument, and did not, rule a candidate out.
            if fitting := [c for c in candidates if c.is_complete and (c.fits_in_changes or not c.changes_unseen)]:
                best = [candidate for candidate in fitting if candidate.is_formal] or fitting
                lost = [{name for m in candidate.misconceptions for name in m.criteria} for candidate in best]
                points = [sum(self.rubric.criteria[name].points for name in names) for names in lost]
                cheapest = best[points.index(min(points))]
                return (cheapest, *(candidate for candidate in best if candidate is not cheapest))
        return ()

    def formal(self) -> tuple[Candidate, ...]:
        """Return the single misconception, or the helpers' misconceptions, that reproduce side effects and dtypes."""
        for candidates in self._generations(1):
            fitting = [candidate for candidate in candidates if candidate.is_formal]
            if fitting and all(candidate.ids == fitting[0].ids for candidate in fitting):
                return (fitting[0],)
        return ()

    def candidates(self, table: KnownResponses, sets: Iterable[tuple[Misconception, ...]]) -> Iterator[Candidate]:
        """Yield the versions with these sets of misconceptions, without those that cannot be combined."""
        versions = map(table.version, sets)
        return (Candidate(self, table, version) for version in versions if version is not None)

    def compared(self, how: Callable[..., float], candidate: Candidate, call_result: CallResult) -> float:
        """Compare a candidate's response with the submission's by `how`, once for equal responses of many versions."""
        response = candidate.response(call_result)
        key = (how, call_result.test_call.number, id(response))
        if key not in self._compared:
            self._compared[key] = how(call_result.test_call, response, call_result.response)
        return self._compared[key]

    def _generations(self, largest: int) -> Iterator[list[Candidate]]:
        """Yield sets of growing size: empty, each misconception alone, then the best sets so far with one more."""
        for table in self.tables:
            if table.misconceptions:
                yield list(self.candidates(table, [()]))
        grown: dict[KnownResponses, list[Candidate]] = {}
        for table in self.tables[:2]:
            grown[table] = list(self.candidates(table, ((misconception,) for misconception in self.misconceptions)))
            yield grown[table]
        order = {misconception: number for number, misconception in enumerate(self.misconceptions)}
        budget = MOST_COMBINATIONS
        for size in range(2, largest + 1):
            for table in grown:
                # A version that keeps state between calls runs on all calls of the module, which takes long.
                best = [] if table.keeps else self._best(grown[table])[: BEST // (size - 1)]
                sets = dict.fromkeys(
                    tuple(sorted((*candidate.misconceptions, misconception), key=order.__getitem__))
                    for candidate in best
                    for misconception in self.misconceptions
                    if misconception.id not in candidate.ids
                )
                grown[table] = list(islice(self.candidates(table, sets), budget))
                budget -= len(grown[table])
                yield grown[table]

    def _best(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """One of the variants of each set, the sets that explain the most first; only the first may keep state."""
        calls = shortest(self.failing)
        ranked = sorted(candidates, key=lambda c: -sum(self.compared(explained, c, r) for r in calls))
        best: dict[frozenset[str], Candidate] = {}
        for candidate in ranked:
            if not best or not candidate.version.memory:
                best.setdefault(candidate.ids, candidate)
        return list(best.values())


def supported(call_results: Iterable[CallResult]) -> list[CallResult]:
    """Return the results without those of numbers of dimensions for which every call fails and some raise an error."""
    by_dims: dict[tuple[int, ...], list[CallResult]] = {}
    for call_result in call_results:
        values = (*call_result.test_call.args, *call_result.test_call.kwargs.values())
        by_dims.setdefault(tuple(getattr(value, "ndim", 0) for value in values), []).append(call_result)
    groups = by_dims.values()
    return [r for group in groups if not all(r.failed for r in group) or not any(r.error for r in group) for r in group]


def _corrected(call_result: CallResult, number: int | None) -> CallResult:
    """Return the result with the expected value in place of one part, or of a whole value; errors that are due stay as they are."""
    test_call, value = call_result.test_call, call_result.response.value
    if not wrong_in_value(call_result) or test_call.kind != "call" or test_call.rules.error:
        return call_result
    if number is None:
        return compared([test_call], [Response(value=test_call.expected)])[0]
    if not isinstance(value, tuple | list) or len(value) != len(test_call.parts):
        return call_result
    parts = (*value[:number], test_call.expected[number], *value[number + 1 :])
    return compared([test_call], [replace(call_result.response, value=parts)])[0]


def shortest(failing: Iterable[CallResult]) -> list[CallResult]:
    """Return a few of these calls: the shortest of each criterion, then the next shortest."""
    by_criterion: dict[str, list[CallResult]] = {}
    for call_result in sorted(failing, key=lambda r: len(r.test_call.call.payload)):
        by_criterion.setdefault(call_result.test_call.criterion, []).append(call_result)
    return list(filter(None, chain.from_iterable(zip_longest(*by_criterion.values()))))[:TELLING]


def computes_nothing(call_results: Iterable[CallResult]) -> bool:
    """Whether a function returns one constant or an unchanged argument on every call, or always raises an error."""
    calls = [r for r in call_results if r.test_call.kind == "call" and not r.test_call.rules.error]
    calls = [call_result for call_result in calls if call_result.response.ended is None]
    if not all(call_result.returned for call_result in calls):
        return not any(call_result.returned for call_result in calls)
    if len(_numbers(r.response.value for r in calls)) < 2 <= len(_numbers(r.test_call.expected for r in calls)):
        return True
    pairs = [(call_result.test_call.arguments, call_result.response.value) for call_result in calls]
    for name in pairs[0][0] if pairs else ():
        # An argument that is an object of an earlier call is not available here.
        comparable = [(args.get(name), value) for args, value in pairs if not isinstance(args.get(name), Handle)]
        if comparable and all(_same(argument, value) for argument, value in comparable):
            return True
    return not pairs


def _numbers(values: Iterable[Any]) -> set[float]:
    """Return the smallest and the largest number of each array."""
    numbers = (leaf for leaf in leaves(list(values)) if isinstance(leaf, np.ndarray | np.generic | float | int))
    arrays = (array for array in map(np.asarray, numbers) if array.size and array.dtype.kind in "biuf")
    return {float(end) for array in arrays for end in (array.min(), array.max())}


def _same(argument: Any, value: Any) -> bool:
    parts = value if isinstance(value, tuple | list) else (value,)
    return isinstance(argument, np.ndarray) and all(
        isinstance(p, np.ndarray) and np.array_equal(p, argument) for p in parts
    )
