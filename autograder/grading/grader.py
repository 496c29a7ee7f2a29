"""Grades one submission: a Submission goes in, a Result comes out.

runner.py decides which process runs what, scoring.py what a mistake costs.

1. The public calls of all modules run together in the preview: visible criteria, and the public examples of every function. If
   one fails, the calls of its module run again with references for other modules. A failing example runs once more, alone. It
   is shown as a counterexample only if it fails again, or if a misconception explains it.
2. The hidden calls run module by module, with references for the other modules.
3. Each function with a failing call is diagnosed (diagnosis.py) and scored. Visible criteria are decided and named from visible
   results only, since students see them at once. If no misconception explains the failures but a single edit of the source
   fixes them (repair.py), they count as one mistake.
4. A function that would lose points while a helper of the same module is wrong, missing, unimplemented or raises runs again
with
   correct helpers, in a process of its own. The better score counts: calls that pass now failed because of the helper.
"""

import contextlib
import gc
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from operator import itemgetter

import numpy as np

from autograder.grading import plan as scripts
from autograder.grading.call_results import CallResult, TestCall, compared, with_needed
from autograder.grading.diagnosis import Diagnoser, Diagnosis, has, is_absent
from autograder.grading.known_responses import alike, wrong_in_value
from autograder.grading.plan import Plan
from autograder.grading.probes import Probe, ProbeResult, is_unsteady, probes_of, with_other_numbers
from autograder.grading.repair import Repair, Repairs, charged_as
from autograder.grading.runner import Runner
from autograder.grading.scoring import CriterionScore, Why, scores
from autograder.grading.student_tests import graded_tests
from autograder.grading.thresholds import TIMES
from autograder.homework import kit
from autograder.homework import reference as references
from autograder.homework.library import Misconception
from autograder.homework.rubric import INTEGRATION, TESTS, Criterion
from autograder.sandbox.budget import Limits
from autograder.sandbox.messages import Response
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission


@dataclass(frozen=True)
class ModuleResult:
    """The result of one module, before it is put into words. `broken` is the error of its import.

    `unexplained` are functions that no misconception explains, each with its results with correct helpers, or its own.
    `probe_results` are the probes of failing public examples that nothing explains. `at_once` holds the results that may
    explain visible criteria, if the module depends on wrong modules of the submission.
    """

    module: str
    graded: tuple[CriterionScore, ...]
    broken: Response | None = None
    call_results: tuple[CallResult, ...] = ()
    unexplained: Mapping[str, tuple[CallResult, ...]] = field(default_factory=dict)
    probe_results: Mapping[TestCall, tuple[ProbeResult, ...]] = field(default_factory=dict)
    at_once: "ModuleResult | None" = None


@dataclass(frozen=True)
class Result:
    """A graded submission: everything that reports are made from."""

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
    """A grader that is ready: test plan recorded, sandbox started. `without` names layers to leave out.

    Raises RubricError, CommandError or SandboxError.
    """
    plan = scripts.current()
    with Sandbox(limits or plan.rubric.limits, without, kit.secret()) as sandbox:
        grader = Grader(plan, sandbox)
        grader.prepare()
        gc.freeze()  # long-lived objects need not be scanned for every submission
        try:
            yield grader
        finally:
            gc.unfreeze()


class Grader:
    """A test plan and a sandbox; grades one submission after another."""

    def __init__(self, plan: Plan, sandbox: Sandbox):
        self.plan, self.rubric, self.sandbox = plan, plan.rubric, sandbox
        self.diagnoser = diagnoser_of(plan)

    def prepare(self) -> None:
        """Record the references' responses: equal bytes need not be compared again."""
        right = Submission("references", references.files())
        with Runner.in_sandbox(self.sandbox, self.plan, right, is_reference=True) as runner:
            graded_with(runner, self.diagnoser, self.rubric.groups)

    def grade(self, submission: Submission, modules: Sequence[str] = ()) -> Result:
        """Grade everything, or only some modules (and "integration" and "tests")."""
        names = tuple(name for name in self.rubric.groups if not modules or name in modules)
        with Runner.in_sandbox(self.sandbox, self.plan, submission) as runner:
            results = graded_with(runner, self.diagnoser, names)
        if TESTS in names:
            results += (ModuleResult(TESTS, graded_tests(self.sandbox, self.rubric, submission)),)
        return Result(submission, results, tuple(self.sandbox.layers))


