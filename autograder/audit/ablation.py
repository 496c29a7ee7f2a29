"""Measures the effect of each rule of grading and feedback by grading the same modules with and without it.

The modules are correct solutions in other styles, generated mutants of them, and `MODULE/*.py` in given folders. Delete
a rule that changes fewer than one module in two hundred, unless removing it makes a sentence false or costs a correct
module points.
"""

import contextlib
import functools
import importlib
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.audit import cases, mutants
from autograder.feedback import messages, observations
from autograder.grading import probes
from autograder.grading.grader import Grader
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.submissions.submission import Submission

MUTANTS = 400  # of the solutions in other styles
# For each threshold, a value that disables it.
NEUTRAL: Mapping[str, float] = {
    "LEAST_OF_FORM": 0,
    "MOST_TOGETHER": 1,
    "BEST": 20,
    "TELLING": 100,
    "MOST_COMBINATIONS": 10_000,
    "SAME": 0,
    "SAME_ROUNDING": 1e300,
    "FIRST_CALLS": 100,
    "LEAST_EVIDENCE": 1,
    "MOST_SURVIVORS": 1000,
    "MOST_ENDLESS": 1000,
    "MOST_MOVES": 0,
    "MOST_ENTRIES": 0,
    "MOVES": 0,
    "ELSEWHERE": 1,
    "TIMES": 1,
    "FEW": 100,
}
# Limits on time only. No module that terminates comes close.
LIMITS = ("RESTARTS", "MOST_SPENT", "MOST_TRIALS_SPENT")


def _constant(value: Any) -> Any:
    return lambda *_, **__: value


def _unchanged(_: Any, analysis: Any, *__: Any) -> Any:
    return analysis


# For each function or property, a replacement that disables it.
RULES: Mapping[str, Any] = {
    "grading.grader:_Grading._with_correct_helpers": _unchanged,
    "grading.grader:_Grading._repaired_beside": _unchanged,
    "grading.grader:_Grading._fixed_too": _constant(None),
    "grading.grader:_Grading._trials": _constant({}),
    "grading.grader:_Grading._random": _constant({}),
    "grading.grader:_undecided": _constant(()),
    "grading.repair:Repairs.search": _constant(None),
    "grading.search:Search.formal": _constant(None),
    "grading.search:Candidate.is_guess": property(_constant(False)),
    "grading.search:Candidate.is_evident": property(_constant(False)),
    "grading.search:Candidate.changes_unseen": property(_constant(False)),
    "grading.search:Candidate._shows_beside_rounding": property(_constant(True)),
    "grading.diagnosis:computes_nothing": _constant(False),
    "grading.scoring:_Scoring._is_charged_nowhere": _constant(False),
    "feedback.observations:dependence": _constant(""),
    "feedback.observations:others": _constant(()),
    "feedback.messages:Message.fails_otherwise": property(_constant(None)),
}


Subject = tuple[Submission, str]  # a submission and the module to grade; "" grades all of it


@dataclass(frozen=True)
class Outcome:
    """A graded subject: its points, misconception ids by lost criterion, and messages by criterion."""

    points: float
    names: Mapping[str, tuple[str, ...]]
    messages: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Effect:
    """The effect of disabling a rule: modules that lose more or fewer points, or get other names or messages."""

    rule: str
    more: tuple[str, ...]
    fewer: tuple[str, ...]
    names: tuple[str, ...]
    messages: tuple[str, ...]
    time: float


def subjects(folders: Sequence[Path] = (), each: int = MUTANTS) -> list[Subject]:
    """The modules to grade: the other styles, `each` mutants of them, and the modules in `folders`."""
    right, modules = (
        references.files(),
        [name for name in rubrics.current().modules if rubrics.current().explains(name)],
    )
    styles = [cases.submission(case) for case in cases.alternatives()]
    made = [
        (Submission(f"{style.name}: {mutant.name}", style.files | {f"{module}.py": mutant.text.encode()}), module)
        for style in styles
        for module in modules
        if style.files[f"{module}.py"] != right[f"{module}.py"]
        for mutant in mutants.of_text(module, style.files[f"{module}.py"].decode())
    ]
    given = [path for folder in folders for path in sorted(folder.rglob("*.py")) if path.parent.name in modules]
    own = [(Submission(str(p), right | {f"{p.parent.name}.py": p.read_bytes()}), p.parent.name) for p in given]
    return [*((style, "") for style in styles), *(made[len(made) * n // each] for n in range(each) if made), *own]


def run(rules: Sequence[str], chosen: Sequence[Subject], jobs: int | None = None) -> Iterator[Effect]:
    """Grade the modules with all rules, then without each rule in turn."""
    items = [(rule, subject) for rule in ("", *rules) for subject in chosen]
    outcomes = iter(cases.each(_graded, items, jobs, sandbox=True))
    before = [next(outcomes) for _ in chosen]
    for rule in rules:
        both = [(one.name, old, next(outcomes)) for (one, _), old in zip(chosen, before, strict=True)]
        yield Effect(
            rule,
            more=tuple(name for name, old, new in both if new.points < old.points),
            fewer=tuple(name for name, old, new in both if new.points > old.points),
            names=tuple(name for name, old, new in both if new.names != old.names),
            messages=tuple(name for name, old, new in both if new.messages != old.messages),
            time=sum(new.seconds for _, _, new in both) / sum(old.seconds for old in before),
        )


def lines(effects: Iterable[Effect], number: int) -> Iterator[str]:
    """The table of `autograder audit --ablate`, row by row."""
    yield f"{number} modules; the columns count those that change without the rule:"
    yield f"{'rule':46}{'more':>5}{'fewer':>6}{'names':>6}{'messages':>9}{'time':>6}"
    for e in effects:
        counts = f"{len(e.more):5}{len(e.fewer):6}{len(e.names):6}{len(e.messages):9}"
        yield f"{e.rule:46}{counts}{e.time:6.2f}"


def _graded(grader: Grader, item: tuple[str, Subject]) -> Outcome:
    rule, (submission, module) = item
    began = time.process_time()
    with without(rule):
        result = grader.grade(submission, (module,) if module else ())
        texts = {graded.criterion.id: messages.message(graded, result) for graded in result.graded}
    lost = [graded for graded in result.graded if not graded.passed]
    names = {g.criterion.id: tuple(m.id for m in (*g.misconceptions, *g.undecided)) for g in lost}
    seconds = time.process_time() - began + grader.sandbox.processor_seconds - grader.sandbox.budget.own_seconds
    return Outcome(result.points, names, texts, seconds)


@contextlib.contextmanager
def without(rule: str) -> Iterator[None]:
    """Disable a rule; "" disables none."""
    with pytest.MonkeyPatch.context() as patch:
        if rule:
            module, _, path = (f"grading.thresholds:{rule}" if rule in NEUTRAL else rule).partition(":")
            *classes, name = path.split(".")
            owner: Any = functools.reduce(getattr, classes, importlib.import_module(f"autograder.{module}"))
            rule_itself, owners = vars(owner)[name], [owner]
            if not classes:  # other modules have imported it by name
                kit = [value for key, value in list(sys.modules.items()) if key.startswith("autograder.") and value]
                owners = [other for other in kit if vars(other).get(name) is rule_itself]
            for place in owners:
                patch.setattr(place, name, {**NEUTRAL, **RULES}[rule])
        _forget()
        yield
    _forget()


_caches = (probes.probes_of, observations.others, observations.right_for)


def _forget() -> None:
    """Clear caches that depend on thresholds."""
    for cached in _caches:
        cached.cache_clear()
