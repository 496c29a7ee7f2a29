"""Grades the kit's own code (references, known mistakes) by direct calls in this process, by the rules of every other grading.

Without a sandbox a submission costs a tenth of what it costs with one, so that all pairs of mistakes can be tried. A student's
code never comes near this.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from autograder.grading.diagnosis import Diagnoser
from autograder.grading.direct import Direct
from autograder.grading.grader import Result, diagnoser_of, graded_with
from autograder.grading.player import Imports, Pairs, Player
from autograder.grading.record import Step
from autograder.grading.script import Script
from autograder.homework import reference as references
from autograder.homework.rubric import INTEGRATION, Rubric
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
        perfect = self._played(Submission("references", references.files()), {}, self.rubric.groups)
        self.right = {record.step: record.reply for module in perfect.modules for record in module.records}

    def grade(self, submission: Submission, module: str, function: str, whole: bool = False) -> Result:
        """Grade a module (and, if `whole`, the integration) of a submission that is perfect but for this function ("": all)."""
        entries = self.rubric.modules[module].functions
        touched = frozenset(n for n in entries if function in (n, "") or function in self.rubric.helpers(module, (n,)))
        right = {step: reply for step, reply in self.right.items() if step not in self._needed(module, touched)}
        return self._played(submission, right, (module, INTEGRATION) if whole else (module,))

    def _played(self, submission: Submission, right: Mapping[Step, Reply], names: tuple[str, ...]) -> Result:
        player = Player(lambda: DirectProcess(submission, self.rubric, right), self.script, submission, {})
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


class DirectProcess:
    """Plays a submission's functions as they are. Steps whose replies are known to be `right` are not played."""

    ended, asked = None, ()

    def __init__(self, submission: Submission, rubric: Rubric, right: Mapping[Step, Reply]):
        self.submission, self.rubric, self.right = submission, rubric, right
        self.contexts: dict[str, Direct] = {}

    def load(self, imports: Imports) -> Reply:
        found = {name: references.modules()[name] for name in imports.answered}
        helpers = {name: references.functions()[name] for name in imports.helpers}
        order = list(self.rubric.modules)  # a module imports those before it
        try:
            for name in order[: 1 + max(map(order.index, imports.modules), default=-1)]:
                if name not in found:
                    replaced = helpers if name == imports.modules[0] else {}
                    found[name] = _loaded(name, self.submission.files[f"{name}.py"], found, replaced)
        except ImportError as error:
            return Reply(error=Error(tuple(builtin_kinds(error)), "", "", 0, ""))
        functions = ((name, vars(found[m]).get(name)) for m in found for name in self.rubric.modules[m].functions)
        self.contexts[imports.context] = Direct({name: f for name, f in functions if f is not None})
        return Reply()

    def play(self, steps: Sequence[Step], known: Pairs = ()) -> list[Reply]:
        return [
            self.right[step] if step in self.right else self.contexts[step.call.context].play(step) for step in steps
        ]

    def close(self) -> None:
        """There is nothing to end."""


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
