"""Grades one Submission; returns a Result (docs/explanation/grading.md).

`graded_with` is the order of everything that reaches a student's process. runner/ makes the calls, explaining.py explains failing
functions, scoring.py computes the points, and examples.py chooses the examples to show.
"""

import contextlib
import gc
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from autograder.exceptions import SandboxError
from autograder.grading.call_results import CallResult, Target, TestCall, compared, reason, wrong_in_value
from autograder.grading.diagnosis import Analysis, Diagnoser, Diagnosis
from autograder.grading.examples import Confirmed, ProbeResult, confirmed, same_outcome, with_example
from autograder.grading.explaining import Explainer
from autograder.grading.plan import Plan, record
from autograder.grading.runner.processes import Runner
from autograder.grading.scoring import CriterionScore, Why, scored
from autograder.grading.student_tests import graded_tests
from autograder.homework.homework import Homework
from autograder.homework.rubric import CHARGES, INTEGRATION, TESTS, Criterion, Rubric
from autograder.sandbox.process import Limits
from autograder.sandbox.protocol import Response
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission
from autograder.submissions.text import few


@dataclass(frozen=True)
class ModuleResult:
    """The result of one module, before it is put into words. `broken` is the error of its import.

    `call_results` are the results that count, `at_home` those of public calls with the student's own files (step 1).
    `unexplained` maps each function that no misconception explains to its results, with correct helpers if it ran with
    them. `probe_results` are the probes of unexplained failing public examples. `otherwise` has its points with the other
    value of `charge`, if they may differ.
    """

    module: str
    graded: tuple[CriterionScore, ...]
    broken: Response | None = None
    call_results: tuple[CallResult, ...] = ()
    at_home: tuple[CallResult, ...] = ()
    unexplained: Mapping[str, tuple[CallResult, ...]] = field(default_factory=dict)
    probe_results: Mapping[TestCall, tuple[ProbeResult, ...]] = field(default_factory=dict)
    otherwise: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A graded submission: the input of all reports."""

    homework: Homework
    submission: Submission
    modules: tuple[ModuleResult, ...]
    layers: tuple[str, ...]

    @property
    def graded(self) -> list[CriterionScore]:
        return [graded for module in self.modules for graded in module.graded]

    @property
    def points(self) -> float:
        return sum(graded.points for graded in self.graded)

    @property
    def totals(self) -> dict[str, float]:
        """The points with each value of `charge`."""
        points = [(module, sum(graded.points for graded in module.graded)) for module in self.modules]
        return {charge: sum(module.otherwise.get(charge, same) for module, same in points) for charge in CHARGES}


@contextlib.contextmanager
def open_grader(homework: Homework, without: tuple[str, ...] = (), limits: Limits | None = None) -> Iterator["Grader"]:
    """Yield a ready grader: test plan recorded, sandbox started, self-test passed. `without` names layers to leave out.

    Raises CommandError or SandboxError.
    """
    plan = record(homework)
    # Importing it into the process of each version would take longer than the students' tests.
    preloaded = ("numpy.testing",) if TESTS in plan.rubric.groups else ()
    with Sandbox(limits or plan.rubric.limits, without, homework.secret, preloaded) as sandbox:
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
    result = grader.grade(Submission("the reference solutions", grader.plan.homework.files), names)
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
            results += (ModuleResult(TESTS, graded_tests(self.sandbox, self.plan.homework, submission)),)
        return Result(self.plan.homework, submission, results, tuple(self.sandbox.layers))


def graded_with(runner: Runner, diagnoser: Diagnoser, names: Collection[str]) -> tuple[ModuleResult, ...]:
    """Grade a runner's submission in these modules (and "integration"), without the students' tests.

    The steps, and what each process may contain, are in runner/processes.py.
    """
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            return tuple(_graded(runner, diagnoser, names))
        finally:
            diagnoser.forget()


def _graded(runner: Runner, diagnoser: Diagnoser, names: Collection[str]) -> Iterator[ModuleResult]:
    plan, rubric, explainer = runner.plan, runner.rubric, Explainer(runner, diagnoser)
    (other_charge,) = {*CHARGES} - {rubric.charge}
    other_rule = rubric.model_copy(update={"charge": other_charge})
    modules = [name for name in rubric.modules if name in names]
    runner.outstanding = {*modules, *(Target(m, f) for m in modules for f in rubric.modules[m].functions)}

    # Step 1: only the student's own files. 1a, every public call.
    at_home = runner.preview(modules)
    failing = [name for name in modules if any(at_home[t].failed for t in plan.public[name])]

    # 1b: a module that uses no other may fail because of another one, so its calls are repeated without the others.
    for module in failing:
        if not rubric.modules[module].uses:
            at_home |= {t: r for t, r in runner.public(module).items() if at_home[t].failed}
    failing = [name for name in failing if any(at_home[t].failed for t in plan.public[name])]
    missing = {name for name in rubric.modules if f"{name}.py" not in runner.submission.files}

    # 1c: the examples to show, where the cause can only be in the module itself.
    examples: dict[str, Confirmed] = {}
    for module in failing:
        if module not in runner.broken and not rubric.below(module) & {*failing, *missing}:
            examples |= confirmed(runner, diagnoser, module, at_home)

    # 1d: all modules together. Calls of visible criteria are public, so they come first.
    criteria = sorted(
        rubric.of(INTEGRATION) if INTEGRATION in names else [], key=lambda criterion: not criterion.visible
    )
    together = {criterion: _together(runner, criterion) for criterion in criteria}

    # Steps 2 to 4, module by module: the modules that it uses are finished, so references may replace them.
    graded: dict[str, tuple[CriterionScore, ...]] = {}
    for module in modules:
        # 2a: the public calls again, beside correct modules.
        public = {test_call: at_home[test_call] for test_call in plan.public[module]}
        if module in failing and rubric.modules[module].uses:
            with_references = runner.public(module)
            public = {t: r if same_outcome(r, with_references[t]) else with_references[t] for t, r in public.items()}

        # 2b: the hidden calls. Criteria that students see immediately are scored from the public calls alone.
        broken, functions = runner.broken.get(module), rubric.modules[module].functions
        diagnoses = {name: Diagnosis(empty=True) for name in functions} if broken is not None else {}
        visible = Analysis(module, tuple(public.values()), diagnoses)
        every = Analysis(module, (*public.values(), *runner.hidden(module).values()), diagnoses)
        for function in functions if broken is None else ():
            visible = diagnoser.diagnosed(visible, function)
            every = diagnoser.diagnosed(every, function)
            # 3: the function again with correct helpers, then its pure calls in a new process. 4: single edits of its source.
            every = explainer.explained(every, function)
            visible = explainer.seen_in_public(visible, every, function)
            runner.outstanding.remove(Target(module, function))
        runner.outstanding -= {module, *(Target(module, function) for function in functions)}

        # The points, and an example for each lost criterion.
        scores = list[CriterionScore]()
        for score in scored(runner, rubric, visible, every, at_home):
            analysis = visible if score.criterion.visible else every
            scores.append(with_example(score, analysis, public, at_home, examples))
            if scores[-1].differs:
                below = rubric.below(module) & runner.submission.imports(module) - missing
                imported = tuple(name for name in rubric.modules if name in below)
                fix_first = tuple(name for name in imported if name in failing)
                scores[-1] = replace(scores[-1], imported=imported, fix_first=fix_first)
        graded[module] = tuple(scores)
        is_right = not every.failing_calls and all(score.passed for score in scores)
        other_scores = scores if is_right else scored(runner, other_rule, visible, every, at_home)
        otherwise = {other_charge: sum(score.points for score in other_scores)}
        tried = [examples[function] for function in functions if function in examples]
        probes = {example.test_call: probe_results for example, probe_results in tried if example is not None}
        preview = tuple(at_home[test_call] for test_call in plan.public[module])
        unexplained = dict(_unexplained(rubric, every))
        yield ModuleResult(module, graded[module], broken, every.call_results, preview, unexplained, probes, otherwise)

    # Step 5: the integration again, with references in place of modules that lost only a part of their points.
    for criterion, (score, _) in together.items():
        if not score.passed and (correct := _replaceable(rubric, plan.together[criterion.id], graded)):
            together[criterion] = _together(runner, criterion, correct)
    if criteria:
        yield ModuleResult(
            INTEGRATION,
            tuple(together[criterion][0] for criterion in rubric.of(INTEGRATION)),
            call_results=tuple(r for criterion in rubric.of(INTEGRATION) for r in together[criterion][1]),
        )


def _together(
    runner: Runner, criterion: Criterion, correct: tuple[str, ...] = ()
) -> tuple[CriterionScore, list[CallResult]]:
    """Grade a criterion of the integration, with references in place of `correct` modules."""
    responses, imported = runner.integration(criterion.id, correct)
    call_results = compared(responses, responses.values())
    failing = next((call_result for call_result in call_results if call_result.failed), None)
    why: Why = "right" if failing is None else "unexplained" if imported else "not_imported"
    return CriterionScore(criterion, why, call_result=failing, blamed=correct), call_results


def _replaceable(
    rubric: Rubric, test_calls: Iterable[TestCall], graded: Mapping[str, Sequence[CriterionScore]]
) -> tuple[str, ...]:
    """Return the modules to replace in a failing criterion; () if one that stays could earn its points with these references."""
    partly = tuple(
        module
        for module, scores in graded.items()
        if rubric.explains(module)
        and any(score.passed for score in scores if score.criterion.looks_at == "values")
        and not all(score.passed for score in scores)
    )
    called = {test_call.target.module for test_call in test_calls}
    used = called.union(*map(rubric.below, called)) - {*partly}
    return partly if all(score.passed for name in used for score in graded.get(name, ())) else ()


def _unexplained(rubric: Rubric, analysis: Analysis) -> Iterator[tuple[str, tuple[CallResult, ...]]]:
    """Yield the functions whose wrong values have no known cause, not even a wrong helper."""
    for function, diagnosis in analysis.diagnoses.items():
        results = tuple(analysis.of(function))
        helpers = set() if function in analysis.helped else rubric.helpers(analysis.module, (function,))
        explained = diagnosis.empty or diagnosis.complete or diagnosis.sure or diagnosis.undecided
        if (explained and not diagnosis.repaired) or not analysis.failing_functions.isdisjoint(helpers):
            continue
        answers = any(r.is_absent or r.response.ended or r.test_call.rules.question for r in results)
        if any(map(wrong_in_value, results)) and not answers:
            yield function, results
