"""Handmade listings, call results, results, grades and runs for the tests. running.py runs real submissions."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from autograder.audit.cases import Case, Row
from autograder.feedback.results import Grade, Mark
from autograder.gradebook.store import Outcome, write_run
from autograder.grading.call_results import CallResult, Rules, Target, TestCall
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore, Why
from autograder.homework import reference
from autograder.homework import rubric as rubrics
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.homework.rubric import Criterion, Rubric, Visibility
from autograder.sandbox.process import Limits
from autograder.sandbox.protocol import Call, Ended, Error, Response
from autograder.shared.compare import Failure, tolerance
from autograder.shared.signatures import as_tested, required
from autograder.submissions.exports import Listing
from autograder.submissions.submission import Student, Submission, Upload, load
from autograder.tests.files import HOMEWORK

AWKWARD = (
    '=HYPERLINK("http://example.org")', "<script>document.title = 'broken'</script>", "O'Neil, \"Pat\"", "+1 Jones",
    "@import", "-2+3", "José Ñandú", "李 小龍", "محمد علي", "Zoë\tTab", "A" * 120, "../../etc/passwd", "\u202enosredna", "No",
    "null", "Ann & Bob <ann@example.org>", "{{ 7 * 7 }}", "%s %d", "🧮 Emoji", "'quoted'", "\x1b[31mred", "  spaced  ",
)  # fmt: skip

# Uploads and listings

MODULES = list(HOMEWORK.rubric.modules)
FIRST, SECOND = f"{MODULES[0]}.py", f"{MODULES[1]}.py"
Files = dict[str, str | bytes]
WORK = {FIRST: "x = 1\n"}


def few(values: Sequence[Any], number: int = 2) -> list[Any]:
    """Similar parameters (tuples for several arguments): `.ci/run` tries the first `number` of them, `.ci/full` all."""
    several = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*value, marks=[pytest.mark.slow] * (n >= number)) for n, value in enumerate(several)]


def contents(found: Listing) -> dict[str, dict[str, bytes]]:
    """The files of each submission by key, loaded as the grader loads them."""
    return {entry.key: load(entry, HOMEWORK.rubric).files for entry in found.entries if not entry.problem}


def keys(found: Listing) -> list[str]:
    return [entry.key for entry in found.entries]


@contextmanager
def as_nobody() -> Iterator[Path]:
    """Run without root privileges; yields a folder that the unprivileged user owns."""
    if os.name == "nt":
        pytest.skip("Windows has other permissions")
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if root:
                os.seteuid(0)


# Call results and results, as grading would produce them

PLAIN = Rules()
NO_CALL = Call("", "")


def a_test_call(
    function: str, *args: Any, rules: Rules = PLAIN, number: int = 1, criterion: str = "", **kwargs: Any
) -> TestCall:
    """A test call of a reference function with its expected value; a public example unless a criterion is given."""
    module, right = HOMEWORK.rubric.module_of(function), HOMEWORK.functions[function]
    args, kwargs = as_tested(right, args, kwargs)
    try:
        with np.errstate(all="ignore"):
            expected = right(*args, **kwargs)
    except ValueError:
        expected, rules = None, replace(rules, error="ValueError")
    allowed = tolerance((args, kwargs))
    more: dict[str, Any] = {"criterion": criterion, "parts": reference.parts(right), "reference": right}
    more["names"] = (*required(right)[: len(args)], *kwargs)
    call = Call(module, function, args, kwargs, rules.checks)
    return TestCall(number, Target(module, function), call, args, kwargs, expected, allowed, rules, **more)


def raised(
    function: str, kind: str, text: str = "", file: str = "", line: int = 0, hint: str = "", **more: Any
) -> CallResult:
    """The result of a call without arguments that raised an error."""
    module = HOMEWORK.rubric.module_of(function)
    more.setdefault("reference", HOMEWORK.functions[function])
    of = TestCall(1, Target(module, function), NO_CALL, **more)
    error = Error((kind,), text, file, line, hint, (of.target.function,))
    return CallResult(of, Response(error=error), Failure("raised", kind))


def stopped(function: str, why: str) -> CallResult:
    module = HOMEWORK.rubric.module_of(function)
    return CallResult(
        TestCall(1, Target(module, function), NO_CALL, reference=HOMEWORK.functions[function]),
        Response(ended=Ended(why)),
        Failure("ended", why),
    )


def hidden(call_result: CallResult, criterion: str) -> CallResult:
    """The same call result, for a hidden criterion."""
    return replace(call_result, test_call=replace(call_result.test_call, criterion=criterion))


def criterion(id: str, visibility: Visibility = "after_published", **changes: Any) -> Criterion:
    return HOMEWORK.rubric.criteria[id].model_copy(update={"visibility": visibility, **changes})


def misconception(function: str, name: str, *criteria: str, does: str, right: str, known: bool = True) -> Misconception:
    """A misconception; without a source if it is not `known`."""
    module = HOMEWORK.rubric.module_of(function)
    source = f"def {function}(): ..." if known else ""
    return Misconception(module, function, name, criteria, does, right, f"the formula of {function}", source=source)


def module_of(
    graded: Sequence[CriterionScore], call_results: Sequence[CallResult] = (), broken: Response | None = None
) -> ModuleResult:
    return ModuleResult(graded[0].criterion.module, tuple(graded), broken, tuple(call_results))


def result(*modules: ModuleResult, files: dict[str, bytes] | None = None) -> Result:
    """A result. Unless `files` are given, the submission has a file for every module."""
    names = HOMEWORK.rubric.modules
    submission = Submission("test", {f"{m}.py": b"" for m in names} if files is None else files)
    return Result(HOMEWORK, submission, modules, ("fork",))


# Rows of the audit


def known(name: str) -> Misconception:
    """The misconception of layer_norm with this name."""
    return next(m for m in HOMEWORK.of_function("layernorm", "layer_norm") if m.name == name)


def graded(criterion: str, why: Why, *names: str, undecided: tuple[str, ...] = ()) -> CriterionScore:
    """The score of a criterion, with misconceptions of layer_norm given by name."""
    named, alike = (tuple(map(known, group)) for group in (names, undecided))
    return CriterionScore(HOMEWORK.rubric.criteria[criterion], why, misconceptions=named, undecided=alike)


def made(case: Case, *criteria: CriterionScore) -> Row:
    return Row(case, {one.criterion.id: one for one in criteria})


def sample(chosen: Sequence[Case], each: int) -> list[Case]:
    """At most `each` cases of every function and kind, evenly spaced."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in chosen:
        groups.setdefault((case.function, case.kind), []).append(case)
    return [own[len(own) * (2 * n + 1) // (2 * each)] for own in groups.values() for n in range(each) if n < len(own)]


# Grades, rubrics and run folders


def document(**scores: tuple[float, float]) -> dict[str, Any]:
    tests = [
        {
            "name": f"{name}: x",
            "score": score,
            "max_score": most,
            "extra_data": {"criterion": name, "misconceptions": []},
        }
        for name, (score, most) in scores.items()
    ]
    return {"score": sum(score for score, _ in scores.values()), "tests": tests, "extra_data": {"layers": []}}


def run(folder: Path, outcomes: Sequence[Outcome] = (), **documents: dict[str, Any]) -> Path:
    (folder / "results").mkdir(parents=True)
    for key, one in documents.items():
        (folder / "results" / f"{key}.json").write_text(json.dumps(one))
    write_run(folder, [folder], [Upload(key, None, (Student(f"={key}"),)) for key in documents], outcomes)
    return folder


def grade_of_points(key: str, most: float, lost: int = 0) -> Grade:
    """A grade out of `most` points, without those of the first `lost` criteria.

    The criteria are those of the kit's own rubric if `most` is its total, else a single one.
    """
    criteria = list(HOMEWORK.rubric.criteria.values())
    if most == HOMEWORK.rubric.points:
        marks = tuple(
            Mark(one.id, f"{one.id}: {one.about}", 0 if at < lost else one.points, one.points)
            for at, one in enumerate(criteria)
        )
    else:
        marks = (Mark("m.c", "m.c: about", 0 if lost else most, most),)
    return Grade(key, sum(mark.score for mark in marks), marks, ("fork",), submitted=(*HOMEWORK.rubric.modules, "m"))


def grade_of_passed(key: str, *passed: bool) -> Grade:
    """A grade with two points for each passed criterion."""
    marks = tuple(Mark(f"m.c{i}", f"m.c{i}: about", 2.0 * one, 2.0) for i, one in enumerate(passed))
    return Grade(key, sum(mark.score for mark in marks), marks, ("fork",), submitted=("m",))


def homework_with(rubric: Rubric) -> Homework:
    """The kit's own homework with another rubric."""
    homework = Homework()
    homework.rubric = rubric
    return homework


def limited(limits: Limits) -> Rubric:
    """The kit's own rubric with other limits."""
    return HOMEWORK.rubric.model_copy(update={"limits": limits})


def rubric_with(criteria: Mapping[str, Mapping[str, str]] | None = None, **top: Any) -> Rubric:
    """The kit's own rubric with other keys at the top level and in some criteria; `tests` add to its points."""
    data = yaml.safe_load(HOMEWORK.rubric_file.read_text(encoding="utf-8")) | top
    data["points"] += top.get("tests", {"points": 0})["points"]
    for criterion, keys in (criteria or {}).items():
        module, _, name = criterion.partition(".")
        data["modules"][module]["criteria"][name].update(keys)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rubric.yaml")
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return rubrics.load(path)
