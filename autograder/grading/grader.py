"""One submission in, one Result out: the rules of grading.

In which order things are played stands in player.py, what a mistake costs in charge.py.

1. Whatever may be shown: the visible criteria, then the public examples of every function. An example that went wrong is tried
   once more, alone; only then, or where a known mistake explains it, it is shown as a counterexample.
2. The hidden criteria, from the lowest level of modules up.
3. Each function with a wrong call is explained (diagnosis.py), and its mistakes are charged. Of visible criteria, verdicts and
   names come from visible records only: students see them at once.
4. A criterion that is lost without an explanation, while a helper function of the same module is wrong, is tried again with the
   helpers answered by the reference. A verdict can only become better by it.
"""

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.grading import script as scripts
from autograder.grading.charge import Charge, Why, charges
from autograder.grading.diagnosis import Diagnoser, Explanation
from autograder.grading.examples import shown, tells_little
from autograder.grading.explanation import has
from autograder.grading.judge import judged
from autograder.grading.player import Known, Player
from autograder.grading.record import Record, Step
from autograder.grading.script import Script
from autograder.homework import kit
from autograder.homework import reference as references
from autograder.homework.mistakes import Mistake
from autograder.homework.rubric import INTEGRATION, Criterion
from autograder.intake.submission import Submission
from autograder.sandbox.limits import Limits
from autograder.sandbox.messages import Reply
from autograder.sandbox.sandbox import Sandbox


@dataclass(frozen=True)
class Graded:
    """One criterion of one submission.

    `why` it is earned or lost, and the `mistakes` that it was lost to or that its wrong values come from: see Charge.
    `charged` are the other criteria under which these are charged; `unseen` are mistakes that could not be seen
    beside them; `undecided` are several that do the same on every call. `record` is a wrong call, the first that shows them;
    `shown` a public example that does (examples.py); `blamed` are the helpers that a pass was granted without.
    """

    criterion: Criterion
    passed: bool
    why: Why = "right"
    record: Record | None = None
    shown: Record | None = None
    mistakes: tuple[Mistake, ...] = ()
    charged: tuple[str, ...] = ()
    unseen: tuple[Mistake, ...] = ()
    undecided: tuple[Mistake, ...] = ()
    blamed: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """As they count in the end: a dropped criterion gives none, one that is given to all gives all."""
        return self.criterion.most if self.passed or self.criterion.counts else 0.0

    @property
    def hidden_by(self) -> bool:
        """Whether it is lost because the mistakes hide if it is met."""
        return self.why == "hidden"


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
    with Sandbox(limits or script.rubric.limits, scripts.answers, without, kit.secret()) as sandbox:
        grader = Grader(script, sandbox)
        grader.prepare()
        yield grader


class Grader:
    """The script, recorded once, and a sandbox; grades one submission after another."""

    def __init__(self, script: Script, sandbox: Sandbox):
        self.script, self.rubric, self.sandbox = script, script.rubric, sandbox
        self.known: Known = {}
        self.diagnoser = diagnoser_of(script)

    def prepare(self) -> None:
        """Learn what the references ask of one another, so that the answers can travel with the calls from now on.

        The answers are the same for every submission, so they tell no process anything about another one.
        """
        with Player(self.sandbox, self.script, Submission("references", references.files()), {}) as player:
            graded_with(player, self.diagnoser, self.rubric.groups)
            self.known = player.asked

    def grade(self, submission: Submission, modules: Sequence[str] = ()) -> Result:
        """Grade everything, or only some modules (and "integration")."""
        names = tuple(name for name in self.rubric.groups if not modules or name in modules)
        with Player(self.sandbox, self.script, submission, self.known) as player:
            return Result(submission, graded_with(player, self.diagnoser, names), tuple(self.sandbox.layers))


