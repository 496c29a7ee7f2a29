"""Steps 3 and 4 of grading: explain the failing calls of one function, with as few mistakes as possible.

Step 3 runs a function again with correct helpers, and repeats its pure calls. Step 4 is single-edit repair: the smallest edits
of the student's source that fix a function show that the failure is one mistake, and locate it. Edits are generated from the
source alone (shared/edits.py), in a process of the submission that receives the code for it (edit_runner.py). The grader
compares their results: first on a few failing calls, then on all others, and finally on every call, side effects included, in
a process that has seen no other edit. If no edit helps, a simple property of the arguments may separate the failing calls from
the passing ones; new calls like the public ones must confirm it. If nothing explains a function, criteria whose tests state a
relation are judged by it. The search is bounded by counts, so it ends the same way on
every machine. A time limit applies only after half of the submission's time.
"""

import ast
import contextlib
import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from autograder.grading.call_results import (
    CallResult,
    Target,
    TestCall,
    alike,
    compared,
    of_function,
    repeats,
    with_needed,
    wrong_in_value,
)
from autograder.grading.diagnosis import Analysis, Candidate, Diagnoser, Diagnosis, shortest
from autograder.grading.examples import with_arguments
from autograder.grading.runner.edit_runner import Edit, Edited, Edits, extension
from autograder.grading.runner.processes import Run, Runner
from autograder.grading.thresholds import FEW, MOST_ENDLESS, MOST_SPENT, MOST_SURVIVORS
from autograder.homework import other_arguments
from autograder.homework.library import Misconception
from autograder.homework.other_arguments import FROM_THE_END, is_telling, properties
from autograder.sandbox.process import SPENT
from autograder.sandbox.wire import Handle
from autograder.shared.compare import Failure, compare, equal
from autograder.shared.edits import Text, line_names, units
from autograder.shared.source import UNREADABLE, parsed
from autograder.shared.tree import arrays, copied, leaves, mapped
from autograder.submissions.text import listed

TOGETHER = 50  # edits per message
PARTLY = "partly_right"  # the name of a mistake that a property of the arguments separates
# An edit: (whether it is on a line of no earlier repair, its size), its number, its line.
Row = tuple[tuple[bool, int], int, int]


class Repair(NamedTuple):
    """An edit that fixes a function, and the lines of each of the smallest such edits.

    `is_shown`: these are few, or `sentence` names the slip that the edit corrects. A slip raises, so it can hide side effects
    and dtypes; the calls of `criteria` show them after the edit.
    """

    edited: str
    edit: int
    is_slip: bool
    places: tuple[tuple[int, ...], ...] = ()
    criteria: frozenset[str] = frozenset()
    is_shown: bool = False
    sentence: str = ""


