"""One submission in, one Result out: the rules of grading.

In which process things are run stands in runner.py, what a mistake costs in charge.py.

1. The public calls of all modules, together in the preview: visible criteria, and the public examples of every function. Where
   one fails, those of the module are repeated beside references. An example that went wrong is tried once more, alone; only then,
   or where a known mistake explains it, it is shown as a counterexample.
2. Module by module, beside references: the hidden calls.
3. Each function with a wrong call is explained (diagnosis.py), and its mistakes are charged. Of visible criteria, verdicts and
   names come from visible records only: students see them at once. What no known mistake explains is repaired, if one
   small edit of the student's text does it (repair.py), and is then charged as one mistake.
4. A function that is charged with anything while a helper of the same module is wrong, missing, not written or raises, is played
   again beside correct helpers, in a process of its own. Where that costs less it counts: what is right then was the
   helper's fault, what is still wrong is the function's. So nobody is charged for the exception of somebody else.
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
from autograder.grading.call_results import Record, Step, with_needed
from autograder.grading.comparison import judged
from autograder.grading.diagnosis import Diagnoser, Explanation, has, is_absent
from autograder.grading.plan import Script
from autograder.grading.probes import Trial, Tried, is_unsteady, played_again, trials
from autograder.grading.repair import Repair, Repairs, charged_as
from autograder.grading.responses import alike, wrong_in_value
from autograder.grading.runner import Runner
from autograder.grading.scoring import Graded, Why, charges
from autograder.grading.search import is_boolean
from autograder.grading.student_tests import graded_tests
from autograder.grading.thresholds import TIMES
from autograder.homework import kit
from autograder.homework import reference as references
from autograder.homework.library import Mistake
from autograder.homework.rubric import INTEGRATION, TESTS, Criterion
from autograder.sandbox.budget import Limits
from autograder.sandbox.messages import Reply
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission


@dataclass(frozen=True)
class ModuleResult:
    """What grading one module found, before it is put into words. `broken` says why it could not be imported.

    `unexplained` are functions that no known mistake explains, each with its records beside correct helpers, or its own.
    `tried` are the trials of wrong public examples that nothing explains. `at_once` is what visible criteria may be explained
    with, if the module depends on wrong modules of the submission.
    """

    module: str
    graded: tuple[Graded, ...]
    broken: Reply | None = None
    records: tuple[Record, ...] = ()
    unexplained: Mapping[str, tuple[Record, ...]] = field(default_factory=dict)
    tried: Mapping[Step, tuple[Tried, ...]] = field(default_factory=dict)
    at_once: "ModuleResult | None" = None


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

    Raises RubricError, CommandError or SandboxFault.
    """
    script = scripts.current()
    with Sandbox(limits or script.rubric.limits, without, kit.secret()) as sandbox:
        grader = Grader(script, sandbox)
        grader.prepare()
        gc.freeze()  # what stays as long as the grader need not be looked through in every submission
        try:
            yield grader
        finally:
            gc.unfreeze()


class Grader:
    """The script, recorded once, and a sandbox; grades one submission after another."""

    def __init__(self, script: Script, sandbox: Sandbox):
        self.script, self.rubric, self.sandbox = script, script.rubric, sandbox
        self.diagnoser = diagnoser_of(script)

    def prepare(self) -> None:
        """Learn what the references reply: whoever replies alike, byte by byte, need not be read again."""
        right = Submission("references", references.files())
        with Runner.in_sandbox(self.sandbox, self.script, right, is_reference=True) as player:
            graded_with(player, self.diagnoser, self.rubric.groups)

    def grade(self, submission: Submission, modules: Sequence[str] = ()) -> Result:
        """Grade everything, or only some modules (and "integration" and "tests")."""
        names = tuple(name for name in self.rubric.groups if not modules or name in modules)
        with Runner.in_sandbox(self.sandbox, self.script, submission) as player:
            results = graded_with(player, self.diagnoser, names)
        if TESTS in names:
            results += (ModuleResult(TESTS, graded_tests(self.sandbox, self.rubric, submission)),)
        return Result(submission, results, tuple(self.sandbox.layers))