def graded_with(runner: Runner, diagnoser: Diagnoser, names: tuple[str, ...]) -> tuple[ModuleResult, ...]:
    """The results of a runner's submission in these modules (and "integration"); its tests are graded elsewhere."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = _Grading(runner.plan, runner, diagnoser).all(names)
        finally:
            diagnoser.forget()
    return tuple(results[name] for name in names if name in results)


def diagnoser_of(plan: Plan) -> Diagnoser:
    """The diagnoser for submissions that run on a test plan."""
    return Diagnoser(plan.rubric, {module: plan.in_order(module) for module in plan.rubric.modules})


class _Grading:
    """The state while one submission is graded; methods are in the order of use."""

    def __init__(self, plan: Plan, runner: Runner, diagnoser: Diagnoser):
        self.plan, self.rubric, self.runner, self.diagnoser = plan, plan.rubric, runner, diagnoser
        self.call_results: dict[TestCall, CallResult] = {}  # with references
        self.previewed: dict[TestCall, CallResult] = {}  # of public calls, from the preview
        self.depends = set[str]()  # modules whose public calls differ in the preview
        self.repairs = Repairs(runner)
        # By function: the failing public examples, largest errors first, and the first that also fails alone.
        self.examples: dict[str, dict[str, list[CallResult]]] = {}
        self.alone: dict[str, dict[str, CallResult | None]] = {}
        self.at_once: dict[str, _Analysis] = {}
        self.probe_results: dict[str, dict[TestCall, tuple[ProbeResult, ...]]] = {}
        self.first_tries: dict[str, CriterionScore] = {}  # by criterion of the integration

    def all(self, names: tuple[str, ...]) -> dict[str, ModuleResult]:
        modules = [name for name in names if name in self.rubric.modules]
        whole = self.rubric.of(INTEGRATION) if INTEGRATION in names else []
        # Everything that may be shown comes before the first hidden call: a process could leave a mark for a later one.
        self.previewed = self.runner.preview(modules)
        for module in modules:
            self._make_public_calls(module)
        for module in modules:
            self._read_public_calls(module)
        visible = {m: [c for c in self.rubric.of(m) if c.visible] for m in modules}
        at_once = {m: [(c, self.at_once[m].scores[c.id].passed) for c in own] for m, own in visible.items()}
        together = self._integration([criterion for criterion in whole if criterion.visible], at_once)
        later = [criterion for criterion in whole if not criterion.visible]
        if not any(call_result.failure for call_result in self.previewed.values()):
            # The preview's process is still alive.
            self.first_tries = {criterion.id: self._together(criterion) for criterion in later}
        results: dict[str, ModuleResult] = {}
        # A module whose process is still alive continues in it.
        for module in sorted(modules, key=self.runner.has_ended):
            self.call_results |= self.runner.hidden(module)
        for module in modules:
            results[module] = self._result(module)
        earned = {m: [(graded.criterion, graded.passed) for graded in result.graded] for m, result in results.items()}
        together |= self._integration(later, earned)
        if whole:
            call_results = self._records(
                [test_call for criterion in whole for test_call in self.plan.together(criterion.id)]
            )
            graded = tuple(together[criterion.id] for criterion in whole)
            results[INTEGRATION] = ModuleResult(INTEGRATION, graded, None, tuple(call_results))
        return results

    def _make_public_calls(self, module: str) -> None:
        """Run the public calls of a module with references too, if one fails in the preview.

        If they fail differently there, the module `depends` on modules of the submission that are wrong or missing.
        """
        public = {test_call: self.previewed[test_call] for test_call in self.plan.shown(module)}
        call_results = dict(public)
        if any(call_result.failed for call_result in public.values()):
            beside = self.runner.public(module)
            if not all(_same(call_result, beside[test_call]) for test_call, call_result in public.items()):
                self.depends.add(module)
                call_results = beside
        self.call_results |= call_results

    def _read_public_calls(self, module: str) -> None:
        """The examples to show, alone and with probes, and the diagnosis of the visible criteria."""
        is_broken = self.runner.broken(module) is not None
        self.examples[module] = {} if is_broken else self._examples(module, self.call_results)
        self.at_once[module] = self._analysis(module, self._records(self.plan.shown(module)), at_once=True)
        diagnoses = self.at_once[module].diagnoses
        self.alone[module] = {name: self._alone(own, diagnoses[name]) for name, own in self.examples[module].items()}
        self.probe_results[module] = self._trials(module)

    def _examples(self, module: str, call_results: Mapping[TestCall, CallResult]) -> dict[str, list[CallResult]]:
        by_function: dict[str, list[CallResult]] = {}
        for example in sorted(
            (call_results[test_call] for test_call in self.plan.examples[module]),
            key=lambda call_result: _smallness(call_result.deviation),
        ):
            if example.failed:
                by_function.setdefault(example.target.function, []).append(example)
        return by_function

    def _alone(self, examples: Sequence[CallResult], diagnosis: Diagnosis) -> CallResult | None:
        """The first failing example that also fails alone; one that a misconception explains need not run."""
        for example in examples:
            if diagnosis.replies_so(example):
                return example
            together = example.target.module not in self.depends
            response = example.response if example.unwritten else self.runner.alone(example.test_call, together)
            again = compared([example.test_call], [response])[0]
            if again.failed:
                return again
        return None

    def _trials(self, module: str) -> dict[TestCall, tuple[ProbeResult, ...]]:
        """Probes of one failing public example of each unexplained function.

        A call whose result varies is only repeated.
        """
        diagnoses, alone = self.at_once[module].diagnoses, self.alone[module]
        unexplained = {name: own for name, own in self.examples[module].items() if not diagnoses[name].complete}
        examples = [alone.get(name) or own[0] for name, own in unexplained.items()]
        wrong = [e for e in examples if e.response.ended is None and not is_absent(e)]
        doubtful = {e.target.function for e in wrong} | (diagnoses.keys() - self.examples[module].keys())
        random = self._random(module, doubtful)
        unsteady = {e.test_call: random[e.target.function] for e in wrong if e.target.function in random}
        unsteady |= {own[0].probe.test_call: own for own in random.values()}
        of = {e.test_call: probes_of(e.test_call) for e in wrong if e.test_call not in unsteady and e in alone.values()}
        call_results = iter(self._tried(module, [probe.test_call for own in of.values() for probe in own]))
        probe_results = {
            test_call: list(map(ProbeResult, own, islice(call_results, len(own)))) for test_call, own in of.items()
        }
        return unsteady | {
            test_call: with_other_numbers(own, partial(self._tried, module)) for test_call, own in probe_results.items()
        }

    def _random(self, module: str, functions: Set[str]) -> dict[str, tuple[ProbeResult, ...]]:
        """For each unexplained function whose result varies: one public call, made several times."""
        unexplained = {name for name in functions if not self.at_once[module].diagnoses[name].complete}
        test_calls = [test_call for test_call in self.plan.examples[module] if test_call.target.function in unexplained]
        repeated = self._tried(module, [test_call for test_call in test_calls for _ in range(TIMES)])
        of_steps = [
            tuple(ProbeResult(Probe(test_call), r) for r in repeated if r.test_call is test_call)
            for test_call in test_calls
        ]
        return {own[0].probe.test_call.target.function: own for own in of_steps if is_unsteady(own)}

    def _tried(self, module: str, test_calls: Sequence[TestCall]) -> list[CallResult]:
        """Make probes; fewer if they take long."""
        responses = self.runner.probes(module, test_calls, module not in self.depends) if test_calls else []
        return [
            compared([test_call], [response])[0] for test_call, response in zip(test_calls, responses, strict=False)
        ]

    def _records(self, test_calls: Sequence[TestCall]) -> list[CallResult]:
        return [self.call_results[test_call] for test_call in test_calls]

    def _result(self, module: str) -> ModuleResult:
        broken = self.runner.broken(module)
        call_results = self._records((*self.plan.shown(module), *self.plan.hidden.get(module, ())))
        analysis = self._analysis(module, call_results)
        graded, unexplained = tuple(self._graded(module, analysis)), dict(self._unexplained(analysis))
        result = ModuleResult(module, graded, broken, tuple(call_results), unexplained, self.probe_results[module])
        if module not in self.depends:
            return result
        previewed = tuple(self.previewed[test_call] for test_call in self.plan.shown(module))
        return replace(result, at_once=ModuleResult(module, graded, broken, previewed))

    def _unexplained(self, analysis: "_Analysis") -> Iterator[tuple[str, tuple[CallResult, ...]]]:
        """The functions whose wrong values have no known cause, and no wrong helper either."""
        for function, diagnosis in analysis.diagnoses.items():
            own = tuple(call_result for call_result in analysis.call_results if call_result.target.function == function)
            helpers = set() if function in analysis.helped else self.rubric.helpers(analysis.module, (function,))
            explained = diagnosis.empty or diagnosis.complete or diagnosis.sure or diagnosis.undecided
            if (explained and not diagnosis.repair) or any(name in analysis.wrong_functions for name in helpers):
                continue
            is_quiz = any(call_result.test_call.rules.question for call_result in own)
            if any(map(wrong_in_value, own)) and not is_quiz and not any(is_absent(r) or r.response.ended for r in own):
                yield function, own

    def _graded(self, module: str, later: "_Analysis") -> Iterator[CriterionScore]:
        """Every criterion of a module: visible ones from visible results, the others from all."""
        analyses = {c.id: self.at_once[module] if c.visible else later for c in self.rubric.of(module)}
        lost = {name for name, analysis in analyses.items() if not analysis.scores[name].passed}
        for criterion in self.rubric.of(module):
            analysis = analyses[criterion.id]
            score, diagnoses = analysis.scores[criterion.id], analysis.diagnoses
            if not diagnoses:
                yield score
                continue
            function = score.call_result.target.function if score.call_result is not None else ""
            undecided = _undecided(score, diagnoses, function)
            examples = [e for e in self.examples.get(module, {}).get(function, []) if e.test_call in analysis.wrong]
            alone = self.alone.get(module, {}).get(function)
            # A criterion lost without a failing call is lost to no helper.
            blamed = analysis.blamed(criterion, function) if function or score.passed else {}
            graded = replace(
                score,
                call_result=score.call_result or next(iter(blamed.values()), None),
                shown=shown(score, diagnoses, examples, alone if alone and alone.test_call in analysis.wrong else None),
                misconceptions=tuple(
                    m for m in score.misconceptions if not has(undecided, m) and _is_sure(m, diagnoses)
                ),
                charged=tuple(name for name in score.charged if name != criterion.id and name in lost),
                undecided=undecided,
                blamed=tuple(blamed),
                at_least=any(diagnoses[m.function].at_least for m in score.misconceptions if m.function in diagnoses),
                depends=alone is None
                and bool(examples)
                and all(example.response.ended is None for example in examples),
            )
            is_at_once = criterion.visible and module in self.depends and not score.passed
            yield self._shown_at_once(graded, function) if is_at_once else graded

    def _shown_at_once(self, graded: CriterionScore, function: str) -> CriterionScore:
        """A lost visible criterion of a module that depends on wrong modules: it is earned if it passes in the preview, and
        shows results of the preview.
        """
        module = graded.criterion.module
        own = [self.previewed[test_call] for test_call in self.plan.shown(module)]
        wrong = [r for r in own if r.test_call.criterion == graded.criterion.id and r.failed]
        if not wrong:
            return CriterionScore(graded.criterion)
        examples = self._examples(module, self.previewed).get(function, [])
        call_result = next((r for r in wrong if r.target.function == function), wrong[0])
        first = tuple(name for name in self.rubric.modules if self._is_to_fix_before(name, module))
        return replace(
            graded, call_result=call_result, shown=next(iter(examples), None), depends=False, fix_first=first
        )

    def _is_to_fix_before(self, dependency: str, module: str) -> bool:
        """Whether a module that another one uses is missing, or fails a public call."""
        if dependency not in self.rubric.below(module):
            return False
        public = [self.previewed[test_call] for test_call in self.plan.shown(dependency) if test_call in self.previewed]
        missing = self.runner.is_missing(dependency) or f"{dependency}.py" not in self.runner.submission.files
        return missing or any(call_result.failed for call_result in public)

    def _integration(
        self, criteria: Iterable[Criterion], earned: Mapping[str, Sequence[tuple[Criterion, bool]]]
    ) -> dict[str, CriterionScore]:
        """The criteria of the integration. If one fails, it runs again with references for every module that loses points on
        its own, unless that module earns nothing at all.

        `earned` says which criteria of each module are.
        """
        of_value = {m: [passed for c, passed in own if c.looks_at == "values"] for m, own in earned.items()}
        partly = tuple(
            m
            for m, own in earned.items()
            if self.rubric.explains(m) and any(of_value[m]) and not all(passed for _, passed in own)
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

    def _analysis(self, module: str, call_results: Sequence[CallResult], at_once: bool = False) -> "_Analysis":
        """The diagnosis of a module; functions that lose points and have wrong helpers run again with correct ones."""
        if self.runner.broken(module) is not None:  # nothing to explain
            empty = {name: Diagnosis(empty=True) for name in self.rubric.modules[module].functions}
            return self._scored(_Analysis(module, tuple(call_results), empty))
        if all(not call_result.failed for call_result in call_results):
            return _Analysis(module, tuple(call_results), {}, {c.id: CriterionScore(c) for c in self.rubric.of(module)})
        before = None if at_once else self.at_once[module].diagnoses
        diagnoses = self.diagnoser.explain(module, call_results, before)
        analysis = self._scored(_Analysis(module, tuple(call_results), diagnoses))
        wrong = analysis.wrong_functions
        for function in self.rubric.modules[module].functions:
            helpers = tuple(name for name in self.rubric.helpers(module, (function,)) if name in wrong)
            if helpers and self._may_be_excused(analysis, function):
                again = self._scored(self._with_correct_helpers(analysis, function, helpers))
                # At equal cost, the analysis with fewer unanswered calls says more.
                analysis = min(
                    again, analysis, key=lambda r: (r.cost, sum(x.response.ended is not None for x in r.call_results))
                )
        for function in analysis.diagnoses if not at_once else ():
            analysis = self._repaired(analysis, function)
        return analysis

    def _repaired(self, analysis: "_Analysis", function: str) -> "_Analysis":
        """The analysis in which failures that a single edit fixes are one mistake."""
        diagnosis = analysis.diagnoses[function]
        told = not diagnosis.undecided or diagnosis.named or diagnosis.shared
        explained = diagnosis.complete and diagnosis.sure == diagnosis.misconceptions and told
        several = len(diagnosis.misconceptions) > 1 and len({m.criteria for m in diagnosis.misconceptions}) == 1
        if (explained and not several) or diagnosis.empty or not self._may_be_excused(analysis, function):
            return analysis
        helpers = analysis.helped.get(function, ((), ()))[0]
        repair = self.repairs.search(analysis.module, function, helpers, analysis.call_results)
        if repair is None:
            return analysis if explained else self._repaired_beside(analysis, function, helpers)
        misconception = charged_as(repair, self.rubric, analysis.module, function, analysis.call_results)
        shared = self._fixed_too(analysis, function, repair)
        if shared is not None:
            misconception = replace(misconception, name=shared.name, twice=shared.twice or shared.does)
        diagnoses = analysis.diagnoses | {function: Diagnosis(repair=misconception)}
        return min(self._scored(replace(analysis, diagnoses=diagnoses)), analysis, key=lambda r: r.cost)

    def _fixed_too(self, analysis: "_Analysis", function: str, repair: Repair) -> Misconception | None:
        """The misconception that explains another function which the same edit fixes: a shared line is wrong."""
        for other, diagnosis in analysis.diagnoses.items():
            if other == function or diagnosis.repair or not diagnosis.complete or len(diagnosis.misconceptions) != 1:
                continue
            helpers = analysis.helped.get(other, ((), ()))[0]
            if self.repairs.lines_of(analysis.module, other, helpers, analysis.call_results, *repair[0]):
                return diagnosis.misconceptions[0]
        return None

    def _repaired_beside(self, analysis: "_Analysis", function: str, helpers: tuple[str, ...]) -> "_Analysis":
        """The analysis in which one misconception is named next to an unknown mistake: an edit leaves just this one, or it is
        evident and the cost stays the same.
        """
        own = [call_result for call_result in analysis.call_results if call_result.target.function == function]
        if is_boolean(own):
            return analysis
        search = (analysis.module, function, helpers, analysis.call_results)
        evident = self.diagnoser.evident(analysis.module, function, own)
        left = [candidate for candidate in evident[:1] if self.repairs.beside(*search, candidate.response)]
        told = left or ([] if analysis.diagnoses[function].chosen else [c for c in evident if c.is_evident])
        if len({candidate.ids for candidate in told}) != 1:
            return analysis
        diagnoses = analysis.diagnoses | {function: Diagnosis(told[0])}
        again = self._scored(replace(analysis, diagnoses=diagnoses))
        return again if again.cost == analysis.cost or (left and again.cost < analysis.cost) else analysis

    def _scored(self, analysis: "_Analysis") -> "_Analysis":
        graded = scores(self.rubric, analysis.module, analysis.call_results, analysis.diagnoses)
        lost = [self.rubric.criteria[name] for name, score in graded.items() if not score.passed]
        return replace(analysis, scores=graded, cost=sum(criterion.points for criterion in lost))

    def _may_be_excused(self, analysis: "_Analysis", function: str) -> bool:
        """Whether failing calls of a function cost it criteria other than worked examples."""
        wrong = [r for r in analysis.call_results if r.target.function == function and r.failed]
        lost = {name for name, score in analysis.scores.items() if not score.passed and score.why != "form"}
        lost -= {name for name in lost if self.rubric.criteria[name].looks_at == "examples"}
        return any(call_result.test_call.criterion in lost for call_result in wrong) and not all(map(is_absent, wrong))

    def _with_correct_helpers(self, analysis: "_Analysis", function: str, helpers: tuple[str, ...]) -> "_Analysis":
        """The analysis in which one function runs with correct helpers."""
        every = [call_result.test_call for call_result in analysis.call_results]
        test_calls = with_needed(every, [test_call for test_call in every if test_call.target.function == function])
        responses = self.runner.with_helpers(analysis.module, helpers, test_calls)
        again = {
            r.test_call: r
            for r in compared(test_calls, [responses[s] for s in test_calls])
            if r.target.function == function
        }
        call_results = tuple(again.get(call_result.test_call, call_result) for call_result in analysis.call_results)
        anew = self.diagnoser.explained(analysis.module, function, call_results, {})
        merged = {name: e for name, e in analysis.diagnoses.items() if name != function} | anew
        order = self.rubric.modules[analysis.module].functions
        diagnoses = {name: merged[name] for name in order if name in merged}
        before = tuple(r for r in analysis.call_results if r.target.function == function and r.failed)
        changed = any(not alike(r.test_call, r.response, again[r.test_call].response) for r in before)
        helped = analysis.helped | ({function: (helpers, before)} if changed else {})
        return replace(analysis, call_results=call_results, diagnoses=diagnoses, helped=helped)


@dataclass(frozen=True)
class _Analysis:
    """The analysis of a module: the diagnosis of each wrong function, the score of each criterion, the points lost.

    `helped` are the functions whose results come from runs with correct helpers, each with the helpers that are wrong and the
    results that failed with these.
    """

    module: str
    call_results: tuple[CallResult, ...]
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)
    scores: dict[str, CriterionScore] = field(default_factory=dict)
    cost: float = 0.0
    helped: dict[str, tuple[tuple[str, ...], tuple[CallResult, ...]]] = field(default_factory=dict)

    @cached_property
    def wrong(self) -> frozenset[TestCall]:
        return frozenset(call_result.test_call for call_result in self.call_results if call_result.failed)

    @property
    def wrong_functions(self) -> frozenset[str]:
        return frozenset(call_result.target.function for call_result in self.call_results if call_result.failed)

    def blamed(self, criterion: Criterion, lost_to: str) -> dict[str, CallResult]:
        """The wrong helpers that were replaced when a criterion was decided, each with a call that fails because of it.

        For a lost criterion, those of the function that it is `lost_to`; for another, those that its calls failed because of.
        """
        return {
            helper: call_result
            for function, (helpers, wrong) in self.helped.items()
            for call_result in wrong
            if call_result.test_call.criterion == criterion.id
            and (function == lost_to if lost_to else function not in self.diagnoses)
            for helper in helpers
            if helper in self.diagnoses
        }


def is_boolean(call_results: Sequence[CallResult]) -> bool:
    """Whether results are booleans, which different code often has in common."""
    results = (call_result.test_call.expected for call_result in call_results if call_result.test_call.kind == "call")
    return any(isinstance(value, bool | np.ndarray) and np.asarray(value).dtype.kind == "b" for value in results)


def _smallness(deviation: float) -> int:
    """The order of magnitude of a relative error: 0 above a tenth, 1 above a hundredth, and so on."""
    return max(0, int(-np.log10(deviation))) if 0 < deviation < np.inf else 0


def shown(
    score: CriterionScore,
    diagnoses: Mapping[str, Diagnosis],
    examples: Sequence[CallResult],
    alone: CallResult | None,
) -> CallResult | None:
    """The example that shows the mistake which a criterion is lost to, None if there is none.

    `examples` are the failing ones of its function, largest errors first; `alone` is the first that also fails alone. An
    example that a misconception explains need not run alone.
    """
    if score.call_result is None:
        return None
    diagnosis = diagnoses.get(score.call_result.target.function)
    example, chosen = alone, diagnosis.chosen if diagnosis is not None else None
    if chosen is not None and wrong_in_value(score.call_result):
        every = (*chosen.misconceptions, *chosen.known.misconceptions)
        own = [
            m
            for m in score.misconceptions
            if has(chosen.misconceptions, m) and not any(misconception.memory for misconception in every)
        ]
        if own and chosen.is_complete:
            effects = ((_smallness(chosen.effect(own, e)), e) for e in examples if chosen.shows(own, e))
            example = min(effects, key=itemgetter(0), default=(0, None))[1]
        elif score.why == "unexplained" and alone is not None and chosen.fits(alone):
            example = next((e for e in examples if not chosen.fits(e)), None)  # not one of a mistake named elsewhere
    only_dtype = example is not None and example.failed and example.kind == "dtype"
    in_value = score.call_result.failed and score.call_result.kind != "dtype"
    return None if only_dtype and in_value else example  # a wrong dtype is shown only where it counts


def _same(first: CallResult, second: CallResult) -> bool:
    """Whether a call had the same outcome in two processes."""
    ends, theirs = first.response.ended, second.response.ended
    if ends is not None and theirs is not None:
        return ends.why == theirs.why
    kinds = [call_result.kind if call_result.failed else "" for call_result in (first, second)]
    return kinds[0] == kinds[1] and alike(first.test_call, first.response, second.response)


def _undecided(score: CriterionScore, diagnoses: Mapping[str, Diagnosis], function: str) -> tuple[Misconception, ...]:
    """The misconceptions that are indistinguishable from one that costs this criterion, so that none may be named."""
    concerned = {function, *(misconception.function for misconception in score.misconceptions)}
    undecided = {m.id: m for name in diagnoses if name in concerned for m in diagnoses[name].undecided}
    named_ones = score.criterion.looks_at == "examples"  # these list only named misconceptions
    charged_one = (
        not score.misconceptions or named_ones or any(has(undecided.values(), m) for m in score.misconceptions)
    )
    return tuple(undecided.values()) if charged_one else ()


def _is_sure(misconception: Misconception, diagnoses: Mapping[str, Diagnosis]) -> bool:
    """Whether a misconception may be named."""
    diagnosis = diagnoses.get(misconception.function)
    return diagnosis is None or has(diagnosis.sure, misconception) or not has(diagnosis.misconceptions, misconception)