class Explainer:
    """Explains the functions of one submission, in the order of the rubric. It computes no points."""

    def __init__(self, runner: Runner, diagnoser: Diagnoser):
        self.runner, self.rubric, self.diagnoser = runner, runner.rubric, diagnoser
        self.endless = 0
        self.repairs: dict[str, list[Repair]] = defaultdict(list)  # by module
        self.tried: dict[Target, list[CallResult]] = {}  # new calls like the public ones

    def explained(self, analysis: Analysis, function: str) -> Analysis:
        """Return the analysis of a module with more known about one function, if it fails."""
        for step in (self.with_correct_helpers, self.with_kept_state, self.repaired, self.related):
            if diagnosis := analysis.diagnoses.get(function):
                analysis = step(analysis, function, diagnosis)
        return analysis

    def with_correct_helpers(self, analysis: Analysis, function: str, diagnosis: Diagnosis) -> Analysis:
        """Run an unexplained function again with the reference in place of its wrong helpers.

        The new results count if fewer calls fail, or if as many fail and fewer end the process.
        """
        below = self.rubric.helpers(analysis.module, (function,))
        helpers = tuple(name for name in below if name in analysis.failing_functions)
        lost = self._lost(analysis, function)
        if not helpers or not lost:
            return analysis
        on_values = {name for name in lost if self.rubric.criteria[name].looks_at == "values"}
        is_excused = not diagnosis.empty and not diagnosis.misconceptions and on_values <= diagnosis.criteria
        if is_excused and self.rubric.charge == "mistakes":
            return analysis  # the mistakes of its helpers explain everything
        earlier = analysis.of(function)
        responses = self.runner.with_helpers(analysis.module, helpers, _needed(analysis, earlier))
        # An end of the process counts for calls that failed before.
        answered = of_function(compared(responses, responses.values()), function)
        passing = {call_result.test_call for call_result in earlier if not call_result.failed}
        repeated = {r.test_call: r for r in answered if r.response.ended is None or r.test_call not in passing}
        if _badness(repeated.values()) > _badness(r for r in earlier if r.test_call in repeated):
            return analysis
        before = tuple(call_result for call_result in earlier if call_result.failed)
        is_changed = any(not alike(r.test_call, r.response, repeated[r.test_call].response) for r in before)
        call_results = tuple(repeated.get(call_result.test_call, call_result) for call_result in analysis.call_results)
        helped = analysis.helped | {function: (helpers, before if is_changed else ())}
        return self.diagnoser.diagnosed(replace(analysis, call_results=call_results, helped=helped), function)

    def with_kept_state(self, analysis: Analysis, function: str, diagnosis: Diagnosis) -> Analysis:
        """Repeat the pure calls of an unexplained function in a new process; a different response shows kept state."""
        pure = [r for r in analysis.of(function) if r.test_call.rules.repeats]
        # The diagnosis compares no values of a wrong type, which may depend on earlier calls.
        is_explained = diagnosis.complete and all(call_result.kind != "type" for call_result in pure)
        if is_explained or diagnosis.memory or diagnosis.empty:
            return analysis
        repeated = self.runner.with_helpers(analysis.module, analysis.helpers(function), _needed(analysis, pure))
        call_results = tuple(
            r if repeats(r.response, repeated.get(r.test_call)) else replace(r, failure=Failure("unsteady"))
            for r in analysis.call_results
        )
        return replace(analysis, call_results=call_results)

    def repaired(self, analysis: Analysis, function: str, diagnosis: Diagnosis) -> Analysis:
        """Explain a function by a single edit, by a misconception next to an unknown mistake, or by a property of its arguments.

        An edit of private code that also fixes an earlier function shows that both have one mistake, whatever it is called.
        """
        if not self._lost(analysis, function):
            return analysis
        is_settled = diagnosis.complete and diagnosis.sure == diagnosis.misconceptions
        groups = {misconception.criteria for misconception in diagnosis.misconceptions}
        is_named = is_settled and (len(diagnosis.misconceptions) < 2 or len(groups) > 1)
        shared = self._shared_lines(analysis, function)
        if is_named and not shared:
            return analysis
        cause: Diagnosis | None = None
        if repair := self.search(analysis, function, set().union(*shared.values()) if is_named else None):
            earlier = next((name for name in shared if self._fixed(analysis, name, repair)), "")
            if earlier and not analysis.diagnoses[earlier].repaired:
                cause = Diagnosis(helpers=analysis.diagnoses[earlier].named, formal=True)
            elif earlier or not is_named:
                where = " or of ".join(map(line_names, repair.places))
                passes = f"makes every call of `{function}` pass."
                if repair.criteria:
                    passes = f"corrects the values of `{function}`; a dtype or a side effect stays wrong."
                does = f"{repair.sentence} An edit of {where} {passes}".strip() if repair.is_shown else ""
                name, identity = f"repair ({line_names(repair.places[0])})", str(repair[:2])
                sure = (self._misconception(analysis, function, name, does, identity=identity, more=repair.criteria),)
                cause = Diagnosis(sure, sure, formal=True, memory=True, repaired=True)
        elif not is_settled and not diagnosis.empty:
            if partial := self._partial(analysis, function):
                return replace(analysis, diagnoses=analysis.diagnoses | {function: partial})
            cause = self._separated(analysis, function)
        return analysis if cause is None else self._with_cause(analysis, function, cause)

    def _with_cause(self, analysis: Analysis, function: str, cause: Diagnosis) -> Analysis:
        """Return the analysis with a diagnosis that explains every criterion of a function."""
        every = frozenset(criterion.id for criterion in self.rubric.of(analysis.module))
        diagnosis = replace(cause, complete=True, criteria=every)
        return replace(analysis, diagnoses=analysis.diagnoses | {function: diagnosis})

    def _shared_lines(self, analysis: Analysis, function: str) -> dict[str, set[int]]:
        """Return the lines of private code that a function shares with wrong functions before it, by these functions."""
        contract = self.rubric.modules[analysis.module].functions
        failing = [name for name in analysis.diagnoses if name != function and self._lost(analysis, name)]
        tree = parsed(self.runner.submission.files[f"{analysis.module}.py"]) if failing else None
        if tree is None:
            return {}
        code = {name: {*units(tree, name, {*contract} - {name})} for name in (function, *failing)}
        private = [
            u for u in code[function] if isinstance(u, ast.FunctionDef | ast.ClassDef) and u.name not in contract
        ]
        lines = {u: range(u.lineno, (u.end_lineno or 0) + 1) for u in private}
        shared = {name: {i for u in private if u in code[name] for i in lines[u]} for name in failing}
        return {name: numbers for name, numbers in shared.items() if numbers}

    def _lost(self, analysis: Analysis, function: str) -> set[str]:
        """Return the criteria, other than worked examples, of failing calls that are wrong in more than side effects and dtype."""
        results = [r for r in analysis.of(function) if r.failed]
        if all(call_result.is_absent for call_result in results):
            return set()
        in_form = {call_result.test_call.criterion for call_result in results if not wrong_in_value(call_result)}
        failing = {call_result.test_call.criterion for call_result in results} - in_form - {""}
        return {name for name in failing if self.rubric.criteria[name].looks_at != "examples"}

    def _misconception(
        self, analysis: Analysis, function: str, name: str, *sentences: str, identity: str, more: Iterable[str] = ()
    ) -> Misconception:
        """Return a mistake that costs the criterion of a call that shows kept state, else the first one, on values if possible.

        It also costs `more` criteria.
        """
        results = [r for r in analysis.of(function) if r.failed]
        kept_state = {call_result.test_call.criterion for call_result in results if call_result.kind == "unsteady"}
        in_value = {call_result.test_call.criterion for call_result in results if wrong_in_value(call_result)}
        failing = {call_result.test_call.criterion for call_result in results}
        criteria = [c for c in self.rubric.of(analysis.module) if c.id in failing and c.looks_at != "examples"]
        on_values = [c for c in criteria if c.id in in_value and c.looks_at == "values"]
        by_rank = [c.id for c in (*(c for c in criteria if c.id in kept_state), *on_values, *criteria)]
        home = next(iter(by_rank), "")  # public examples have no criterion
        does, fix = (*sentences, "")[:2]
        read = f"the docstring of `{function}` in `{analysis.module}.py`"
        costs = tuple(dict.fromkeys((home, *sorted(more))))
        return Misconception(analysis.module, function, name, costs, does, fix, read, twice=identity)

    # A misconception next to an unknown mistake

    def _partial(self, analysis: Analysis, function: str) -> Diagnosis | None:
        """Return a misconception beside an unknown mistake: an edit of the rest leaves only its results, or several calls show it.

        One that only calls show must not excuse a lost criterion.
        """
        results = analysis.of(function)
        evident = self.diagnoser.evident(results)
        confirmed = [candidate for candidate in evident[:1] if self._leaves(candidate, analysis, function)]
        reported = confirmed or ([] if analysis.diagnoses[function].chosen else [c for c in evident if c.is_evident])
        if len({candidate.ids for candidate in reported}) != 1:
            return None
        lost = {r.test_call.criterion for r in results if r.failed}
        costs = {name for misconception in reported[0].misconceptions for name in misconception.criteria}
        excused = set() if confirmed else reported[0].criteria & lost - costs
        return Diagnosis.of(reported[0]) if costs <= lost and not excused else None

    def _leaves(self, candidate: Candidate, analysis: Analysis, function: str) -> bool:
        """Whether an edit makes the function respond like the misconceptions of a candidate."""
        altered = []
        for call_result in analysis.call_results:
            test_call = call_result.test_call
            if test_call.target.function == function and test_call.kind == "call":
                prediction = candidate.response(call_result)
                error = prediction.error.kind if prediction.error is not None else ""
                if test_call.parts and not error and not isinstance(prediction.value, tuple):
                    return False
                test_call = replace(test_call, expected=prediction.value, rules=replace(test_call.rules, error=error))
            altered.append(test_call)
        call_results = compared(altered, [call_result.response for call_result in analysis.call_results])
        return self.search(replace(analysis, call_results=tuple(call_results)), function) is not None

    # A property of the arguments that separates failing calls from passing ones

    def seen_in_public(self, visible: Analysis, every: Analysis, function: str) -> Analysis:
        """Explain a function from its public calls alone by a property, if one separates all calls."""
        diagnosis, in_public = every.diagnoses.get(function), visible.diagnoses.get(function)
        is_separated = diagnosis is not None and any(m.name == PARTLY for m in diagnosis.misconceptions)
        if not is_separated or in_public is None or in_public.complete:
            return visible
        cause = self._separated(visible, function)
        return visible if cause is None else self._with_cause(visible, function, cause)

    def _separated(self, analysis: Analysis, function: str) -> Diagnosis | None:
        """Return the property that separates all failing calls from all passing ones, also in new calls like the public ones."""
        calls = [r for r in analysis.of(function) if not r.failed or wrong_in_value(r)]
        plain = [r for r in calls if r.test_call.kind == "call" and not r.test_call.rules.error]
        if any(r.failed and (r not in plain or r.response.ended or r.is_absent or r.kind == "unsteady") for r in calls):
            return None
        by_number = {r.test_call.number: r.test_call for r in analysis.call_results}
        plain = [replace(r, test_call=_with_objects(r.test_call, by_number)) if r.test_call.needs else r for r in plain]
        if not _separating(plain) or any(map(callable, plain[0].test_call.arguments.values())):
            return None
        target = Target(analysis.module, function)
        if target not in self.tried:
            new = self._like_public(plain)
            with self.runner.apart(analysis.module, analysis.helpers(function)) as run:
                responses = run(new)
            self.tried[target] = compared(new[: len(responses)], responses)
        separating = _separating(self.tried[target])
        causes = []
        for (text, advice), (passing, _) in _separating([*plain, *self.tried[target]]).items():
            if (text, advice) in separating:
                failing = separating[text, advice][1]
                with_each = (text.format(listed(sorted(words), "or")) for words in (passing, failing))
                does = "Your code gives the correct values in every call tried with {}, but not with {}.".format(
                    *with_each
                )
                identity = "" if advice == FROM_THE_END else f"{function}: {does}"
                causes.append(self._misconception(analysis, function, PARTLY, does, advice, identity=identity))
        named = {m.same for d in analysis.diagnoses.values() for m in d.misconceptions}
        cause = next((cause for cause in causes if cause.same in named), next(iter(causes), None))
        return Diagnosis((cause,), (cause,), repaired=True) if cause is not None else None

    def _like_public(self, call_results: Sequence[CallResult]) -> list[TestCall]:
        """Return new calls like the public ones among these, with arguments of numbers of dimensions that occur in them."""
        argument_sets = [call_result.test_call.arguments for call_result in call_results]
        names = dict.fromkeys(name for arguments in argument_sets for name in arguments)
        dims = {name: [getattr(arguments.get(name), "ndim", 0) for arguments in argument_sets] for name in names}
        together = [name for name, counts in dims.items() if counts == next(iter(dims.values()))]
        public = self.runner.plan.public[call_results[0].target.module]
        new = {
            like.call.payload: like
            for test_call in (r.test_call for r in call_results if r.test_call in public)
            for changed in other_arguments.variants(test_call.reference, test_call.arguments, together)
            if all(getattr(value, "ndim", 0) in dims.get(name, (0,)) for name, value in changed.items())
            for like in with_arguments(test_call, changed)
            if is_telling(like.expected)
        }
        return [*new.values()]

    # Relations between the results of a function

    def related(self, analysis: Analysis, function: str, diagnosis: Diagnosis) -> Analysis:
        """Excuse the criteria of an unexplained function whose relation (`check.related`) holds in all of their calls.

        At least one criterion on values stays lost.
        """
        if diagnosis.complete or diagnosis.empty or self.runner.spent() >= MOST_SPENT:
            return analysis
        lost = {n for n in self._lost(analysis, function) if self.rubric.criteria[n].looks_at == "values"}
        calls = {name: [r for r in analysis.of(function) if r.test_call.criterion == name] for name in lost}
        with self.runner.apart(analysis.module, analysis.helpers(function)) as run:
            holding = frozenset(name for name in lost if all(relation_holds(run, r) for r in calls[name]))
        related = replace(diagnosis, related=holding if holding < lost else frozenset())
        return replace(analysis, diagnoses=analysis.diagnoses | {function: related})

    # The search for edits

    def search(self, analysis: Analysis, function: str, within: set[int] | None = None) -> Repair | None:
        """Return the smallest edits, of some lines, that fix every call of a function; None if there are none."""
        alone = [  # the calls that can be made alone
            r
            for r in analysis.of(function)
            if r.test_call.kind == "call" and not r.test_call.needs and not r.test_call.rules.repeats
        ]
        first = [r.test_call for r in shortest(r for r in alone if r.failed)]
        rest = [r.test_call for r in alone if r.test_call not in first]
        budget = self.runner.edits
        if not first or not budget:
            return None
        self.endless = 0
        module, earlier = analysis.module, self.repairs[analysis.module]
        for repair in earlier:  # one edit of shared code may fix both functions
            if fixed := self._fixed(analysis, function, repair):
                return repair._replace(criteria=fixed.criteria)

        earlier_lines = {line for repair in earlier for lines in repair.places for line in lines}  # tried first
        request = Edits(module, self._scope(module, function), sorted(earlier_lines), first[0].call)
        with self.runner.apart(module, analysis.helpers(function), [extension()], [request]) as run:
            edits = (run([]) or [SPENT])[-1].value or []
            ordered = sorted(
                ((line not in earlier_lines, size), edit, line)
                for edit, size, line in edits
                if within is None or line in within
            )
            for _, same in groupby(ordered, key=itemgetter(0)):
                rows = list(same)[:budget]
                budget -= len(rows)
                passed = list(self._passing(run, rows, first))
                is_few = len(passed) <= MOST_SURVIVORS
                fixing: dict[int, Repair] = {}  # by the reported line
                # All of them first: the next check replaces this process.
                for (_, size), edit, line in list(self._passing(run, passed[:MOST_SURVIVORS], rest)):
                    if line not in fixing and (is_few or not fixing):
                        fixed = self._fixed(analysis, function, Repair(function, edit, not size))
                        fixing |= {line: fixed} if fixed is not None else {}
                if fixing:
                    first_fix = next(iter(fixing.values()))
                    places = tuple(dict.fromkeys(lines for repair in fixing.values() for lines in repair.places))
                    # The slip is read from the source, since the process may report anything.
                    source, sentence = self.runner.submission.files[f"{module}.py"], ""
                    with contextlib.suppress(*UNREADABLE, IndexError):
                        sentence = Text(source, *self._scope(module, function)).edits[first_fix.edit].sentence
                    # Edits of several lines may fix a few booleans by chance.
                    most = FEW if any(map(_has_floats, alone)) else 1
                    is_shown = bool(sentence) or (is_few and sum(map(len, places)) <= most)
                    earlier.append(first_fix._replace(places=places, is_shown=is_shown, sentence=sentence))
                    return earlier[-1]
        return None

    def _passing(self, run: Run, rows: list[Row], calls: Sequence[TestCall]) -> Iterator[Row]:
        """Yield the edits that fix some calls."""
        for start in range(0, len(rows), TOGETHER):
            remaining = rows[start : start + TOGETHER]
            for test_call in calls:
                if not remaining:
                    break
                ends = self.endless >= MOST_ENDLESS or self.runner.spent() >= MOST_SPENT
                responses = [] if ends else run([Edited(number, test_call.call) for _, number, _ in remaining])
                self.endless += sum(r.error is not None and r.error.kind == "BaseException" for r in responses)
                answered = zip(remaining, responses, strict=False)
                remaining = [
                    row
                    for row, response in answered
                    if not _is_wrong(compared([test_call], [response])[0], not row[0][1])
                ]
            yield from remaining

    def _fixed(self, analysis: Analysis, function: str, repair: Repair) -> Repair | None:
        """Return an edit, with its lines, if it fixes every call of a function in a process that has seen no other edit.

        If it corrects a slip, also the criteria of the side effects and dtypes that calls then show.
        """
        module, test_calls = analysis.module, _needed(analysis, analysis.of(function))
        before = [extension(), Edit(module, self._scope(module, repair.edited), repair.edit)]
        with self.runner.apart(module, analysis.helpers(function), before) as run:
            report, *responses = run(test_calls)[1:] or [SPENT]
        if len(responses) != len(test_calls):
            return None
        call_results = of_function(compared(test_calls, responses), function)
        last = self.runner.submission.files[f"{module}.py"].count(b"\n") + 1
        lines: tuple[int, ...] = report.value or ()  # the process may report anything
        is_wrong = any(_is_wrong(call_result, repair.is_slip) for call_result in call_results)
        if is_wrong or not lines or not all(0 < line <= last for line in lines):
            return None
        criteria = frozenset(r.test_call.criterion for r in call_results if r.failed and r.test_call.criterion)
        return repair._replace(places=(lines,), criteria=criteria)

    def _scope(self, module: str, function: str) -> tuple[str, list[str], str]:
        """Return a function, the contract functions that are not edited, and the docstring of the reference."""
        unedited = [name for name in self.rubric.modules[module].functions if name != function]
        return function, unedited, inspect.getdoc(self.runner.homework.functions[function]) or ""