def graded_with(player: Runner, diagnoser: Diagnoser, names: tuple[str, ...]) -> tuple[ModuleResult, ...]:
    """What a player's submission earns in these modules (and "integration"); its tests are graded elsewhere."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = _Grading(player.script, player, diagnoser).all(names)
        finally:
            diagnoser.forget()
    return tuple(results[name] for name in names if name in results)


def diagnoser_of(script: Script) -> Diagnoser:
    """What explains submissions that are played on a script."""
    return Diagnoser(script.rubric, {module: script.in_order(module) for module in script.rubric.modules})


class _Grading:
    """One submission on its way; the methods stand in the order in which they are needed."""

    def __init__(self, script: Script, player: Runner, diagnoser: Diagnoser):
        self.script, self.rubric, self.player, self.diagnoser = script, script.rubric, player, diagnoser
        self.records: dict[Step, Record] = {}  # from beside references
        self.previewed: dict[Step, Record] = {}  # of public calls, from the preview
        self.depends = set[str]()  # modules whose public calls differ in the preview: see _run
        self.repairs = Repairs(player)
        # Of each function the wrong public examples, those first that tell much, and the first that is wrong also alone.
        self.examples: dict[str, dict[str, list[Record]]] = {}
        self.alone: dict[str, dict[str, Record | None]] = {}
        self.at_once: dict[str, _Reading] = {}
        self.tried: dict[str, dict[Step, tuple[Tried, ...]]] = {}
        self.first_tries: dict[str, Graded] = {}  # of criteria of the integration

    def all(self, names: tuple[str, ...]) -> dict[str, ModuleResult]:
        modules = [name for name in names if name in self.rubric.modules]
        whole = self.rubric.of(INTEGRATION) if INTEGRATION in names else []
        # Everything that may be shown is made before the first hidden call: a process could leave a mark for a later one.
        self.previewed = self.player.preview(modules)
        for module in modules:
            self._make_public_calls(module)
        for module in modules:
            self._read_public_calls(module)
        visible = {m: [c for c in self.rubric.of(m) if c.visible] for m in modules}
        at_once = {m: [(c, self.at_once[m].charges[c.id].passed) for c in own] for m, own in visible.items()}
        together = self._integration([criterion for criterion in whole if criterion.visible], at_once)
        later = [criterion for criterion in whole if not criterion.visible]
        if not any(record.fault for record in self.previewed.values()):
            # Nothing has taken the place of the preview's process.
            self.first_tries = {criterion.id: self._together(criterion) for criterion in later}
        results: dict[str, ModuleResult] = {}
        # The module whose process is still there goes on in it.
        for module in sorted(modules, key=self.player.has_ended):
            self.records |= self.player.hidden(module)
        for module in modules:
            results[module] = self._result(module)
        earned = {m: [(graded.criterion, graded.passed) for graded in result.graded] for m, result in results.items()}
        together |= self._integration(later, earned)
        if whole:
            records = self._records([step for criterion in whole for step in self.script.together(criterion.id)])
            graded = tuple(together[criterion.id] for criterion in whole)
            results[INTEGRATION] = ModuleResult(INTEGRATION, graded, None, tuple(records))
        return results

    def _make_public_calls(self, module: str) -> None:
        """The public calls of a module that fail in the preview are repeated beside references, with all others of the module.

        If they fail differently there, the module `depends` on modules of the submission that are wrong or missing.
        """
        public = {step: self.previewed[step] for step in self.script.shown(module)}
        records = dict(public)
        if any(record.fault is not None for record in public.values()):
            beside = self.player.public(module)
            if not all(_same(record, beside[step]) for step, record in public.items()):
                self.depends.add(module)
                records = beside
        self.records |= records

    def _read_public_calls(self, module: str) -> None:
        """The examples to show, alone and with probes, and the diagnosis of the visible criteria."""
        is_broken = self.player.broken(module) is not None
        self.examples[module] = {} if is_broken else self._examples(module, self.records)
        self.at_once[module] = self._reading(module, self._records(self.script.shown(module)), at_once=True)
        explanations = self.at_once[module].explanations
        self.alone[module] = {name: self._alone(own, explanations[name]) for name, own in self.examples[module].items()}
        self.tried[module] = self._trials(module)

    def _examples(self, module: str, records: Mapping[Step, Record]) -> dict[str, list[Record]]:
        by_function: dict[str, list[Record]] = {}
        for example in sorted(
            (records[step] for step in self.script.examples[module]), key=lambda record: _smallness(record.deviation)
        ):
            if example.fault is not None:
                by_function.setdefault(example.target.function, []).append(example)
        return by_function

    def _alone(self, examples: Sequence[Record], explanation: Explanation) -> Record | None:
        """The first of some wrong examples that is wrong also when it is run alone; one that is explained need not be run."""
        for example in examples:
            if explanation.replies_so(example):
                return example
            together = example.target.module not in self.depends
            reply = example.reply if example.unwritten else self.player.alone(example.step, together)
            again = judged([example.step], [reply])[0]
            if again.fault is not None:
                return again
        return None

    def _trials(self, module: str) -> dict[Step, tuple[Tried, ...]]:
        """Trials of one wrong public example of each function that nothing explains so far; of a call whose result is not
        always the same, only that call, several times."""
        explanations, alone = self.at_once[module].explanations, self.alone[module]
        unexplained = {name: own for name, own in self.examples[module].items() if not explanations[name].complete}
        examples = [alone.get(name) or own[0] for name, own in unexplained.items()]
        wrong = [e for e in examples if e.reply.ended is None and not is_absent(e)]
        doubtful = {e.target.function for e in wrong} | (explanations.keys() - self.examples[module].keys())
        random = self._random(module, doubtful)
        unsteady = {e.step: random[e.target.function] for e in wrong if e.target.function in random}
        unsteady |= {own[0].trial.step: own for own in random.values()}
        of = {e.step: trials(e.step) for e in wrong if e.step not in unsteady and e in alone.values()}
        records = iter(self._tried(module, [trial.step for own in of.values() for trial in own]))
        tried = {step: list(map(Tried, own, islice(records, len(own)))) for step, own in of.items()}
        return unsteady | {step: played_again(own, partial(self._tried, module)) for step, own in tried.items()}

    def _random(self, module: str, functions: Set[str]) -> dict[str, tuple[Tried, ...]]:
        """A public call, made several times, for each unexplained function of some whose result is not always the same."""
        unexplained = {name for name in functions if not self.at_once[module].explanations[name].complete}
        steps = [step for step in self.script.examples[module] if step.target.function in unexplained]
        repeated = self._tried(module, [step for step in steps for _ in range(TIMES)])
        of_steps = [tuple(Tried(Trial(step), r) for r in repeated if r.step is step) for step in steps]
        return {own[0].trial.step.target.function: own for own in of_steps if is_unsteady(own)}

    def _tried(self, module: str, steps: Sequence[Step]) -> list[Record]:
        """Made-up public calls; fewer where they take long."""
        replies = self.player.probes(module, steps, module not in self.depends) if steps else []
        return [judged([step], [reply])[0] for step, reply in zip(steps, replies, strict=False)]

    def _records(self, steps: Sequence[Step]) -> list[Record]:
        return [self.records[step] for step in steps]

    def _result(self, module: str) -> ModuleResult:
        broken = self.player.broken(module)
        records = self._records((*self.script.shown(module), *self.script.hidden.get(module, ())))
        reading = self._reading(module, records)
        graded, unexplained = tuple(self._graded(module, reading)), dict(self._unexplained(reading))
        result = ModuleResult(module, graded, broken, tuple(records), unexplained, self.tried[module])
        if module not in self.depends:
            return result
        previewed = tuple(self.previewed[step] for step in self.script.shown(module))
        return replace(result, at_once=ModuleResult(module, graded, broken, previewed))

    def _unexplained(self, reading: "_Reading") -> Iterator[tuple[str, tuple[Record, ...]]]:
        """The functions whose wrong values have no known cause: none of their own, and no helper that is unexplained as well."""
        for function, explanation in reading.explanations.items():
            own = tuple(record for record in reading.records if record.target.function == function)
            helpers = set() if function in reading.helped else self.rubric.helpers(reading.module, (function,))
            explained = explanation.empty or explanation.complete or explanation.sure or explanation.undecided
            if (explained and not explanation.repair) or any(name in reading.wrong_functions for name in helpers):
                continue
            is_quiz = any(record.step.rules.question for record in own)
            if any(map(wrong_in_value, own)) and not is_quiz and not any(is_absent(r) or r.reply.ended for r in own):
                yield function, own

    def _graded(self, module: str, later: "_Reading") -> Iterator[Graded]:
        """Every criterion of a module: the visible ones from visible records, the others from all."""
        readings = {c.id: self.at_once[module] if c.visible else later for c in self.rubric.of(module)}
        lost = {name for name, reading in readings.items() if not reading.charges[name].passed}
        for criterion in self.rubric.of(module):
            reading = readings[criterion.id]
            charge, explanations = reading.charges[criterion.id], reading.explanations
            if not explanations:
                yield charge
                continue
            function = charge.record.target.function if charge.record is not None else ""
            undecided = _undecided(charge, explanations, function)
            examples = [e for e in self.examples.get(module, {}).get(function, []) if e.step in reading.wrong]
            alone = self.alone.get(module, {}).get(function)
            # What is lost without a wrong call, since too little is right, is lost to nobody's helper.
            blamed = reading.blamed(criterion, function) if function or charge.passed else {}
            graded = replace(
                charge,
                record=charge.record or next(iter(blamed.values()), None),
                shown=shown(charge, explanations, examples, alone if alone and alone.step in reading.wrong else None),
                mistakes=tuple(m for m in charge.mistakes if not has(undecided, m) and _is_sure(m, explanations)),
                charged=tuple(name for name in charge.charged if name != criterion.id and name in lost),
                undecided=undecided,
                blamed=tuple(blamed),
                at_least=any(explanations[m.function].at_least for m in charge.mistakes if m.function in explanations),
                depends=alone is None and bool(examples) and all(example.reply.ended is None for example in examples),
            )
            is_at_once = criterion.visible and module in self.depends and not charge.passed
            yield self._shown_at_once(graded, function) if is_at_once else graded

    def _shown_at_once(self, graded: Graded, function: str) -> Graded:
        """A lost visible criterion of a module that depends on wrong modules: it passes if it does so in the preview, and what is
        shown of it comes from the preview."""
        module = graded.criterion.module
        own = [self.previewed[step] for step in self.script.shown(module)]
        wrong = [r for r in own if r.step.criterion == graded.criterion.id and r.fault is not None]
        if not wrong:
            return Graded(graded.criterion)
        examples = self._examples(module, self.previewed).get(function, [])
        record = next((r for r in wrong if r.target.function == function), wrong[0])
        first = tuple(name for name in self.rubric.modules if self._is_to_fix_before(name, module))
        return replace(graded, record=record, shown=next(iter(examples), None), depends=False, fix_first=first)

    def _is_to_fix_before(self, dependency: str, module: str) -> bool:
        """Whether a module that another one uses is missing, or wrong in a public call."""
        if dependency not in self.rubric.below(module):
            return False
        public = [self.previewed[step] for step in self.script.shown(dependency) if step in self.previewed]
        missing = self.player.is_missing(dependency) or f"{dependency}.py" not in self.player.submission.files
        return missing or any(record.fault is not None for record in public)

    def _integration(
        self, criteria: Iterable[Criterion], earned: Mapping[str, Sequence[tuple[Criterion, bool]]]
    ) -> dict[str, Graded]:
        """Criteria of the integration. A criterion that fails is tried again with the reference in place of every module that
        loses points on its own, unless that module earns nothing at all.

        `earned` says of each module which criteria are.
        """
        partly = tuple(m for m, own in earned.items() if self.rubric.explains(m) and _is_partly_right(own))
        graded: dict[str, Graded] = {}
        for criterion in criteria:
            graded[criterion.id] = self.first_tries.get(criterion.id) or self._together(criterion)
            if not graded[criterion.id].passed and partly:
                graded[criterion.id] = self._together(criterion, partly)
        return graded

    def _together(self, criterion: Criterion, correct: tuple[str, ...] = ()) -> Graded:
        replies, imported = self.player.integration(criterion.id, correct)
        records = judged(replies, replies.values())
        self.records |= {record.step: record for record in records}
        wrong = next((record for record in records if record.fault is not None), None)
        why: Why = "right" if wrong is None else "unexplained" if imported else "not imported"
        return Graded(criterion, why, record=wrong, blamed=correct)

    def _reading(self, module: str, records: Sequence[Record], at_once: bool = False) -> "_Reading":
        """What the records of a module say, each function that is charged and has wrong helpers played beside correct ones."""
        if self.player.broken(module) is not None:  # there is nothing to explain
            empty = {name: Explanation(empty=True) for name in self.rubric.modules[module].functions}
            return self._charged(_Reading(module, tuple(records), empty))
        if all(record.fault is None for record in records):
            return _Reading(module, tuple(records), {}, {c.id: Graded(c) for c in self.rubric.of(module)})
        before = None if at_once else self.at_once[module].explanations
        explanations = self.diagnoser.explain(module, records, before)
        reading = self._charged(_Reading(module, tuple(records), explanations))
        wrong = reading.wrong_functions
        for function in self.rubric.modules[module].functions:
            helpers = tuple(name for name in self.rubric.helpers(module, (function,)) if name in wrong)
            if helpers and self._may_be_excused(reading, function):
                again = self._charged(self._played_again(reading, function, helpers))
                # Of two readings that cost the same, the one with fewer steps without a reply says more.
                reading = min(again, reading, key=lambda r: (r.cost, sum(x.reply.ended is not None for x in r.records)))
        for function in reading.explanations if not at_once else ():
            reading = self._repaired(reading, function)
        return reading

    def _repaired(self, reading: "_Reading", function: str) -> "_Reading":
        """A reading in which what one edit of a function's text makes right is one mistake."""
        explanation = reading.explanations[function]
        told = not explanation.undecided or explanation.named or explanation.shared
        explained = explanation.complete and explanation.sure == explanation.mistakes and told
        several = len(explanation.mistakes) > 1 and len({m.criteria for m in explanation.mistakes}) == 1
        if (explained and not several) or explanation.empty or not self._may_be_excused(reading, function):
            return reading
        helpers = reading.helped.get(function, ((), ()))[0]
        repair = self.repairs.search(reading.module, function, helpers, reading.records)
        if repair is None:
            return reading if explained else self._repaired_beside(reading, function, helpers)
        mistake = charged_as(repair, self.rubric, reading.module, function, reading.records)
        shared = self._fixed_too(reading, function, repair)
        if shared is not None:
            mistake = replace(mistake, name=shared.name, twice=shared.twice or shared.does)
        explanations = reading.explanations | {function: Explanation(repair=mistake)}
        return min(self._charged(replace(reading, explanations=explanations)), reading, key=lambda r: r.cost)

    def _fixed_too(self, reading: "_Reading", function: str, repair: Repair) -> Mistake | None:
        """The misconception that explains another function, if the same edit fixes that function too: a shared line is wrong."""
        for other, explanation in reading.explanations.items():
            if other == function or explanation.repair or not explanation.complete or len(explanation.mistakes) != 1:
                continue
            helpers = reading.helped.get(other, ((), ()))[0]
            if self.repairs.lines_of(reading.module, other, helpers, reading.records, *repair[0]):
                return explanation.mistakes[0]
        return None

    def _repaired_beside(self, reading: "_Reading", function: str, helpers: tuple[str, ...]) -> "_Reading":
        """A reading in which one known mistake is told of a function that has another one too: an edit leaves just that one, or
        it alone is evident, and costs nothing more or less."""
        own = [record for record in reading.records if record.target.function == function]
        if is_boolean(own):
            return reading
        search = (reading.module, function, helpers, reading.records)
        evident = self.diagnoser.evident(reading.module, function, own)
        left = [candidate for candidate in evident[:1] if self.repairs.beside(*search, candidate.reply)]
        told = left or ([] if reading.explanations[function].chosen else [c for c in evident if c.is_evident])
        if len({candidate.ids for candidate in told}) != 1:
            return reading
        explanations = reading.explanations | {function: Explanation(told[0])}
        again = self._charged(replace(reading, explanations=explanations))
        return again if again.cost == reading.cost or (left and again.cost < reading.cost) else reading

    def _charged(self, reading: "_Reading") -> "_Reading":
        graded = charges(self.rubric, reading.module, reading.records, reading.explanations)
        lost = [self.rubric.criteria[name] for name, charge in graded.items() if not charge.passed]
        return replace(reading, charges=graded, cost=sum(criterion.points for criterion in lost))

    def _may_be_excused(self, reading: "_Reading", function: str) -> bool:
        """Whether calls of a function, which is there and written, are charged to it; worked examples go by value."""
        wrong = [r for r in reading.records if r.target.function == function and r.fault is not None]
        lost = {name for name, charge in reading.charges.items() if not charge.passed and charge.why != "form"}
        lost -= {name for name in lost if self.rubric.criteria[name].looks_at == "examples"}
        return any(record.step.criterion in lost for record in wrong) and not all(map(is_absent, wrong))

    def _played_again(self, reading: "_Reading", function: str, helpers: tuple[str, ...]) -> "_Reading":
        """A reading in which one function was played beside correct helpers."""
        every = [record.step for record in reading.records]
        steps = with_needed(every, [step for step in every if step.target.function == function])
        replies = self.player.with_helpers(reading.module, helpers, steps)
        again = {r.step: r for r in judged(steps, [replies[s] for s in steps]) if r.target.function == function}
        records = tuple(again.get(record.step, record) for record in reading.records)
        anew = self.diagnoser.explained(reading.module, function, records, {})
        merged = {name: e for name, e in reading.explanations.items() if name != function} | anew
        order = self.rubric.modules[reading.module].functions
        explanations = {name: merged[name] for name in order if name in merged}
        before = tuple(r for r in reading.records if r.target.function == function and r.fault is not None)
        changed = any(not alike(r.step, r.reply, again[r.step].reply) for r in before)
        helped = reading.helped | ({function: (helpers, before)} if changed else {})
        return replace(reading, records=records, explanations=explanations, helped=helped)


