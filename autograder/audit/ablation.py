"""Measures which rules of grading and feedback pay: each is switched off in turn, and modules are graded with and without it.

The modules are machine-made mutants of the correct solutions in other styles, these solutions, and modules in given folders
(`MODULE/*.py`). A rule that changes fewer than one module in two hundred should go, unless a false sentence or a lost point of a
right module depends on it.
"""

import ast
import contextlib
import importlib
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.audit import cases, mutants
from autograder.feedback import messages, observations
from autograder.grading import probes, thresholds
from autograder.grading.grader import Grader
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.submissions.submission import Submission

MUTANTS = 400  # of the solutions in other styles
# Each threshold, with a value at which it has no effect, or at which a search continues.
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
# These bound only time: no module that ends comes close.
LIMITS = ("RESTARTS", "MOST_SPENT", "MOST_TRIALS_SPENT")


def _constant(value: Any) -> Any:
    return lambda *_, **__: value


def _unchanged(_: Any, analysis: Any, *__: Any) -> Any:
    return analysis


# Functions and properties, each with its replacement.
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
    "grading.grader:is_boolean": _constant(False),
    "grading.diagnosis:computes_nothing": _constant(False),
    "grading.scoring:_Scoring._is_charged_nowhere": _constant(False),
    "feedback.observations:dependence": _constant(""),
    "feedback.observations:others": _constant(()),
    "feedback.messages:Message.fails_otherwise": property(_constant(None)),
}


@dataclass(frozen=True)
class Subject:
    """One submission: the references, with one module in another version; all of a style if `module` is ""."""

    name: str
    module: str
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Outcome:
    """The result of grading: the points, and for each lost criterion the named ids, and the message."""

    points: float
    names: Mapping[str, tuple[str, ...]]
    said: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Effect:
    """How many modules a rule changes: those that lose more or fewer points without it, other names, other messages."""

    rule: str
    more: tuple[str, ...]
    fewer: tuple[str, ...]
    names: tuple[str, ...]
    messages: tuple[str, ...]
    time: float


def subjects(folders: Sequence[Path] = (), each: int = MUTANTS) -> list[Subject]:
    """The modules to grade."""
    right = references.files()
    styles = [Subject(case.name, "", cases.submission(case).files) for case in cases.alternatives()]
    made = [mutant for style in styles for mutant in _mutants(style)]
    given = [path for folder in folders for path in sorted(folder.rglob("*.py")) if path.parent.name in _modules()]
    own = [Subject(str(p), p.parent.name, right | {f"{p.parent.name}.py": p.read_bytes()}) for p in given]
    return [*styles, *(made[len(made) * n // each] for n in range(each) if made), *own]


def run(rules: Sequence[str], chosen: Sequence[Subject], jobs: int | None = None) -> Iterator[Effect]:
    """The effect of each rule on the modules."""
    items = [(rule, subject) for rule in ("", *rules) for subject in chosen]
    outcomes = iter(cases.each(_graded, items, jobs, sandbox=True))
    before = [next(outcomes) for _ in chosen]
    for rule in rules:
        yield _effect(rule, chosen, before, [next(outcomes) for _ in chosen])


def lines(effects: Iterable[Effect], number: int) -> Iterator[str]:
    """The table of `autograder audit --ablate`, row by row."""
    yield f"{number} modules. Without the rule so many of them lose more points, lose fewer, get other names, get another message:"
    yield f"{'rule':46}{'more':>5}{'fewer':>6}{'names':>6}{'messages':>9}{'time':>6}"
    for e in effects:
        counts = f"{len(e.more):5}{len(e.fewer):6}{len(e.names):6}{len(e.messages):9}"
        yield f"{e.rule:46}{counts}{e.time:6.2f}"


def _effect(rule: str, chosen: Sequence[Subject], before: Sequence[Outcome], after: Sequence[Outcome]) -> Effect:
    both = [(subject.name, old, new) for subject, old, new in zip(chosen, before, after, strict=True)]
    return Effect(
        rule,
        more=tuple(name for name, old, new in both if new.points < old.points),
        fewer=tuple(name for name, old, new in both if new.points > old.points),
        names=tuple(name for name, old, new in both if new.names != old.names),
        messages=tuple(name for name, old, new in both if new.said != old.said),
        time=sum(new.seconds for new in after) / sum(old.seconds for old in before),
    )


def _modules() -> list[str]:
    rubric = rubrics.current()
    return [name for name in rubric.modules if rubric.explains(name)]


def _mutants(style: Subject) -> Iterator[Subject]:
    """Every mutant of the contract functions of a style, appended to its file."""
    for module in _modules():
        text = style.files[f"{module}.py"]
        if text == references.files()[f"{module}.py"]:
            continue
        functions = rubrics.current().modules[module].functions
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name in functions and not node.decorator_list:
                for mutant in mutants.of_function(module, node):
                    files = {**style.files, f"{module}.py": text + b"\n\n" + mutant.changed.encode()}
                    yield Subject(f"{style.name}: {mutant.name}", module, files)


def _graded(grader: Grader, item: tuple[str, Subject]) -> Outcome:
    rule, subject = item
    began = time.process_time()
    with without(rule):
        result = grader.grade(
            Submission(subject.name, dict(subject.files)), (subject.module,) if subject.module else ()
        )
        said = {graded.criterion.id: messages.message(graded, result) for graded in result.graded}
    names = {
        g.criterion.id: tuple(m.id for m in (*g.misconceptions, *g.undecided)) for g in result.graded if not g.passed
    }
    seconds = time.process_time() - began + grader.sandbox.processor_seconds - grader.sandbox.budget.own_seconds
    return Outcome(result.points, names, said, seconds)


@contextlib.contextmanager
def without(rule: str) -> Iterator[None]:
    """Switch a rule off; "" is none."""
    with contextlib.ExitStack() as stack:
        if rule in NEUTRAL:
            stack.enter_context(_replaced_everywhere(rule, getattr(thresholds, rule), NEUTRAL[rule]))
        elif rule:
            module, _, path = rule.partition(":")
            owner: Any = importlib.import_module(f"autograder.{module}")
            *classes, name = path.split(".")
            for part in classes:
                owner = getattr(owner, part)
            if classes:
                stack.enter_context(_replaced(owner, name, RULES[rule]))
            else:
                stack.enter_context(_replaced_everywhere(name, getattr(owner, name), RULES[rule]))
        _forget()
        yield
    _forget()


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = vars(owner)[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def _replaced_everywhere(name: str, before: Any, value: Any) -> Iterator[None]:
    """Replace it in every module of the kit that has imported it by name."""
    owners = [m for key, m in list(sys.modules.items()) if key.startswith("autograder.") and m is not None]
    with contextlib.ExitStack() as stack:
        for owner in owners:
            if vars(owner).get(name) is before and owner is not sys.modules[__name__]:
                stack.enter_context(_replaced(owner, name, value))
        yield


_caches = (probes.probes_of, observations.others, observations.right_for)


def _forget() -> None:
    """Clear caches that depend on thresholds."""
    for cached in _caches:
        cached.cache_clear()