def _needed(analysis: Analysis, call_results: Iterable[CallResult]) -> list[TestCall]:
    """Return the test calls of these results, and those of the module that they need."""
    return with_needed([r.test_call for r in analysis.call_results], [r.test_call for r in call_results])


def _badness(call_results: Iterable[CallResult]) -> tuple[int, int]:
    """Return the numbers of failing calls, and of calls that ended the process or reached unwritten code."""
    results = list(call_results)
    unwritten = [r for r in results if r.error is not None and r.error.kind == "NotImplementedError"]
    return sum(r.failed for r in results), len(unwritten) + sum(r.response.ended is not None for r in results)


def _is_wrong(call_result: CallResult, is_slip: bool) -> bool:
    """Whether an edited call still fails; without a slip, it may have a side effect or another dtype."""
    return wrong_in_value(call_result) if is_slip else call_result.failed


def _separating(call_results: Iterable[CallResult]) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """Return the properties that all passing calls have in one way and all failing ones in another, at least two of each.

    A passing call proves nothing if its result is constant, has no floats, or if an axis has length 1.
    """
    passing: list[CallResult] = []
    failing: list[CallResult] = []
    for call_result in call_results:
        expected = call_result.test_call.expected
        lengths = [n for array in arrays((expected, [*call_result.test_call.arguments.values()])) for n in array.shape]
        if wrong_in_value(call_result):
            failing.append(call_result)
        elif _has_floats(call_result) and is_telling(expected) and min(lengths, default=0) > 1:
            passing.append(call_result)
    if min(len({r.test_call.call.payload for r in group}) for group in (passing, failing)) < 2:
        return {}
    groups = [[r.test_call for r in group] for group in (passing, failing)]
    each = [[properties(t.reference, t.arguments, t.counted) for t in group] for group in groups]
    in_all = [key for key in each[0][0] if all(key in facts for group in each for facts in group)]
    words = {key: ({facts[key] for facts in each[0]}, {facts[key] for facts in each[1]}) for key in in_all}
    return {key: both for key, both in words.items() if both[0].isdisjoint(both[1])}


