"""Which rules of grading and feedback pay? Each is switched off in turn, and modules are graded with and without it.

The modules are machine-made mutants of the correct solutions in other styles, these solutions, and modules in folders that
are given (`MODULE/*.py`). A rule that changes fewer than one module in two hundred should go, unless a false sentence or a
lost point of a right module depends on it.
"""

import ast
import contextlib
import importlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.feedback import messages, other_arguments
from autograder.grading import experiments, thresholds
from autograder.grading.grader import Grader
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.intake.submission import Submission
from autograder.proof import cases, mutants

MUTANTS = 400
# Thresholds, each with the value at which it decides nothing. A limit that bounds only time and memory has none.
NEUTRAL: Mapping[str, float] = {
    "LEAST_OF_FORM": 0,
    "MOST_TOGETHER": 1,
    "LEAST_GAIN": -1e9,
    "BEST": 20,
    "TELLING": 100,
    "MOST_COMBINATIONS": 100_000,
    "MOST_INLINED": 0,
    "MOST_RIVALS": 0,
    "SAME_ROUNDING": 1e300,
    "NOT_ROUNDED": 0,
    "RUIN": 1e300,
    "JUST_AS_WRONG": 1e300,
    "FIRST_CALLS": 100,
    "LEAST_EVIDENCE": 1,
    "MOST_EVIDENT": 0,
    "MOST_FUNCTIONS": 100,
    "MOST_SURVIVORS": 100_000,
    "MOST_ENDLESS": 100_000,
    "NEARLY_ALL": 1.0,
    "MOST_MOVES": 0,
    "MOST_MOVES_ASKING": 120,
    "MOST_ENTRIES": 0,
    "MOST_TRIED": 100,
    "TIMES": 1,
    "ELSEWHERE": 1,
    "PLAYED": 1,
    "EVERY": 100_000,
    "MOST_SAID": 100,
    "FEW": 100,
    "LONG": 1e9,
    "MOST_CHANGES": 100,
    "MOST_ARGUMENTS": 0,
    "MOST_LINES": 100,
}


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _false(*_: Any, **__: Any) -> bool:
    return False


def _true(*_: Any, **__: Any) -> bool:
    return True


def _empty(*_: Any, **__: Any) -> tuple[Any, ...]:
    return ()


def _list(*_: Any, **__: Any) -> list[Any]:
    return []


def _text(*_: Any, **__: Any) -> str:
    return ""


def _second(_: Any, reading: Any, *__: Any) -> Any:
    return reading


# Functions and properties, each with what stands in its place.
RULES: Mapping[str, Any] = {
    "grading.grader:_Grading._played_again": _second,
    "grading.repair:Repairs.search": _nothing,
    "grading.grader:_Grading._repaired_beside": _second,
    "grading.grader:_Grading._fixed_too": _nothing,
    "grading.grader:_Grading._trials": lambda *_: {},
    "grading.grader:_Grading._random": lambda *_: {},
    "grading.grader:_Grading._is_beyond": _false,
    "grading.grader:_undecided": _empty,
    "grading.grader:_is_sure": _true,
    "grading.search:Search.inlined": _list,
    "grading.search:Search.partial": _list,
    "grading.search:Search.formal": _nothing,
    "grading.search:Candidate.is_guess": property(_false),
    "grading.search:Candidate.is_strict": property(_true),
    "grading.search:Candidate.is_refuted": property(_false),
    "grading.search:Candidate.is_evident": property(_false),
    "grading.search:Candidate.is_nearly_complete": property(_false),
    "grading.search:Candidate.is_seen": _true,
    "grading.search:Candidate.changes_more": property(_false),
    "grading.search:Candidate.changes_unseen": property(_false),
    "grading.search:Candidate.contradicts": property(_false),
    "grading.search:Candidate._shows_beside_rounding": property(_true),
    "grading.search:is_boolean": _false,
    "grading.search:for_one_reason": _true,
    "grading.diagnosis:computes_nothing": _false,
    "grading.diagnosis:Diagnoser.hidden": _empty,
    "grading.charge:_Charging._is_charged_nowhere": _false,
    "feedback.special:special": _text,
    "feedback.observations:dependence": _text,
    "feedback.observations:_factor": _text,
    "feedback.other_arguments:others": _empty,
    "feedback.messages:_Lost._otherwise_wrong": _nothing,
    "feedback.messages:_Lost.beyond": _text,
}


@dataclass(frozen=True)
class Subject:
    """One submission: the references, with one module in another version; all of a style if `module` is ""."""

    name: str
    module: str
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Outcome:
    """What grading came to: the points, and by lost criterion the ids that are named, and the message."""

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
    """The modules that are graded."""
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
    """Every mutant of the contract functions of a style, defined once more at the end of its file."""
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
    names = {g.criterion.id: tuple(m.id for m in (*g.mistakes, *g.undecided)) for g in result.graded if not g.passed}
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
    """In every module of the kit that has imported it by name."""
    owners = [m for key, m in list(sys.modules.items()) if key.startswith("autograder.") and m is not None]
    with contextlib.ExitStack() as stack:
        for owner in owners:
            if vars(owner).get(name) is before and owner is not sys.modules[__name__]:
                stack.enter_context(_replaced(owner, name, value))
        yield


_caches = (experiments.trials, other_arguments.others, other_arguments.right_for)


def _forget() -> None:
    """What was computed with other thresholds."""
    for cached in _caches:
        cached.cache_clear()
