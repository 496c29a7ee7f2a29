"""Grades one Submission; returns a Result (docs/explanation/grading.md).

runner/ makes the calls, diagnosis.py and repair.py explain failing functions, and scoring.py computes the points.
"""

import contextlib
import gc
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from autograder.exceptions import SandboxError
from autograder.grading import plan as plans
from autograder.grading.call_results import CallResult, TestCall, compared, of_function, reason, repeats, with_needed
from autograder.grading.diagnosis import Diagnoser, Diagnosis, has
from autograder.grading.known_responses import alike, wrong_in_value
from autograder.grading.plan import Plan
from autograder.grading.probes import ProbeResult, probes_of
from autograder.grading.repair import Repair, Repairs, as_misconception
from autograder.grading.runner.processes import Runner
from autograder.grading.scoring import Analysis, CriterionScore, Why, scores
from autograder.grading.student_tests import graded_tests
from autograder.homework import kit
from autograder.homework import reference as references
from autograder.homework.library import Misconception
from autograder.homework.rubric import INTEGRATION, TESTS, Criterion
from autograder.sandbox.budget import Limits
from autograder.sandbox.messages import Response
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission
from autograder.submissions.text import few
from autograder.values.compare import Failure


@dataclass(frozen=True)
class ModuleResult:
    """The result of one module, before it is put into words. `broken` is the error of its import.

    `unexplained` maps each function that no misconception explains to its results, with correct helpers if it ran with
    them. `probe_results` are the probes of unexplained failing public examples. `previewed` are the results that
    explain lost visible criteria, if the module depends on wrong modules of the submission.
    """

    module: str
    graded: tuple[CriterionScore, ...]
    broken: Response | None = None
    call_results: tuple[CallResult, ...] = ()
    unexplained: Mapping[str, tuple[CallResult, ...]] = field(default_factory=dict)
    probe_results: Mapping[TestCall, tuple[ProbeResult, ...]] = field(default_factory=dict)
    previewed: tuple[CallResult, ...] = ()


@dataclass(frozen=True)
class Result:
    """A graded submission: the input of all reports."""

    submission: Submission
    modules: tuple[ModuleResult, ...]
    layers: tuple[str, ...]

    @property
    def graded(self) -> list[CriterionScore]:
        return [graded for module in self.modules for graded in module.graded]

    @property
    def points(self) -> float:
        return sum(graded.points for graded in self.graded)


@contextlib.contextmanager
def open_grader(without: tuple[str, ...] = (), limits: Limits | None = None) -> Iterator["Grader"]:
    """A ready grader: test plan recorded, sandbox started, self-test passed. `without` names layers to leave out.

    Raises RubricError, CommandError or SandboxError.
    """
    plan = plans.current()
    with Sandbox(limits or plan.rubric.limits, without, kit.secret()) as sandbox:
        grader = Grader(plan, sandbox)
        self_test(grader)
        gc.freeze()  # long-lived objects need not be scanned for every submission
        try:
            yield grader
        finally:
            gc.unfreeze()


def self_test(grader: "Grader") -> None:
    """Grade the reference solutions as a submission. Raises SandboxError unless they get full marks on this machine."""
    names = [name for name in grader.rubric.groups if name != TESTS]
    result = grader.grade(Submission("the reference solutions", references.files()), names)
    lost = [score.criterion.id for score in result.graded if not score.passed]
    failing = [call_result for module in result.modules for call_result in module.call_results if call_result.failed]
    if lost:
        first = "".join(f" ({r.target.function}: {reason(r.response) or r.kind})" for r in failing[:1])
        raise SandboxError(
            f"nothing is graded: on this machine, the solutions do not get full marks; they lose {few(lost, 3)}{first}"
        )


