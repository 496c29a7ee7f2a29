"""One submission in, one Result out: the rules of grading. In which order things are played stands in player.py.

1. Whatever may be shown: the visible criteria, then the public examples of every function. An example that went wrong is tried once
   more, alone; only then it is shown as a counterexample.
2. The hidden criteria, from the lowest level of modules up.
3. A criterion that failed while a helper function of the same module is wrong is tried again with the helpers answered by the
   reference: nobody pays twice for one mistake. A verdict can only become better by it.
"""

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from autograder.grading import script as scripts
from autograder.grading.diagnosis import diagnose
from autograder.grading.judge import judged
from autograder.grading.player import Known, Player
from autograder.grading.record import Record, Step, Target
from autograder.grading.script import Script
from autograder.homework import reference as references
from autograder.homework.mistakes import Mistake
from autograder.homework.rubric import INTEGRATION, Criterion, Limits
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Reply
from autograder.sandbox.sandbox import Sandbox


@dataclass(frozen=True)
class Graded:
    """One criterion of one submission.

    `record` is the first wrong call of the criterion, also where the criterion is earned in spite of it; `shown` a public example
    that was wrong also when it was played alone. `mistakes` are those that the criterion was lost to or, if it is passed, that
    the wrong values come from; those of a visible criterion are made from visible records only. `charged` is the criterion where
    the same mistakes are charged, "" if that is this one. `hidden_by`: lost because the mistakes hide whether it is right.
    `blamed` are the helpers that a pass was granted without. `undecided` are several mistakes that do the same on every call.
    """

    criterion: Criterion
    passed: bool
    record: Record | None = None
    shown: Record | None = None
    mistakes: tuple[Mistake, ...] = ()
    charged: str = ""
    hidden_by: bool = False
    blamed: tuple[str, ...] = ()
    undecided: tuple[Mistake, ...] = ()

    @property
    def points(self) -> float:
        return self.criterion.points if self.passed else 0.0


@dataclass(frozen=True)
class ModuleResult:
    """What grading one module found, before it is put into words. `broken` says why it could not be imported."""

    module: str
    graded: tuple[Graded, ...]
    broken: Reply | None = None
    records: tuple[Record, ...] = ()


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


@contextlib.contextmanager
def open_grader(without: tuple[str, ...] = (), limits: Limits | None = None) -> Iterator["Grader"]:
    """A grader that is warm: script recorded, sandbox ready. `without` names layers to leave out.

    Raises RubricError, SuiteFault or SandboxFault.
    """
    script = scripts.current()
    with Sandbox(limits or script.rubric.limits, scripts.answers, without) as sandbox:
        grader = Grader(script, sandbox)
        grader.prepare()
        yield grader


class Grader:
    """The script, recorded once, and a sandbox; grades one submission after another."""

    def __init__(self, script: Script, sandbox: Sandbox):
        self.script, self.rubric, self.sandbox = script, script.rubric, sandbox
        self.known: Known = {}

    def prepare(self) -> None:
        """Learn what the references ask of one another, so that the answers can travel with the calls from now on.

        The answers are the same for every submission, so they tell no process anything about another one.
        """
        with Player(self.sandbox, self.script, Submission("references", references.files()), {}) as player:
            _Grading(self.script, player).all(self.rubric.groups)
            self.known = player.asked

    def grade(self, submission: Submission, modules: Sequence[str] = ()) -> Result:
        """Grade everything, or only some modules (and "integration")."""
        names = tuple(name for name in self.rubric.groups if not modules or name in modules)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            with Player(self.sandbox, self.script, submission, self.known) as player:
                found = _Grading(self.script, player).all(names)
        return Result(submission, tuple(found[name] for name in names), tuple(self.sandbox.layers))