@dataclass(frozen=True)
class _Reading:
    """What a module's records say: an explanation of each wrong function, the charge of each criterion, the points lost.

    `helped` are the functions whose records come from beside correct helpers, with the helpers that were wrong and the
    records that had been wrong beside these.
    """

    module: str
    records: tuple[Record, ...]
    explanations: dict[str, Explanation] = field(default_factory=dict)
    charges: dict[str, Graded] = field(default_factory=dict)
    cost: float = 0.0
    helped: dict[str, tuple[tuple[str, ...], tuple[Record, ...]]] = field(default_factory=dict)

    @cached_property
    def wrong(self) -> frozenset[Step]:
        return frozenset(record.step for record in self.records if record.fault is not None)

    @property
    def wrong_functions(self) -> frozenset[str]:
        return frozenset(record.target.function for record in self.records if record.fault is not None)

    def blamed(self, criterion: Criterion, lost_to: str) -> dict[str, Record]:
        """The wrong helpers beside whose correct versions a criterion was judged, each with a call that had been wrong.

        Of a criterion that is lost, those of the function that it is `lost_to`; of another, those that calls of it were wrong by.
        """
        return {
            helper: record
            for function, (helpers, wrong) in self.helped.items()
            for record in wrong
            if record.step.criterion == criterion.id
            and (function == lost_to if lost_to else function not in self.explanations)
            for helper in helpers
            if helper in self.explanations
        }