def graded_with(player: Player, diagnoser: Diagnoser, names: tuple[str, ...]) -> tuple[ModuleResult, ...]:
    """What a player's submission earns in these modules (and "integration")."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = _Grading(player.script, player, diagnoser).all(names)
    return tuple(found[name] for name in names)


def diagnoser_of(script: Script) -> Diagnoser:
    """What explains submissions that are played on a script."""
    steps = {m: (*script.shown(m), *script.hidden.get(m, ())) for m in script.rubric.modules}
    return Diagnoser(script.rubric, steps)


class _Grading:
    """One submission on its way; the methods stand in the order in which they are needed."""

    def __init__(self, script: Script, player: Player, diagnoser: Diagnoser):
        self.script, self.rubric, self.player, self.diagnoser = script, script.rubric, player, diagnoser
        self.replies: dict[Step, Reply] = {}
        # Of each function the wrong public examples, those first that tell much, and the first that is wrong also alone.
        self.examples: dict[str, dict[str, list[Record]]] = {}
        self.alone: dict[str, dict[str, Record | None]] = {}

    def all(self, names: tuple[str, ...]) -> dict[str, ModuleResult]:
        self.replies |= self.player.shown(names)
        self.examples = {module: self._examples(module) for module in names}
        self.alone = {m: {f: self._alone(own) for f, own in found.items()} for m, found in self.examples.items()}
        results: dict[str, ModuleResult] = {}
        for number, level in enumerate(self.player.levels):
            self.replies |= self.player.hidden(number)
            results |= {module: self._result(number, module) for module in level.modules}
        return results

    def _examples(self, module: str) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        if module != INTEGRATION and self.player.broken(module) is None:
            for example in sorted(self._records(self.script.examples[module]), key=tells_little):
                if example.fault is not None:
                    found.setdefault(example.target.function, []).append(example)
        return found

    def _alone(self, examples: Sequence[Record]) -> Record | None:
        """The first of some wrong examples that is wrong also when it is played alone."""
        for example in examples:
            again = example if _unwritten(example) else self._records([example.step], alone=True)[0]
            if again.fault is not None:
                return again
        return None

    def _records(self, steps: Sequence[Step], alone: bool = False) -> list[Record]:
        replies = [self.player.alone(step) if alone else self.replies[step] for step in steps]
        return judged(steps, replies)

    def _result(self, number: int, module: str) -> ModuleResult:
        broken = self.player.broken(module)
        visible = tuple(self._records(self.script.shown(module)))
        records = (*visible, *self._records(self.script.hidden.get(module, ())))
        graded = tuple(self._graded(module, visible, records))
        if module != INTEGRATION and broken is None:
            graded = tuple(self._with_helpers(number, graded, records))
        return ModuleResult(module, graded, broken, records)

    def _graded(self, module: str, visible: Sequence[Record], records: Sequence[Record]) -> Iterator[Graded]:
        """Every criterion of a module: the visible ones from visible records, the others from all."""
        at_once, later = self._charged(module, visible), self._charged(module, records)
        for criterion in self.rubric.of(module):
            explanations, charges = at_once if criterion.visible else later
            charge = charges[criterion.id]
            function = charge.record.target.function if charge.record is not None else ""
            undecided = _undecided(charge, explanations, function)
            examples = self.examples.get(module, {}).get(function, [])
            yield Graded(
                criterion,
                charge.earned,
                charge.why,
                charge.record,
                shown(charge, explanations, examples, self.alone.get(module, {}).get(function)),
                tuple(m for m in charge.mistakes if not has(undecided, m) and _is_sure(m, explanations)),
                tuple(name for name in charge.under if name != criterion.id),
                charge.unseen,
                undecided,
            )

    def _charged(self, module: str, records: Sequence[Record]) -> tuple[dict[str, Explanation], dict[str, Charge]]:
        explanations = {} if module == INTEGRATION else self.diagnoser.explain(module, records)
        return explanations, charges(self.rubric, module, records, explanations, self.diagnoser)

    def _with_helpers(self, number: int, graded: tuple[Graded, ...], records: Sequence[Record]) -> Iterator[Graded]:
        """Lost criteria once more, with the wrong helpers of their functions answered by the reference; one process for each
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
        """The wrong helpers of a criterion that is worth trying again: not where its own function is unwritten or has ended."""
        record = one.record
        if one.passed or one.why not in ("unexplained", "hidden", "mistake") or record is None:
            return ()
        if record.reply.ended is not None or _unwritten(record):
            return ()
        return tuple(f for f in self.rubric.helpers(one.criterion.module, one.criterion.grades) if f in wrong)


def _undecided(charge: Charge, explanations: Mapping[str, Explanation], function: str) -> tuple[Mistake, ...]:
    """Those that do the same on every call as a mistake that is charged, so that none of them may be named."""
    concerned = {function, *(mistake.function for mistake in charge.mistakes)}
    found = {m.id: m for name in explanations if name in concerned for m in explanations[name].undecided}
    charged_one = not charge.mistakes or any(has(found.values(), mistake) for mistake in charge.mistakes)
    return tuple(found.values()) if charged_one else ()


def _is_sure(mistake: Mistake, explanations: Mapping[str, Explanation]) -> bool:
    """Whether a mistake may be told: not where it is only charged, since it explains some of the calls."""
    explanation = explanations.get(mistake.function)
    return explanation is None or has(explanation.sure, mistake) or not has(explanation.mistakes, mistake)


def _unwritten(record: Record) -> bool:
    return record.reply.error is not None and record.reply.error.kind == "NotImplementedError"
