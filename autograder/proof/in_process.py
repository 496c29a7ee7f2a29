"""Grades the kit's own code (references, known mistakes) by direct calls in this process, by the rules of every other grading.

Without a sandbox a submission costs a tenth of what it costs with one, so that all pairs of mistakes can be tried. A student's
code never comes near this.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from autograder.grading.diagnosis import Diagnoser
from autograder.grading.direct import Direct
from autograder.grading.grader import Result, diagnoser_of, graded_with
from autograder.grading.player import Level, Player
from autograder.grading.record import Step
from autograder.grading.script import Script
from autograder.homework import reference as references
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Error, Reply
from autograder.values.errors import builtin_kinds

Functions = Mapping[str, Callable[..., Any]]


class InProcess:
    """Grades submissions of the kit's own code on a script."""

    def __init__(self, script: Script):
        self.script, self.rubric = script, script.rubric
        self.diagnoser: Diagnoser = diagnoser_of(script)
        self._wanted: dict[tuple[str, frozenset[str]], frozenset[Step]] = {}
        perfect = DirectPlayer(script, Submission("references", references.files()))
        graded_with(perfect, self.diagnoser, self.rubric.groups)
        self.right = perfect.replies

    def grade(self, submission: Submission, module: str, function: str, whole: bool = False) -> Result:
        """Grade a module (and, if `whole`, the integration) of a submission that is perfect but for this function ("": all)."""
        entries = self.rubric.modules[module].functions
        touched = frozenset(n for n in entries if function in (n, "") or function in self.rubric.helpers(module, (n,)))
        right = {step: reply for step, reply in self.right.items() if step not in self._needed(module, touched)}
        player = DirectPlayer(self.script, submission, right)
        names = (module, INTEGRATION) if whole else (module,)
        return Result(submission, graded_with(player, self.diagnoser, names), ())

    def _needed(self, module: str, touched: frozenset[str]) -> frozenset[Step]:
        """The steps of functions that are touched by what is wrong, those whose objects they are given, and the integration."""
        if (module, touched) not in self._wanted:
            everything = (*self.script.shown(module), *self.script.hidden.get(module, ()))
            steps = {step.number: step for step in everything}
            own = {number for number, step in steps.items() if step.target.function in touched}
            for number in sorted(own, reverse=True):  # an object comes from an earlier step
                own |= steps[number].needs
            whole = (*self.script.visible.get(INTEGRATION, ()), *self.script.hidden.get(INTEGRATION, ()))
            self._wanted[module, touched] = frozenset((*(steps[number] for number in own), *whole))
        return self._wanted[module, touched]


class DirectPlayer(Player):
    """Plays a submission's functions as they are. Steps whose replies are known to be `right` are not played."""

    edits = 0  # known mistakes need no repair

    def __init__(self, script: Script, submission: Submission, right: Mapping[Step, Reply] | None = None):
        self.script, self.submission, self.right = script, submission, right or {}
        self.rubric = script.rubric
        self.levels: list[Level] = []
        self.replies: dict[Step, Reply] = {}
        self.players: dict[str, Direct] = {}

    def shown(self, modules: Iterable[str]) -> dict[Step, Reply]:
        self.levels += self._levels(modules)
        wanted = [name for level in self.levels for name in level.modules]
        self.players = {name: Direct(self._functions(name)) for name in wanted}
        return {step: r for m in wanted for step, r in self._replies(m, self.script.shown(m)).items()}

    def hidden(self, number: int) -> dict[Step, Reply]:
        names = self.levels[number].modules
        return {s: r for m in names for s, r in self._replies(m, self.script.hidden.get(m, ())).items()}

    def alone(self, step: Step) -> Reply:
        return Direct(self._functions(step.target.module)).play(step)

    def with_helpers(
        self, number: int, module: str, helpers: tuple[str, ...], steps: Sequence[Step]
    ) -> dict[Step, Reply]:
        direct = Direct(self._functions(module, helpers))
        return {step: direct.play(step) for step in steps}

    def together(self, criterion: str, correct: tuple[str, ...] = ()) -> tuple[dict[Step, Reply], bool]:
        steps, loaded = self.script.together(criterion), dict[str, ModuleType]()
        if all(step in self.right for step in steps):
            return {step: self.right[step] for step in steps}, True
        try:
            for name in self.rubric.modules:
                own = self.submission.files[f"{name}.py"]
                loaded[name] = references.modules()[name] if name in correct else _loaded(name, own, loaded, {})
        except ImportError as error:
            return {step: Reply(error=Error(tuple(builtin_kinds(error)), "", "", 0, "")) for step in steps}, False
        every = ((f, vars(loaded[m]).get(f)) for m, entry in self.rubric.modules.items() for f in entry.functions)
        direct = Direct({name: function for name, function in every if function is not None})
        found = {step: direct.play(step) for step in steps}
        self.replies |= found
        return found, True

    def broken(self, module: str) -> Reply | None:
        return None

    def _replies(self, module: str, steps: Sequence[Step]) -> dict[Step, Reply]:
        known = self.right
        played = {step: known[step] if step in known else self.players[module].play(step) for step in steps}
        self.replies |= played
        return played

    def _functions(self, module: str, helpers: tuple[str, ...] = ()) -> Functions:
        right = {name: references.functions()[name] for name in helpers}
        made = _loaded(module, self.submission.files[f"{module}.py"], references.modules(), right)
        return {name: vars(made)[name] for name in self.rubric.modules[module].functions if name in vars(made)}


def _loaded(name: str, text: bytes, others: Mapping[str, ModuleType], replaced: Functions) -> ModuleType:
    """A module of the homework made from its text, which finds `others` where it imports them."""
    made = ModuleType(name)
    with _importable(others):
        exec(_compiled(name, text), made.__dict__)  # noqa: S102 - the kit's own text
    vars(made).update(replaced)
    return made


@lru_cache(64)
def _compiled(name: str, text: bytes) -> CodeType:
    return compile(text, f"{name}.py", "exec")


@contextmanager
def _importable(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    kept = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in kept.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