class _Grading:
    """One submission on its way; the methods stand in the order in which they are needed."""

    def __init__(self, script: Script, player: Player):
        self.script, self.rubric, self.player = script, script.rubric, player
        self.replies: dict[Step, Reply] = {}
        self.counterexamples: dict[str, dict[str, Record]] = {}

    def all(self, names: tuple[str, ...]) -> dict[str, ModuleResult]:
        self.replies |= self.player.shown(names)
        self.counterexamples = {m: self._counterexamples(m) for m in names if m != INTEGRATION}
        results: dict[str, ModuleResult] = {}
        for number, level in enumerate(self.player.levels):
            self.replies |= self.player.hidden(number)
            results |= {module: self._result(number, module) for module in level.modules}
        return results

    def _counterexamples(self, module: str) -> dict[str, Record]:
        """For each function, the first of its public examples that is wrong also when it is played alone."""
        found: dict[str, Record] = {}
        for example in self._records(self.script.examples[module]):
            function = example.target.function
            if example.fault is None or function in found or self.player.broken(module) is not None:
                continue
            again = example if _unwritten(example) else self._records([example.step], alone=True)[0]
            if again.fault is not None:
                found[function] = again
        return found

    def _records(self, steps: Sequence[Step], alone: bool = False) -> list[Record]:
        replies = [self.player.alone(step) if alone else self.replies[step] for step in steps]
        return judged(steps, replies)

    def _result(self, number: int, module: str) -> ModuleResult:
        broken = self.player.broken(module)
        steps = (*self.script.shown(module), *self.script.hidden.get(module, ()))
        records = tuple(self._records(steps))
        named = cache(lambda target: diagnose(target, records))
        graded = tuple(self._graded(criterion, records, named) for criterion in self.rubric.of(module))
        if module != INTEGRATION and broken is None:
            graded = tuple(self._with_helpers(number, graded, records))
        return ModuleResult(module, graded, broken, records)

    def _graded(self, criterion: Criterion, records: Sequence[Record], named: object) -> Graded:
        wrong = next((r for r in records if r.step.criterion == criterion.id and r.fault is not None), None)
        if wrong is None:
            return Graded(criterion, True)
        shown = self.counterexamples.get(criterion.module, {}).get(wrong.target.function)
        return Graded(criterion, False, wrong, _fitting(shown, wrong), named(wrong.target))  # type: ignore[operator]

    def _with_helpers(self, number: int, graded: tuple[Graded, ...], records: Sequence[Record]) -> Iterator[Graded]:
        """Failed criteria once more, with the wrong helpers of their functions answered by the reference; one process for each
        set of wrong helpers."""
        wrong = {record.target.function for record in records if record.fault is not None}
        sets = {one.criterion: self._helpers(one, wrong) for one in graded}
        retried: dict[Criterion, bool] = {}
        for helpers in dict.fromkeys(h for h in sets.values() if h):
            criteria = [criterion for criterion, needed in sets.items() if needed == helpers]
            steps = [r.step for r in records if r.step.criterion in {c.id for c in criteria}]
            replies = self.player.with_helpers(number, criteria[0].module, helpers, steps)
            again = judged(steps, [replies[step] for step in steps])
            lost = {record.step.criterion for record in again if record.fault is not None}
            retried |= {criterion: criterion.id not in lost for criterion in criteria}
        for one in graded:
            yield Graded(one.criterion, True, blamed=sets[one.criterion]) if retried.get(one.criterion) else one

    def _helpers(self, one: Graded, wrong: set[str]) -> tuple[str, ...]:
        """The wrong helpers of a failed criterion's functions, none where its own functions have ended their process."""
        if one.passed or (one.record is not None and one.record.reply.ended is not None):
            return ()
        return tuple(f for f in self.rubric.helpers(one.criterion.module, one.criterion.grades) if f in wrong)


def _unwritten(record: Record) -> bool:
    return record.reply.error is not None and record.reply.error.kind == "NotImplementedError"


def _fitting(shown: Record | None, record: Record) -> Record | None:
    """A counterexample of a dtype is shown only where the dtype counted."""
    only_dtype = shown is not None and shown.fault is not None and shown.fault.kind == "dtype"
    return None if only_dtype and record.fault is not None and record.fault.kind != "dtype" else shown


__all__ = ["Graded", "Grader", "ModuleResult", "Result", "Target", "open_grader"]
