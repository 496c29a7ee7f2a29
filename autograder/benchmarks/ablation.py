"""Measures the effect of each rule of grading and feedback: `python -m autograder.benchmarks.ablation FOLDER...`.

The modules are correct solutions in other styles, and `MODULE/*.py` in the folders: handwritten ones, since a mutant
shows only that a repair undoes a mutation. Each is graded with all rules, and again without each rule that took part in
its grading. Delete a rule that changes fewer than one module in two hundred, unless removing it makes a sentence false
or costs a correct module points.
"""

import contextlib
import functools
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from autograder.audit import cases
from autograder.feedback import counterexamples, messages
from autograder.grading import examples
from autograder.grading.diagnosis import Analysis
from autograder.grading.grader import Grader
from autograder.homework.homework import Homework
from autograder.submissions.submission import Submission

HOMEWORK = Homework()

# For each threshold, a value that disables it.
NEUTRAL: Mapping[str, float] = {
    "LEAST_OF_FORM": 0,
    "MOST_TOGETHER": 1,
    "BEST": 20,
    "TELLING": 100,
    "MOST_COMBINATIONS": 10_000,
    "SAME": 0,
    "SAME_ROUNDING": 1e300,
    "LEAST_EVIDENCE": 1,
    "MOST_SURVIVORS": 1000,
    "MOST_ENDLESS": 1000,
    "MOVES": 0,
    "TIMES": 1,
    "FEW": 100,
}
# Limits on time only. No module that terminates comes close.
LIMITS = ("RESTARTS", "MOST_SPENT", "MOST_PROBES_SPENT")


def _constant(value: Any) -> Any:
    return lambda *_, **__: value


def _unchanged(*args: Any) -> Any:
    return next(each for each in args if isinstance(each, Analysis))


# For each function or property, a replacement that disables it.
RULES: Mapping[str, Any] = {
    "grading.explaining:Explainer.with_correct_helpers": _unchanged,
    "grading.explaining:Explainer.with_kept_state": _unchanged,
    "grading.explaining:Explainer._partial": _constant(None),
    "grading.explaining:Explainer.related": _unchanged,
    "grading.examples:probes_of": _constant(()),
    "grading.diagnosis:Diagnosis.undecided": property(_constant(())),
    "grading.explaining:Explainer.search": _constant(None),
    "grading.diagnosis:Search.formal": _constant(()),
    "grading.diagnosis:Candidate.is_guess": property(_constant(False)),
    "grading.diagnosis:Candidate.is_evident": property(_constant(False)),
    "grading.diagnosis:Candidate.changes_unseen": property(_constant(False)),
    "grading.diagnosis:Candidate._shows_beside_rounding": property(_constant(True)),
    "grading.diagnosis:computes_nothing": _constant(False),
    "grading.scoring:Scoring._is_charged_nowhere": _constant(False),
    "feedback.counterexamples:dependence": _constant(""),
    "feedback.counterexamples:_other_arguments": _constant(""),
}


Subject = tuple[Submission, str]  # a submission and the module to grade; "" grades all of it


@dataclass(frozen=True)
class Outcome:
    """A graded subject: its points, misconception ids by lost criterion, messages by criterion, and the rules that took part."""

    points: float
    names: Mapping[str, tuple[str, ...]]
    messages: Mapping[str, str]
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Effect:
    """The effect of disabling a rule: modules that lose more or fewer points, or get other names or messages."""

    rule: str
    more: tuple[str, ...]
    fewer: tuple[str, ...]
    names: tuple[str, ...]
    messages: tuple[str, ...]


def subjects(folders: Sequence[Path]) -> list[Subject]:
    """The modules to grade: the solutions in other styles, and the modules in `folders`."""
    right, entries = HOMEWORK.files, HOMEWORK.rubric.modules
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py")) if path.parent.name in entries]
    handwritten = [(Submission(str(p), right | {f"{p.parent.name}.py": p.read_bytes()}), p.parent.name) for p in paths]
    return [*((cases.submission(HOMEWORK, case), "") for case in cases.alternatives(HOMEWORK)), *handwritten]


def run(rules: Sequence[str], chosen: Sequence[Subject], jobs: int | None = None) -> Iterator[Effect]:
    """Grade the modules with all rules, then without each rule in turn."""
    before = list(cases.each(HOMEWORK, _graded, [("", subject) for subject in chosen], jobs, sandbox=True))
    pairs = list(zip(chosen, before, strict=True))
    again = [(rule, subject) for rule in rules for subject, outcome in pairs if rule in outcome.rules]
    outcomes = iter(cases.each(HOMEWORK, _graded, again, jobs, sandbox=True))
    for rule in rules:
        both = [(subject[0].name, old, next(outcomes)) for subject, old in pairs if rule in old.rules]
        yield Effect(
            rule,
            more=tuple(name for name, old, new in both if new.points < old.points),
            fewer=tuple(name for name, old, new in both if new.points > old.points),
            names=tuple(name for name, old, new in both if new.names != old.names),
            messages=tuple(name for name, old, new in both if new.messages != old.messages),
        )


