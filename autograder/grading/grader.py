"""One submission in, one Result out: the rules of grading.

All modules are first tried in one process, each with neighbours of its own; a module that passes everything there has passed.
So has the integration, which may also fail there, where a module that it builds on fails alone as well.
For each other module, alone, in a process of its own:
1. the visible criteria, then the public examples of every function: whatever a student is ever shown comes from here, before
   the process has been given any hidden input;
2. the hidden criteria;
3. a criterion that failed while a helper function of the same module is wrong is tried again, in a new process, with the
   helpers answered by the reference: nobody pays twice for one mistake.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from autograder.grading.compare import TOLERANCE, compare, tolerance
from autograder.grading.diagnosis import diagnose
from autograder.grading.runner import Outcome, Suites
from autograder.grading.suite import Fault, Log, Record, Target
from autograder.grading.trial import Trial
from autograder.homework import catalogue
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, Criterion, Limits, Rubric
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Reply
from autograder.sandbox.sandbox import Sandbox


@dataclass(frozen=True)
class Graded:
    """One criterion of one submission. `blamed` are the helpers that a pass was granted without."""

    criterion: Criterion
    passed: bool
    record: Record | None = None
    shown: Record | None = None
    misconception: catalogue.Misconception | None = None
    blamed: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return self.criterion.points if self.passed else 0.0


@dataclass(frozen=True)
class ModuleResult:
    """What grading one module found, before it is put into words."""

    module: str
    graded: tuple[Graded, ...]
    broken: Reply | None = None
    log: Log = field(default_factory=Log, repr=False)


@dataclass(frozen=True)
class Result:
    """A submission graded: everything that reports are made from."""

    submission: Submission
    modules: tuple[ModuleResult, ...]
    layers: tuple[str, ...]

    @property
    def graded(self) -> list[Graded]:
        return [graded for module in self.modules for graded in module.graded]

    @property
    def points(self) -> float:
        return sum(graded.points for graded in self.graded)


@contextmanager
def open_grader(without: tuple[str, ...] = (), limits: Limits | None = None) -> Iterator["Grader"]:
    """A grader that is warm: suites collected, sandbox ready. `without` names layers to leave out.

    Raises RubricError or SandboxFault.
    """
    rubric = rubrics.current()
    suites = Suites(rubric)
    with Sandbox(limits or rubric.limits, without) as sandbox:
        yield Grader(rubric, suites, sandbox)


class Grader:
    """The suites, collected once, and a sandbox; grades one submission after another."""

    def __init__(self, rubric: Rubric, suites: Suites, sandbox: Sandbox):
        self.rubric, self.suites, self.sandbox = rubric, suites, sandbox

    def grade(self, submission: Submission, modules: tuple[str, ...] = ()) -> Result:
        """Grade everything, or only some modules (and "integration")."""
        self.sandbox.place(submission.files)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            names = modules or self.rubric.groups
            known, ended = self._together(submission, names)
            found: dict[str, ModuleResult] = {}
            for name in names:
                if name in known and self._stands(known[name], found):
                    found[name] = known[name]
                else:
                    found[name] = self._alone(submission, name, ended)
        return Result(submission, tuple(found.values()), tuple(self.sandbox.layers))

    def _together(self, submission: Submission, modules: tuple[str, ...]) -> tuple[dict[str, ModuleResult], bool]:
        """The modules that pass everything, and the integration, tried in one process; and whether something ended it.

        Those above come last: while the hidden inputs of a module are known there, nobody may ask for its functions any more.
        """
        student = self.sandbox.start()
        try:
            trials = {m: Trial(self.sandbox, self.rubric, m, submission, shared=student) for m in modules}
            good = [m for m in reversed(self.rubric.groups) if m in trials and trials[m].load() is None]
            outcomes: dict[str, dict[Criterion, Outcome]] = {m: {} for m in good}
            for visible in (True, False):
                for m in good:
                    outcomes[m] |= self._outcomes(trials[m], [c for c in self.rubric.of(m) if c.visible is visible])
                good = [m for m in good if all(outcome.passed for outcome in outcomes[m].values())]
            if INTEGRATION in outcomes and student.ended is None:
                good = [*good, *({INTEGRATION} - set(good))]
        finally:
            student.close()
        return {m: self._result(trials[m], outcomes[m], {}) for m in good}, student.ended is not None

    def _stands(self, together: ModuleResult, found: dict[str, ModuleResult]) -> bool:
        """Whether a result of the shared process is final: all passed, or failed in what builds on a module that fails alone."""
        wrong = {name for name, result in found.items() if not all(graded.passed for graded in result.graded)}
        return all(graded.passed or self._explained(graded, wrong) for graded in together.graded)

    def _explained(self, graded: Graded, wrong: set[str]) -> bool:
        below = [graded.record.target.module] if graded.record is not None else list(self.rubric.modules)
        for name in below:
            below += [other for other in self.rubric.modules[name].uses if other not in below]
        return not wrong.isdisjoint(below)

    def _alone(self, submission: Submission, module: str, one_by_one: bool) -> ModuleResult:
        """A module in a process of its own; call after call where something in the submission ends its process."""
        trial = Trial(self.sandbox, self.rubric, module, submission)
        try:
            outcomes, shown = self._try(trial, one_by_one)
        finally:
            trial.close()
        result = self._result(trial, outcomes, shown)
        if module == INTEGRATION or trial.broken is not None:
            return result
        return replace(result, graded=tuple(self._again(submission, one, trial.log) for one in result.graded))

    def _result(self, trial: Trial, outcomes: dict[Criterion, Outcome], shown: dict[str, Record]) -> ModuleResult:
        named = cache(lambda target: diagnose(target, trial.log.records))
        graded = tuple(_judged(c, outcomes[c], shown, named) for c in self.rubric.of(trial.module))
        return ModuleResult(trial.module, graded, trial.broken, trial.log)

    def _try(self, trial: Trial, one_by_one: bool) -> tuple[dict[Criterion, Outcome], dict[str, Record]]:
        """Every criterion's outcome, and for each wrong function its public counterexample."""
        criteria = self.rubric.of(trial.module)
        if trial.load() is not None:
            return {c: Outcome(False) for c in criteria}, {}
        visible = self._outcomes(trial, [c for c in criteria if c.visible], one_by_one)
        shown = counterexamples(trial)
        return visible | self._outcomes(trial, [c for c in criteria if not c.visible], one_by_one), shown

    def _outcomes(self, trial: Trial, criteria: list[Criterion], one_by_one: bool = False) -> dict[Criterion, Outcome]:
        if not one_by_one:
            self.suites.ask_ahead(criteria, trial)
        return {c: self.suites.run(c.id, trial) for c in criteria}

    def _again(self, submission: Submission, graded: Graded, log: Log) -> Graded:
        """A failed criterion once more, with the wrong helpers of its functions answered by the reference."""
        criterion = graded.criterion
        wrong = {record.target.function for record in log.records if record.fault is not None}
        helpers = tuple(f for f in self.rubric.helpers(criterion.module, criterion.grades) if f in wrong)
        if graded.passed or not helpers or (graded.record is not None and graded.record.reply.ended is not None):
            return graded
        trial = Trial(self.sandbox, self.rubric, criterion.module, submission, helpers)
        try:
            outcome = self._outcomes(trial, [criterion])[criterion]
        finally:
            trial.close()
        if outcome.passed:
            return Graded(criterion, True, blamed=helpers)
        if outcome.record is None:
            return graded
        found = diagnose(outcome.record.target, trial.log.records)
        return replace(graded, record=outcome.record, misconception=found or graded.misconception)