def relation_holds(run: Run, call_result: CallResult) -> bool:
    """Whether the relation of a call (`check.related`) holds for results of the student, which must vary where correct ones do."""
    test_call, value = call_result.test_call, call_result.response.value
    bind = inspect.signature(test_call.reference).bind

    def answer(*args: Any, **kwargs: Any) -> Any:
        (like,) = with_arguments(test_call, bind(*args, **kwargs).arguments)
        value = (run([like]) or [SPENT])[0].value
        if not _varies_alike(like.expected, value):
            raise ValueError
        return value

    if test_call.rules.related is None or not _varies_alike(test_call.expected, value):
        return False
    try:
        expected = test_call.rules.related(answer, *copied(test_call.args), **copied(dict(test_call.kwargs)))
    except ValueError:
        return False
    return equal(expected, value, test_call.allowed)


def _varies_alike(expected: Any, value: Any) -> bool:
    """Whether a value has the type, shape and finite entries of the expected one, and is constant only where that is."""
    failure, furthest = compare(expected, value, np.inf)
    pairs = zip(leaves(expected), leaves(value), strict=False)
    return failure is None and furthest < np.inf and all(is_telling(v) or not is_telling(e) for e, v in pairs)


def _has_floats(call_result: CallResult) -> bool:
    return any(np.asarray(leaf).dtype.kind == "f" for leaf in leaves(call_result.test_call.expected))


def _with_objects(test_call: TestCall, by_number: Mapping[int, TestCall]) -> TestCall:
    """Return the test call with the values of arguments that are objects of earlier calls, as the reference made them."""

    def value(leaf: Any) -> Any:
        if not isinstance(leaf, Handle):
            return leaf
        earlier, (root, *path) = by_number[leaf.call], leaf.path
        made_of = {"result": earlier.expected} | dict(enumerate((*earlier.args, *earlier.kwargs.values())))
        item = made_of[root]
        for key in path:
            item = item[key]
        return mapped(value, item)

    args, kwargs = mapped(value, (test_call.args, dict(test_call.kwargs)))
    return replace(test_call, args=args, kwargs=kwargs)