def _smallness(deviation: float) -> int:
    """The order of magnitude of a relative error: 0 above a tenth, 1 above a hundredth, and so on."""
    return max(0, int(-np.log10(deviation))) if 0 < deviation < np.inf else 0


def shown(
    charge: Graded, explanations: Mapping[str, Explanation], examples: Sequence[Record], alone: Record | None
) -> Record | None:
    """The example that shows a mistake which the criterion was lost to; None: none does.

    `examples` are the wrong ones of the criterion's function, those first that show the largest error; `alone` is the first
    that is wrong also when it is played alone. An example that is wrong by a known mistake need not be tried alone.
    """
    if charge.record is None:
        return None
    explanation = explanations.get(charge.record.target.function)
    example, chosen = alone, explanation.chosen if explanation is not None else None
    if chosen is not None and wrong_in_value(charge.record):
        every = (*chosen.mistakes, *chosen.table.helpers)
        own = [m for m in charge.mistakes if has(chosen.mistakes, m) and not any(mistake.memory for mistake in every)]
        if own and chosen.is_complete:
            effects = ((_smallness(chosen.effect(own, e)), e) for e in examples if chosen.shows(own, e))
            example = min(effects, key=itemgetter(0), default=(0, None))[1]
        elif charge.why == "unexplained" and alone is not None and chosen.fits(alone):
            example = next((e for e in examples if not chosen.fits(e)), None)  # not that of the mistake named elsewhere
    only_dtype = example is not None and example.fault is not None and example.fault.kind == "dtype"
    in_value = charge.record.fault is not None and charge.record.fault.kind != "dtype"
    return None if only_dtype and in_value else example  # an example of a dtype is shown only where the dtype counted


