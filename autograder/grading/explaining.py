"""Steps 3 and 4 of grading: explain the failing calls of one function, with as few mistakes as possible.

Step 3 runs a function again with correct helpers, and repeats its pure calls. Step 4 is single-edit repair: the smallest edits
of the student's source that fix a function show that the failure is one mistake, and locate it. Edits are generated from the
source alone (shared/edits.py), in a process of the submission that receives the code for it (edit_runner.py). The grader
compares their results: first on a few failing calls, then on all others, and finally on every call, side effects included, in
a process that has seen no other edit. If no edit helps, a simple property of the arguments may separate the failing calls from
the passing ones; new calls like the public ones must confirm it. The search is bounded by counts, so it ends the same way on
every machine. A time limit applies only after half of the submission's time.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from autograder.grading.call_results import CallResult, Target, TestCall, compared, of_function, repeats, with_needed
from autograder.grading.diagnosis import Analysis, Candidate, Diagnoser, Diagnosis, shortest
from autograder.grading.examples import with_arguments
from autograder.grading.known_responses import alike, wrong_in_value
from autograder.grading.runner.edit_runner import Edit, Edited, Edits, extension
from autograder.grading.runner.processes import Run, Runner
from autograder.grading.thresholds import FEW, MOST_ENDLESS, MOST_SPENT, MOST_SURVIVORS
from autograder.homework import other_arguments
from autograder.homework.library import Misconception
from autograder.homework.other_arguments import FROM_THE_END, is_telling, properties
from autograder.sandbox.process import SPENT
from autograder.sandbox.wire import Handle
from autograder.shared.compare import Failure
from autograder.shared.edits import Text, line_names, units
from autograder.shared.tree import arrays, leaves, mapped
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
    places: tuple[tuple[int, ...], ...]
    is_shown: bool
    sentence: str
    criteria: frozenset[str]


class Explainer:
    """Explains the functions of one submission, in the order of the rubric. It computes no points."""

    def __init__(self, runner: Runner, diagnoser: Diagnoser):
        self.runner, self.rubric, self.diagnoser = runner, runner.rubric, diagnoser
        self.endless = 0
        self.repairs: dict[str, list[Repair]] = defaultdict(list)  # by module
        self.tried: dict[Target, list[CallResult]] = {}  # new calls like the public ones

    def explained(self, analysis: Analysis, function: str) -> Analysis:
        """Return the analysis of a module with more known about one function, if it fails."""
        for step in (self.with_correct_helpers, self.with_kept_state, self.repaired):
            if diagnosis := analysis.diagnoses.get(function):
                analysis = step(analysis, function, diagnosis)
        return analysis

    def with_correct_helpers(self, analysis: Analysis, function: str, diagnosis: Diagnosis) -> Analysis:
        """Run an unexplained function again with the reference in place of its wrong helpers.

        The new results count if fewer calls fail, or if as many fail and fewer end the process.
        """
        failing = {test_call.target.function for test_call in analysis.failing_calls}
        helpers = tuple(name for name in self.rubric.helpers(analysis.module, (function,)) if name in failing)
        lost = self._lost(analysis, function)
        if not helpers or not lost:
            return analysis
        on_values = {name for name in lost if self.rubric.criteria[name].looks_at == "values"}
        is_excused = not diagnosis.empty and not diagnosis.misconceptions and on_values <= diagnosis.criteria
        if is_excused and self.rubric.charge == "mistakes":
            return analysis  # the mistakes of its helpers explain everything
        earlier = of_function(analysis.call_results, function)
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
        if diagnosis.memory or diagnosis.empty:
            return analysis
        pure = [r for r in of_function(analysis.call_results, function) if r.test_call.rules.repeats]
        # The diagnosis compares no values of a wrong type, which may depend on earlier calls.
        if diagnosis.complete and all(call_result.kind != "type" for call_result in pure):
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
        is_named = is_settled and (
            len(diagnosis.misconceptions) < 2 or len({m.criteria for m in diagnosis.misconceptions}) > 1
        )
        shared = self._shared_lines(analysis, function)
        if is_named and not shared:
            return analysis
        cause: Diagnosis | None = None
        if repair := self.search(analysis, function, set().union(*shared.values()) if is_named else None):
            every = frozenset(criterion.id for criterion in self.rubric.of(analysis.module))
            fixes = (
                n for n in shared if self._lines_of(analysis, n, repair.edited, repair.edit, bool(repair.sentence))[0]
            )
            earlier = next(fixes, None)
            if earlier is not None and not analysis.diagnoses[earlier].repaired:
                cause = Diagnosis(helpers=analysis.diagnoses[earlier].named, complete=True, formal=True, criteria=every)
            elif earlier is not None or not is_named:
                sure = (self._misconception(repair, analysis, function),)
                cause = Diagnosis(sure, sure, complete=True, formal=True, criteria=every, memory=True, repaired=True)
        elif not is_settled and not diagnosis.empty:
            cause = self._partial(analysis, function) or self._separated(analysis, function)
        return analysis if cause is None else replace(analysis, diagnoses=analysis.diagnoses | {function: cause})

    def _shared_lines(self, analysis: Analysis, function: str) -> dict[str, set[int]]:
        """Return the lines of private code that a function shares with wrong functions before it, by these functions."""
        contract = self.rubric.modules[analysis.module].functions
        failing = [name for name in analysis.diagnoses if name != function and self._lost(analysis, name)]
        if not failing:
            return {}
        try:
            tree = ast.parse(self.runner.submission.files[f"{analysis.module}.py"])
            code = {name: {*units(tree, name, {*contract} - {name})} for name in (function, *failing)}
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        private = {
            u for u in code[function] if isinstance(u, ast.FunctionDef | ast.ClassDef) and u.name not in contract
        }
        lines = {n: {i for u in private & code[n] for i in range(u.lineno, (u.end_lineno or 0) + 1)} for n in failing}
        return {name: numbers for name, numbers in lines.items() if numbers}

    def _lost(self, analysis: Analysis, function: str) -> set[str]:
        """Return the criteria, other than worked examples, of failing calls that are wrong in more than side effects and dtype."""
        results = [r for r in of_function(analysis.call_results, function) if r.failed]
        if all(call_result.is_absent for call_result in results):
            return set()
        in_form = {call_result.test_call.criterion for call_result in results if not wrong_in_value(call_result)}
        failing = {call_result.test_call.criterion for call_result in results} - in_form - {""}
        return {name for name in failing if self.rubric.criteria[name].looks_at != "examples"}

    def _misconception(self, repair: Repair, analysis: Analysis, function: str) -> Misconception:
        module, where = analysis.module, " or on ".join(map(line_names, repair.places))
        passes = f"makes every call of `{function}` pass."
        if repair.criteria:
            passes = f"corrects the values of `{function}`; a dtype or a side effect stays wrong."
        does = f"{repair.sentence} A single edit on {where} {passes}".strip() if repair.is_shown else ""
        name, read = f"repair ({line_names(repair.places[0])})", f"the docstring of `{function}` in `{module}.py`"
        criteria_ids = tuple(dict.fromkeys((self._home(analysis, function), *sorted(repair.criteria))))
        return Misconception(module, function, name, criteria_ids, does, "", read, twice=str(repair[:2]))

    def _home(self, analysis: Analysis, function: str) -> str:
        """Return the criterion of a call that shows kept state, else the first failing one, on values if possible."""
        results = [r for r in of_function(analysis.call_results, function) if r.failed]
        kept_state = {call_result.test_call.criterion for call_result in results if call_result.kind == "unsteady"}
        in_value = {call_result.test_call.criterion for call_result in results if wrong_in_value(call_result)}
        failing = {call_result.test_call.criterion for call_result in results}
        criteria = [c for c in self.rubric.of(analysis.module) if c.id in failing and c.looks_at != "examples"]
        on_values = [c for c in criteria if c.id in in_value and c.looks_at == "values"]
        first = [c.id for c in (*(c for c in criteria if c.id in kept_state), *on_values, *criteria)]
        return first[0] if first else ""  # public examples have no criterion

    # A misconception next to an unknown mistake

    def _partial(self, analysis: Analysis, function: str) -> Diagnosis | None:
        """Return the misconception that an edit leaves alone, or that several calls show and that excuses nothing."""
        results = of_function(analysis.call_results, function)
        evident = self.diagnoser.evident(analysis.module, function, results)
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
        return visible if cause is None else replace(visible, diagnoses=visible.diagnoses | {function: cause})

    def _separated(self, analysis: Analysis, function: str) -> Diagnosis | None:
        """Return the property that separates all failing calls from all passing ones, also in new calls like the public ones."""
        calls = [r for r in of_function(analysis.call_results, function) if not r.failed or wrong_in_value(r)]
        plain = [r for r in calls if r.test_call.kind == "call" and not r.test_call.rules.error]
        if any(r.failed and (r not in plain or r.response.ended or r.is_absent or r.kind == "unsteady") for r in calls):
            return None
        by_number = {r.test_call.number: r.test_call for r in analysis.call_results}
        plain = [replace(r, test_call=_with_objects(r.test_call, by_number)) if r.test_call.needs else r for r in plain]
        if not _separating(plain) or any(map(callable, plain[0].test_call.arguments.values())):
            return None
        argument_sets = [r.test_call.arguments for r in plain]
        names = dict.fromkeys(name for arguments in argument_sets for name in arguments)
        dims = {name: [getattr(arguments.get(name), "ndim", 0) for arguments in argument_sets] for name in names}
        together = [name for name, counts in dims.items() if counts == next(iter(dims.values()))]
        public = [r.test_call for r in plain if r.test_call in self.runner.plan.public(analysis.module)]
        new = {
            like.call.payload: like
            for test_call in public
            for changed in other_arguments.variants(test_call.reference, test_call.arguments, together)
            if all(getattr(value, "ndim", 0) in dims.get(name, (0,)) for name, value in changed.items())
            for like in with_arguments(test_call, changed)
            if is_telling(like.expected)
        }
        if (tried := self.tried.get(Target(analysis.module, function))) is None:
            with self.runner.apart(analysis.module, analysis.helpers(function)) as run:
                responses = zip(new.values(), run([*new.values()]), strict=False)
            tried = [compared([like], [response])[0] for like, response in responses]
            self.tried[Target(analysis.module, function)] = tried
        separating = _separating(tried)
        causes = []
        for (text, advice), (passing, _) in _separating([*plain, *tried]).items():
            if (text, advice) in separating:
                failing = separating[text, advice][1]
                does = "Your code gives the correct values in every call tried with {}, but not with {}.".format(
                    *(text.format(listed(sorted(words), "or")) for words in (passing, failing))
                )
                read = f"the docstring of `{function}` in `{analysis.module}.py`"
                fields = analysis.module, function, PARTLY, (self._home(analysis, function),)
                identity = "" if advice == FROM_THE_END else f"{function}: {does}"
                causes.append(Misconception(*fields, does, advice, read, twice=identity))
        named = {m.same for d in analysis.diagnoses.values() for m in d.misconceptions}
        cause = next((cause for cause in causes if cause.same in named), next(iter(causes), None))
        every = frozenset(criterion.id for criterion in self.rubric.of(analysis.module))
        if cause is None:
            return None
        return Diagnosis((cause,), (cause,), complete=True, criteria=every, repaired=True)

    # The search for edits

    def search(self, analysis: Analysis, function: str, within: set[int] | None = None) -> Repair | None:
        """Return the smallest edits, of some lines, that fix every call of a function; None if there are none."""
        alone = [  # the calls that can be made alone
            r
            for r in of_function(analysis.call_results, function)
            if r.test_call.kind == "call" and not r.test_call.needs and not r.test_call.rules.repeats
        ]
        first = [r.test_call for r in shortest(r for r in alone if r.failed)]
        rest = [r.test_call for r in alone if r.test_call not in first]
        budget = self.runner.edits
        if not first or not budget:
            return None
        self.endless = 0
        earlier = self.repairs[analysis.module]
        for repair in earlier:  # one edit of shared code may fix both functions
            lines, criteria = self._lines_of(analysis, function, repair.edited, repair.edit, bool(repair.sentence))
            if lines:
                return repair._replace(criteria=criteria)

        earlier_lines = {line for repair in earlier for lines in repair.places for line in lines}  # tried first
        unedited, module = self._unedited(analysis.module, function), analysis.module
        request = Edits(module, function, unedited, sorted(earlier_lines), first[0].call)
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
                # By the reported line: the edit, its lines, and the criteria of side effects and dtypes.
                fixing: dict[int, tuple[int, tuple[int, ...], frozenset[str]]] = {}
                # All of them first: the next check replaces this process.
                for (_, size), edit, line in list(self._passing(run, passed[:MOST_SURVIVORS], rest)):
                    if line in fixing or (fixing and not is_few):
                        continue
                    lines, criteria = self._lines_of(analysis, function, function, edit, not size)
                    if lines:
                        fixing[line] = edit, lines, criteria
                if fixing:
                    places = tuple(dict.fromkeys(lines for _, lines, _ in fixing.values()))
                    edit, _, criteria = next(iter(fixing.values()))
                    sentence = self._sentence(analysis, function, edit)
                    # Edits of several lines may fix a few booleans by chance.
                    most = FEW if any(map(_has_floats, alone)) else 1
                    is_shown = bool(sentence) or (is_few and sum(map(len, places)) <= most)
                    earlier.append(Repair(function, edit, places, is_shown, sentence, criteria))
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

    def _lines_of(
        self, analysis: Analysis, function: str, edited: str, edit: int, is_slip: bool
    ) -> tuple[tuple[int, ...], frozenset[str]]:
        """Return the lines of an edit that fixes every call of a function, in a process that has seen no other edit; else ().

        If it corrects a slip, also the criteria of the side effects and dtypes that calls then show.
        """
        module, test_calls = analysis.module, _needed(analysis, of_function(analysis.call_results, function))
        before = [extension(), Edit(module, edited, self._unedited(module, edited), edit)]
        with self.runner.apart(module, analysis.helpers(function), before) as run:
            report, *responses = run(test_calls)[1:] or [SPENT]
        if len(responses) != len(test_calls):
            return (), frozenset()
        call_results = of_function(compared(test_calls, responses), function)
        if any(_is_wrong(call_result, is_slip) for call_result in call_results):
            return (), frozenset()
        criteria = frozenset(r.test_call.criterion for r in call_results if r.failed and r.test_call.criterion)
        last = self.runner.submission.files[f"{module}.py"].count(b"\n") + 1
        lines: tuple[int, ...] = report.value or ()
        # The process may report anything.
        return (lines, criteria) if all(0 < line <= last for line in lines) else ((), frozenset())

    def _sentence(self, analysis: Analysis, function: str, edit: int) -> str:
        """Return the slip that an edit corrects, read from the source, since the process may report anything."""
        source = self.runner.submission.files[f"{analysis.module}.py"]
        try:
            edits = Text(source, function, self._unedited(analysis.module, function)).edits
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
        return edits[edit].sentence if 0 <= edit < len(edits) else ""

    def _unedited(self, module: str, function: str) -> list[str]:
        """Return the contract functions that are not edited."""
        return [name for name in self.rubric.modules[module].functions if name != function]


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
    each = [[properties(r.test_call.reference, r.test_call.arguments) for r in group] for group in (passing, failing)]
    in_all = [key for key in each[0][0] if all(key in facts for group in each for facts in group)]
    words = {key: ({facts[key] for facts in each[0]}, {facts[key] for facts in each[1]}) for key in in_all}
    return {key: both for key, both in words.items() if both[0].isdisjoint(both[1])}


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