def lines(effects: Iterable[Effect], number: int) -> Iterator[str]:
    """The table of effects, row by row."""
    yield f"{number} modules; the columns count those that change without the rule:"
    yield f"{'rule':46}{'more':>5}{'fewer':>6}{'names':>6}{'messages':>9}"
    for e in effects:
        yield f"{e.rule:46}{len(e.more):5}{len(e.fewer):6}{len(e.names):6}{len(e.messages):9}"


def _graded(grader: Grader, item: tuple[str, Subject]) -> Outcome:
    rule, (submission, module) = item
    with without(rule), contextlib.nullcontext(set[str]()) if rule else _taking_part() as rules:
        result = grader.grade(submission, (module,) if module else ())
        texts = {graded.criterion.id: messages.message(graded, result) for graded in result.graded}
    lost = [graded for graded in result.graded if not graded.passed]
    names = {g.criterion.id: tuple(m.id for m in (*g.misconceptions, *g.undecided)) for g in lost}
    return Outcome(result.points, names, texts, frozenset(rules))


@contextlib.contextmanager
def _taking_part() -> Iterator[set[str]]:
    """The rules that take part: a threshold that is read, a function that returns what its replacement would not."""
    rules, functions, reads = set[str](), {_code(rule): rule for rule in RULES}, functools.cache(_thresholds)

    def profile(frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        if event == "return" and "autograder" in code.co_filename:
            rules.update(reads(code))
            if code in functions and not _is_replaced_by(functions[code], frame, value):
                rules.add(functions[code])

    sys.setprofile(profile)
    try:
        yield rules
    finally:
        sys.setprofile(None)


def _thresholds(code: CodeType) -> set[str]:
    return NEUTRAL.keys() & {*code.co_names}


def _code(rule: str) -> CodeType:
    owner, name = _owner(rule)
    function: Any = vars(owner)[name]
    function = getattr(function, "fget", None) or getattr(function, "func", None) or function
    code: CodeType = inspect.unwrap(function).__code__
    return code


def _is_replaced_by(rule: str, frame: FrameType, value: Any) -> bool:
    """Whether the replacement of a function returns the same value."""
    replacement = getattr(RULES[rule], "fget", RULES[rule])
    given = [frame.f_locals[name] for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]]
    other = replacement(*given)
    return other is value or (isinstance(other, bool | str | tuple | dict) and bool(other == value))


def _owner(rule: str) -> tuple[Any, str]:
    """The module or class in which a rule is defined, and its name there."""
    module, _, path = (f"grading.thresholds:{rule}" if rule in NEUTRAL else rule).partition(":")
    *classes, name = path.split(".")
    return functools.reduce(getattr, classes, importlib.import_module(f"autograder.{module}")), name


@contextlib.contextmanager
def without(rule: str) -> Iterator[None]:
    """Disable a rule; "" disables none."""
    with pytest.MonkeyPatch.context() as patch:
        if rule:
            owner, name = _owner(rule)
            rule_itself, owners = vars(owner)[name], [owner]
            if not isinstance(owner, type):  # other modules have imported it by name
                kit = [value for key, value in list(sys.modules.items()) if key.startswith("autograder.") and value]
                owners = [other for other in kit if vars(other).get(name) is rule_itself]
            for place in owners:
                patch.setattr(place, name, {**NEUTRAL, **RULES}[rule])
        _forget()
        yield
    _forget()


_caches = (examples.probes_of, counterexamples.other_results)


def _forget() -> None:
    """Clear caches that depend on thresholds."""
    for cached in _caches:
        cached.cache_clear()


def main(folders: Sequence[Path]) -> None:
    """Grade the modules and print the table."""
    chosen = subjects(folders)
    for line in lines(run([*NEUTRAL, *RULES], chosen), len(chosen)):
        print(line, flush=True)


if __name__ == "__main__":
    paths = [Path(argument) for argument in sys.argv[1:]]
    if not paths or not all(path.is_dir() for path in paths):
        sys.exit(
            "usage: python -m autograder.benchmarks.ablation FOLDER...; a folder contains wrong modules MODULE/*.py"
        )
    main(paths)