def _same(first: Record, second: Record) -> bool:
    """Whether a call came to the same in two processes."""
    ends, theirs = first.reply.ended, second.reply.ended
    if ends is not None and theirs is not None:
        return ends.why == theirs.why
    kinds = [record.fault.kind if record.fault is not None else "" for record in (first, second)]
    return kinds[0] == kinds[1] and alike(first.step, first.reply, second.reply)


def _is_partly_right(earned: Sequence[tuple[Criterion, bool]]) -> bool:
    """Whether a module loses something and earns at least one criterion of values."""
    of_value = [passed for criterion, passed in earned if criterion.looks_at == "values"]
    return any(of_value) and not all(passed for _, passed in earned)


def _undecided(charge: Graded, explanations: Mapping[str, Explanation], function: str) -> tuple[Mistake, ...]:
    """Those that do the same on every call as a mistake that is charged, so that none of them may be named."""
    concerned = {function, *(mistake.function for mistake in charge.mistakes)}
    undecided = {m.id: m for name in explanations if name in concerned for m in explanations[name].undecided}
    named_ones = charge.criterion.looks_at == "examples"  # its mistakes are those that have a name
    charged_one = not charge.mistakes or named_ones or any(has(undecided.values(), m) for m in charge.mistakes)
    return tuple(undecided.values()) if charged_one else ()


def _is_sure(mistake: Mistake, explanations: Mapping[str, Explanation]) -> bool:
    """Whether a mistake may be told: not where it is only charged, since it explains some of the calls."""
    explanation = explanations.get(mistake.function)
    return explanation is None or has(explanation.sure, mistake) or not has(explanation.mistakes, mistake)