class Grader:
    """A test plan and a sandbox; grades one submission after another."""

    def __init__(self, plan: Plan, sandbox: Sandbox):
        self.plan, self.rubric, self.sandbox = plan, plan.rubric, sandbox
        self.diagnoser = Diagnoser(plan)

    def grade(self, submission: Submission, modules: Sequence[str] = ()) -> Result:
        """Grade everything, or only some modules (and "integration" and "tests")."""
        names = tuple(name for name in self.rubric.groups if not modules or name in modules)
        with Runner.in_sandbox(self.sandbox, self.plan, submission) as runner:
            results = graded_with(runner, self.diagnoser, names)
        if TESTS in names:
            results += (ModuleResult(TESTS, graded_tests(self.sandbox, self.rubric, submission)),)
        return Result(submission, results, tuple(self.sandbox.layers))


def graded_with(runner: Runner, diagnoser: Diagnoser, names: tuple[str, ...]) -> tuple[ModuleResult, ...]:
    """The results of a runner's submission in these modules (and "integration"), without the students' tests."""
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            results = _Grading(runner, diagnoser).all(names)
        finally:
            diagnoser.forget()
    return tuple(results[name] for name in names if name in results)


class _Grading:
    """The state during the grading of one submission; methods are in the order of use."""

    def __init__(self, runner: Runner, diagnoser: Diagnoser):
        self.plan, self.rubric, self.runner, self.diagnoser = runner.plan, runner.rubric, runner, diagnoser
        self.call_results: dict[TestCall, CallResult] = {}  # with references
        self.previewed: dict[TestCall, CallResult] = {}  # of public calls, from the preview
        self.depends = set[str]()  # modules whose public calls differ in the preview
        self.repairs = Repairs(runner)
        # By function: the failing public examples, largest errors first, and the first that also fails alone.
        self.examples: dict[str, list[CallResult]] = {}
        self.alone: dict[str, CallResult | None] = {}
        self.at_once: dict[str, Analysis] = {}
        self.probe_results: dict[str, dict[TestCall, tuple[ProbeResult, ...]]] = {}
        self.first_tries: dict[str, CriterionScore] = {}  # by criterion of the integration

    def all(self, names: tuple[str, ...]) -> dict[str, ModuleResult]:
        modules = [name for name in names if name in self.rubric.modules]
        whole = self.rubric.of(INTEGRATION) if INTEGRATION in names else []
        # All calls whose results may be shown come before the first hidden call: a process could leave data for a later one.
        self.previewed = self.runner.preview(modules)
        for module in modules:
            self._make_public_calls(module)
        for module in modules:
            self._read_public_calls(module)
        at_once = {m: [s for s in self.at_once[m].scores.values() if s.criterion.visible] for m in modules}
        together = self._integration([criterion for criterion in whole if criterion.visible], at_once)
        later = [criterion for criterion in whole if not criterion.visible]
        if not any(call_result.failure for call_result in self.previewed.values()):
            # The preview's process is still alive.
            self.first_tries = {criterion.id: self._together(criterion) for criterion in later}
        # A module whose process is still alive continues in it.
        for module in sorted(modules, key=self.runner.has_ended):
            self.call_results |= self.runner.hidden(module)
        results = {module: self._result(module) for module in modules}
        together |= self._integration(later, {module: result.graded for module, result in results.items()})
        if whole:
            call_results = self._made(call for criterion in whole for call in self.plan.together(criterion.id))
            graded = tuple(together[criterion.id] for criterion in whole)
            results[INTEGRATION] = ModuleResult(INTEGRATION, graded, None, call_results)
        return results

    def _made(self, test_calls: Iterable[TestCall]) -> tuple[CallResult, ...]:
        return tuple(self.call_results[test_call] for test_call in test_calls)

    def _make_public_calls(self, module: str) -> None:
        """If a public call fails, repeat all with references; if results differ, the module depends on wrong or missing modules."""
        call_results = {test_call: self.previewed[test_call] for test_call in self.plan.shown(module)}
        if any(call_result.failed for call_result in call_results.values()):
            beside = self.runner.public(module)
            if not all(_same(call_result, beside[test_call]) for test_call, call_result in call_results.items()):
                self.depends.add(module)
                call_results = beside
        self.call_results |= call_results

    def _read_public_calls(self, module: str) -> None:
        """Find the examples to show, run them alone and with probes, and diagnose the visible criteria."""
        if self.runner.broken(module) is None:
            self.examples |= self._failing_examples(module, self.call_results)
        analysis = self._analysis(module, self._made(self.plan.shown(module)), at_once=True)
        self.at_once[module] = analysis
        for function, diagnosis in analysis.diagnoses.items():
            self.alone[function] = self._alone(self.examples.get(function, ()), diagnosis)
        self.probe_results[module] = self._probes(analysis)

    def _failing_examples(self, module: str, made: Mapping[TestCall, CallResult]) -> dict[str, list[CallResult]]:
        """The failing public examples of each function, largest errors first."""
        failing = [made[test_call] for test_call in self.plan.examples[module] if made[test_call].failed]
        failing.sort(key=lambda call_result: _smallness(call_result.deviation))
        functions = dict.fromkeys(call_result.target.function for call_result in failing)
        return {function: of_function(failing, function) for function in functions}

    def _alone(self, examples: Iterable[CallResult], diagnosis: Diagnosis) -> CallResult | None:
        """The first failing example that also fails alone. One that a misconception explains need not run."""
        for example in examples:
            if diagnosis.chosen is not None and diagnosis.chosen.fits_alone(example):
                return example
            together = example.target.module not in self.depends
            response = example.response if example.unwritten else self.runner.alone(example.test_call, together)
            again = compared([example.test_call], [response])[0]
            if again.failed:
                return again
        return None

    def _probes(self, analysis: Analysis) -> dict[TestCall, tuple[ProbeResult, ...]]:
        """Probes of one failing public example of each unexplained function; fewer if they take long."""
        unexplained = [self.alone[name] for name, diagnosis in analysis.diagnoses.items() if not diagnosis.complete]
        examples = [e for e in unexplained if e is not None and e.response.ended is None and not e.is_absent]
        of = {example.test_call: probes_of(example.test_call) for example in examples}
        test_calls = [probe.test_call for own in of.values() for probe in own]
        together = analysis.module not in self.depends
        responses = self.runner.probes(analysis.module, test_calls, together) if test_calls else []
        made = (compared([call], [response])[0] for call, response in zip(test_calls, responses, strict=False))
        return {test_call: tuple(map(ProbeResult, own, islice(made, len(own)))) for test_call, own in of.items()}

    def _result(self, module: str) -> ModuleResult:
        broken, shown = self.runner.broken(module), self.plan.shown(module)
        call_results = self._made((*shown, *self.plan.hidden.get(module, ())))
        analysis = self._analysis(module, call_results)
        graded, unexplained = tuple(self._graded(module, analysis)), dict(self._unexplained(analysis))
        previewed = tuple(self.previewed[test_call] for test_call in shown) if module in self.depends else ()
        return ModuleResult(module, graded, broken, call_results, unexplained, self.probe_results[module], previewed)

    def _unexplained(self, analysis: Analysis) -> Iterator[tuple[str, tuple[CallResult, ...]]]:
        """The functions whose wrong values have no known cause, not even a wrong helper."""
        wrong = {test_call.target.function for test_call in analysis.wrong}
        for function, diagnosis in analysis.diagnoses.items():
            own = tuple(of_function(analysis.call_results, function))
            helpers = set() if function in analysis.helped else self.rubric.helpers(analysis.module, (function,))
            explained = diagnosis.empty or diagnosis.complete or diagnosis.sure or diagnosis.undecided
            if (explained and not diagnosis.repair) or not wrong.isdisjoint(helpers):
                continue
            answers = any(r.is_absent or r.response.ended or r.test_call.rules.question for r in own)
            if any(map(wrong_in_value, own)) and not answers:
                yield function, own

    def _graded(self, module: str, later: Analysis) -> Iterator[CriterionScore]:
        """Every criterion of a module: visible criteria from visible results, the others from all results."""
        analyses = {c.id: self.at_once[module] if c.visible else later for c in self.rubric.of(module)}
        lost = {name for name, analysis in analyses.items() if not analysis.scores[name].passed}
        for name, analysis in analyses.items():
            score, diagnoses = analysis.scores[name], analysis.diagnoses
            if not diagnoses:
                yield score
                continue
            function = score.call_result.target.function if score.call_result is not None else ""
            undecided = _undecided(score, diagnoses, function)
            unsure = [m for diagnosis in diagnoses.values() for m in diagnosis.unsure]
            examples = [e for e in self.examples.get(function, ()) if e.test_call in analysis.wrong]
            alone = self.alone.get(function)
            # Without a failing call, no helper is to blame.
            blamed = analysis.blamed(score.criterion, function) if function or score.passed else {}
            graded = replace(
                score,
                call_result=score.call_result or next(iter(blamed.values()), None),
                shown=shown(score, diagnoses, examples, alone if alone and alone.test_call in analysis.wrong else None),
                misconceptions=tuple(m for m in score.misconceptions if not has((*undecided, *unsure), m)),
                charged=tuple(other for other in score.charged if other != name and other in lost),
                undecided=undecided,
                blamed=tuple(blamed),
                at_least=any(diagnoses[m.function].at_least for m in score.misconceptions if m.function in diagnoses),
                depends=alone is None and bool(examples) and all(e.response.ended is None for e in examples),
            )
            is_at_once = score.criterion.visible and module in self.depends and not score.passed
            yield self._shown_at_once(graded, function) if is_at_once else graded

    def _shown_at_once(self, graded: CriterionScore, function: str) -> CriterionScore:
        """A lost visible criterion of a module that depends on wrong modules, as the preview shows it."""
        module = graded.criterion.module
        own = [self.previewed[test_call] for test_call in self.plan.shown(module)]
        wrong = [r for r in own if r.test_call.criterion == graded.criterion.id and r.failed]
        if not wrong:
            return CriterionScore(graded.criterion)
        call_result = next(iter(of_function(wrong, function)), wrong[0])
        example = next(iter(self._failing_examples(module, self.previewed).get(function, ())), None)
        same = all(_same(r, self.call_results[r.test_call]) for r in of_function(own, call_result.target.function))
        below = set() if same else self.rubric.below(module) & self.runner.submission.imports(module)
        first = tuple(name for name in self.rubric.modules if name in below and self._is_to_fix(name))
        return replace(graded, call_result=call_result, shown=example, depends=False, fix_first=first)

    def _is_to_fix(self, module: str) -> bool:
        """Whether a module is missing, or fails a public call."""
        public = [self.previewed[test_call] for test_call in self.plan.shown(module) if test_call in self.previewed]
        missing = self.runner.is_missing(module) or f"{module}.py" not in self.runner.submission.files
        return missing or any(call_result.failed for call_result in public)

    def _integration(
        self, criteria: Iterable[Criterion], of_modules: Mapping[str, Sequence[CriterionScore]]
    ) -> dict[str, CriterionScore]:
        """The criteria of the integration. A failing one runs again with references for modules that lose only some points."""
        partly = tuple(
            module
            for module, own in of_modules.items()
            if self.rubric.explains(module)
            and any(score.passed for score in own if score.criterion.looks_at == "values")
            and not all(score.passed for score in own)
        )
        graded: dict[str, CriterionScore] = {}
        for criterion in criteria:
            graded[criterion.id] = self.first_tries.get(criterion.id) or self._together(criterion)
            if not graded[criterion.id].passed and partly:
                graded[criterion.id] = self._together(criterion, partly)
        return graded

    def _together(self, criterion: Criterion, correct: tuple[str, ...] = ()) -> CriterionScore:
        responses, imported = self.runner.integration(criterion.id, correct)
        call_results = compared(responses, responses.values())
        self.call_results |= {call_result.test_call: call_result for call_result in call_results}
        wrong = next((call_result for call_result in call_results if call_result.failed), None)
        why: Why = "right" if wrong is None else "unexplained" if imported else "not imported"
        return CriterionScore(criterion, why, call_result=wrong, blamed=correct)

    def _analysis(self, module: str, call_results: tuple[CallResult, ...], at_once: bool = False) -> Analysis:
        """The diagnosis of a module. Functions that lose points and have wrong helpers run again with correct ones."""
        functions = self.rubric.modules[module].functions
        if self.runner.broken(module) is not None:  # nothing to explain
            return self._scored(Analysis(module, call_results), {name: Diagnosis(empty=True) for name in functions})
        analysis = self._scored(Analysis(module, call_results), self.diagnoser.explain(module, call_results))
        wrong = {test_call.target.function for test_call in analysis.wrong}
        for function in functions:
            helpers = tuple(name for name in self.rubric.helpers(module, (function,)) if name in wrong)
            if helpers and self._may_be_excused(analysis, function):
                again = self._with_correct_helpers(analysis, function, helpers)
                # At equal cost, prefer the analysis with fewer unanswered calls.
                ended = [sum(r.response.ended is not None for r in each.call_results) for each in (again, analysis)]
                analysis = analysis if (analysis.cost, ended[1]) < (again.cost, ended[0]) else again
        for function in analysis.diagnoses if not at_once else ():
            analysis = self._repaired(self._with_kept_state(analysis, function), function)
        return analysis

    def _scored(self, analysis: Analysis, diagnoses: dict[str, Diagnosis]) -> Analysis:
        graded = scores(self.rubric, analysis.module, analysis.call_results, diagnoses)
        return replace(analysis, diagnoses=diagnoses, scores=graded)

    def _with_kept_state(self, analysis: Analysis, function: str) -> Analysis:
        """Repeat the pure calls of an unexplained function in a new process; a different response shows kept state."""
        diagnosis, every = analysis.diagnoses[function], analysis.call_results
        pure = [r for r in of_function(every, function) if r.test_call.rules.repeats]
        # The diagnosis compares no values of a wrong type, which may depend on earlier calls.
        explained = diagnosis.complete and all(call_result.kind != "type" for call_result in pure)
        if explained or diagnosis.memory or diagnosis.empty:
            return analysis
        test_calls = with_needed([r.test_call for r in every], [r.test_call for r in pure])
        again = self.runner.with_helpers(analysis.module, analysis.helpers(function), test_calls)
        call_results = tuple(
            r if repeats(r.response, again.get(r.test_call)) else replace(r, failure=Failure("unsteady")) for r in every
        )
        return self._scored(replace(analysis, call_results=call_results), analysis.diagnoses)

    def _repaired(self, analysis: Analysis, function: str) -> Analysis:
        """Treat failures that a single edit fixes as one mistake."""
        diagnosis = analysis.diagnoses[function]
        explained = diagnosis.complete and diagnosis.sure == diagnosis.misconceptions
        several = len(diagnosis.misconceptions) > 1 and len({m.criteria for m in diagnosis.misconceptions}) == 1
        if (explained and not several) or not self._may_be_excused(analysis, function):
            return analysis
        repair = self.repairs.search(analysis, function)
        if repair is None:
            return analysis if explained or diagnosis.empty else self._repaired_beside(analysis, function)
        misconception = as_misconception(repair, self.rubric, analysis, function)
        if (shared := self._fixed_too(analysis, function, repair)) is not None:
            misconception = replace(misconception, name=shared.name, twice=shared.twice or shared.does)
        again = self._scored(analysis, analysis.diagnoses | {function: Diagnosis(repair=misconception)})
        return again if again.cost <= analysis.cost else analysis

    def _fixed_too(self, analysis: Analysis, function: str, repair: Repair) -> Misconception | None:
        """The misconception of another function that the same edit fixes: both use the wrong line."""
        for other, diagnosis in analysis.diagnoses.items():
            if other == function or diagnosis.repair or not diagnosis.complete or len(diagnosis.misconceptions) != 1:
                continue
            if self.repairs.lines_of(analysis, other, repair.edited, repair.edit):
                return diagnosis.misconceptions[0]
        return None

    def _repaired_beside(self, analysis: Analysis, function: str) -> Analysis:
        """Name one misconception next to an unknown mistake, if an edit leaves only this one or if the cost is the same."""
        evident = self.diagnoser.evident(analysis.module, function, of_function(analysis.call_results, function))
        left = [candidate for candidate in evident[:1] if self.repairs.beside(analysis, function, candidate)]
        reported = left or ([] if analysis.diagnoses[function].chosen else [c for c in evident if c.is_evident])
        if len({candidate.ids for candidate in reported}) != 1:
            return analysis
        again = self._scored(analysis, analysis.diagnoses | {function: Diagnosis(reported[0])})
        return again if again.cost == analysis.cost or (left and again.cost < analysis.cost) else analysis

    def _may_be_excused(self, analysis: Analysis, function: str) -> bool:
        """Whether failing calls of a function lose criteria other than worked examples."""
        wrong = [r for r in of_function(analysis.call_results, function) if r.failed]
        lost = [score for score in analysis.scores.values() if not score.passed and score.why != "form"]
        costs = {score.criterion.id for score in lost if score.criterion.looks_at != "examples"}
        return any(r.test_call.criterion in costs for r in wrong) and not all(r.is_absent for r in wrong)

    def _with_correct_helpers(self, analysis: Analysis, function: str, helpers: tuple[str, ...]) -> Analysis:
        """Run one function again with correct helpers."""
        own = of_function(analysis.call_results, function)
        test_calls = with_needed([r.test_call for r in analysis.call_results], [r.test_call for r in own])
        responses = self.runner.with_helpers(analysis.module, helpers, test_calls)
        again = {r.test_call: r for r in of_function(compared(responses, responses.values()), function)}
        call_results = tuple(again.get(call_result.test_call, call_result) for call_result in analysis.call_results)
        anew = self.diagnoser.explained(analysis.module, function, call_results, {})
        merged = {name: diagnosis for name, diagnosis in analysis.diagnoses.items() if name != function} | anew
        before = tuple(call_result for call_result in own if call_result.failed)
        changed = any(not alike(r.test_call, r.response, again[r.test_call].response) for r in before)
        helped = analysis.helped | {function: (helpers, before if changed else ())}
        order = [name for name in self.rubric.modules[analysis.module].functions if name in merged]
        return self._scored(
            replace(analysis, call_results=call_results, helped=helped), {name: merged[name] for name in order}
        )