def _judged(
    criterion: Criterion,
    outcome: Outcome,
    shown: dict[str, Record],
    named: Callable[[Target], catalogue.Misconception | None],
) -> Graded:
    record = outcome.record
    if outcome.passed or record is None:
        return Graded(criterion, outcome.passed)
    return Graded(criterion, False, record, _fitting(shown.get(record.target.function), record), named(record.target))


def _fitting(shown: Record | None, record: Record) -> Record | None:
    """A counterexample of a dtype is shown only where the dtype counted."""
    only_dtype = shown is not None and shown.fault is not None and shown.fault.kind == "dtype"
    return None if only_dtype and record.fault is not None and record.fault.kind != "dtype" else shown


def counterexamples(trial: Trial) -> dict[str, Record]:
    """For each function, the first of its public examples on which it is wrong."""
    if trial.module == INTEGRATION:
        return {}
    found: dict[str, Record] = {}
    for function in trial.functions[trial.module]:
        for args, kwargs in catalogue.examples(trial.module, function):
            record = _example(trial, Target(trial.module, function), args, kwargs)
            trial.log.records.append(record)
            if record.fault is not None:
                found.setdefault(function, record)
                if record.reply.ended is not None:
                    break
    return found


def _example(trial: Trial, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Record:
    reply = trial.call(target, args, kwargs, [])
    record = Record(target, args, kwargs, reply, None)
    try:
        expected = trial.expected(target, args, kwargs)
    except ValueError:
        record = replace(record, expects="ValueError")
    if reply.ended is not None:
        return replace(record, fault=Fault("ended", reply.ended.why))
    if record.expects == "ValueError":
        right = reply.error is not None and "ValueError" in reply.error.kinds
        return replace(record, fault=None if right else Fault("no_error", "expected ValueError"))
    if reply.error is not None:
        return replace(record, fault=Fault("raised", reply.error.kind))
    allowed = tolerance((args, kwargs))
    verdict = compare(expected, reply.value, allowed, dtype=allowed == TOLERANCE["float32"])
    fault = Fault(verdict.difference.kind, verdict.difference.text) if verdict.difference else None
    return replace(record, fault=fault, deviation=verdict.deviation)