def _smallness(deviation: float) -> int:
    """The order of magnitude of a relative error: 0 above a tenth, 1 above a hundredth, and so on."""
    return max(0, int(-np.log10(deviation))) if 0 < deviation < np.inf else 0


def shown(
    score: CriterionScore,
    diagnoses: Mapping[str, Diagnosis],
    examples: Sequence[CallResult],
    alone: CallResult | None,
) -> CallResult | None:
    """The example that shows the mistake that a criterion is lost to; None if there is none.

    `examples` are the failing ones of its function, largest errors first; `alone` is the first that also fails alone.
    """
    if score.call_result is None:
        return None
    diagnosis = diagnoses.get(score.call_result.target.function)
    example, chosen = alone, diagnosis.chosen if diagnosis is not None else None
    if chosen is not None and wrong_in_value(score.call_result):
        own = [m for m in score.misconceptions if has(chosen.misconceptions, m) and not chosen.memory]
        if own and chosen.is_complete:
            example = next((e for e in examples if chosen.shows(own, e)), None)
        elif own:
            example = next((e for e in examples if chosen.fits(e)), alone)
        elif score.why == "unexplained" and alone is not None and chosen.fits(alone):
            example = next((e for e in examples if not chosen.fits(e)), None)  # not of a mistake named elsewhere
    return example


def _same(first: CallResult, second: CallResult) -> bool:
    """Whether a call had the same outcome in two processes."""
    ends, theirs = first.response.ended, second.response.ended
    if ends is not None and theirs is not None:
        return ends.why == theirs.why
    return first.kind == second.kind and alike(first.test_call, first.response, second.response)


def _undecided(score: CriterionScore, diagnoses: Mapping[str, Diagnosis], function: str) -> tuple[Misconception, ...]:
    """The misconceptions that cannot be distinguished from one that costs this criterion, so that none may be named."""
    concerned = {function, *(misconception.function for misconception in score.misconceptions)}
    undecided = {m.id: m for name in diagnoses if name in concerned for m in diagnoses[name].undecided}
    named_ones = score.criterion.looks_at == "examples"  # these list only named misconceptions
    costs = not score.misconceptions or named_ones or any(m.id in undecided for m in score.misconceptions)
    return tuple(undecided.values()) if costs else ()
