"""`autograder explain`: why a criterion was earned or lost, by test calls, diagnosis and rule, each with file and line.

The output has hidden calls and expected values, so students must not see it.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from textwrap import shorten

import click
import numpy as np

from autograder.exceptions import ArgumentsError
from autograder.feedback.sentences import line
from autograder.gradebook import pool, store
from autograder.grading import scoring
from autograder.grading.call_results import CallResult, of_function, outcome, wrong_in_value
from autograder.grading.grader import Result, open_grader
from autograder.grading.scoring import CriterionScore, Why
from autograder.homework.homework import Homework
from autograder.shared.display import display
from autograder.submissions.exports import listing
from autograder.submissions.submission import load

LONGEST = 300  # characters of one value
NOTHING_FAILS = "no call fails in a way that counts for this criterion"
# The checks of objects of an earlier call, by TestCall.kind.
OF_EARLIER = {
    "changes": "the arguments, checked again",
    "look": "the result, checked again",
    "write": "an array, overwritten by the caller",
}
# The meaning of CriterionScore.why, and the function of scoring.py that decides it.
RULES: dict[Why, tuple[str, str]] = {
    "right": (f"earned: {NOTHING_FAILS}", "scored"),
    "elsewhere": ("earned: the mistake in the failing calls costs another criterion (rules 1 and 3)", "_of_values"),
    "mistake": ("lost to a diagnosed mistake, which belongs to this criterion (rules 1 and 2)", "_of_values"),
    "unexplained": ("lost to failing calls that no diagnosed mistake explains (rule 3)", "_of_values"),
    "form": ("lost to an observed side effect or dtype (rule 4)", "_of_form"),
    "too_few": ("lost: fewer than half of its functions compute something correct (rule 4)", "_of_form"),
    "tests": ("the share of wrong versions that the student's tests detect", "scored"),
    "not_imported": ("lost: the modules cannot be imported together", "scored"),
}


def explanation(homework: Homework, result: Path, name: str) -> Iterator[str]:
    """Yield the explanation of one criterion. Raises BadParameter or ArgumentsError."""
    criteria = homework.rubric.criteria
    if name not in criteria:
        module = name.partition(".")[0]
        near = [criterion for criterion in criteria if name in criterion or criterion.startswith(f"{module}.")]
        near = near or [f"{group}.<name>" for group in homework.rubric.groups]
        raise click.BadParameter(f"there is no criterion {name!r}; known: {', '.join(near)}")
    graded, criterion = _graded_again(homework, result), criteria[name]
    score = next(score for score in graded.graded if score.criterion.id == name)
    call_results = next(module for module in graded.modules if module.module == criterion.module).call_results

    where = homework.rubric.source_of(name).rpartition(": ")[0].removeprefix(f"{homework.folder}/")
    yield f"{name}: {score.points:g} of {criterion.most:g} points ({where})"
    yield f"  {criterion.about}{'; covers ' if criterion.grades else ''}{', '.join(criterion.grades)}"
    if criterion.counted:
        yield f"  this criterion {criterion.counted}"
    totals = " and ".join(f"{points:g} with `charge: {charge}`" for charge, points in graded.totals.items())
    yield f"  points of all criteria: {totals}"

    calls = [call_result for call_result in call_results if call_result.test_call.criterion == name]
    yield f"\nTest calls: {len(calls)}, failing: {sum(call_result.failed for call_result in calls)}"
    suite = homework.suites / f"test_{criterion.module}.py"
    for test, of_test in groupby(calls, key=lambda call_result: call_result.test_call.test.partition("[")[0]):
        yield f"  {test} ({_location(homework, suite, f'def {test}(')})"
        for call_result in of_test:
            yield from _call(homework, call_result)

    yield "\nDiagnosis"
    yield from (f"  {line}" for line in _diagnosis(homework, score, call_results))
    text, function = RULES[score.why]
    where = _location(homework, Path(scoring.__file__), f"def {function}(")
    yield f"\nRule\n  {text}\n  {where}; autograder/docs/explanation/scoring.md"


def _graded_again(homework: Homework, result: Path) -> Result:
    """Grade the submission of a result file again; prints whether it or the kit has changed. Raises ArgumentsError."""
    out = result.absolute().parent.parent
    run = store.read_run(out)
    entries = {entry.key: entry for entry in listing(run.paths, homework.rubric, out, run.one_submission).entries}
    if result.stem not in entries:
        raise ArgumentsError(f"{result.stem}: not among the submissions of this run any more; see {out / store.RUN}")
    try:
        before = dict(json.loads(result.read_bytes())["extra_data"])
    except (ValueError, KeyError, TypeError):
        raise ArgumentsError(f"{result}: not a result of this kit") from None
    versions = [load(entries[result.stem], homework.rubric, accept) for accept in (False, True)]
    same = [version for version in versions if pool.submission_digest(version) == before.get("submission")]
    if not same:
        click.echo("note: the submission has changed since it was graded", err=True)
    if before.get("kit") != pool.kit_digest(homework.own_folder):
        click.echo("note: the kit has changed since then; this output is from the current kit", err=True)
    with open_grader(homework) as grader:
        return grader.grade((same or versions)[0])


def _call(homework: Homework, call_result: CallResult) -> Iterator[str]:
    test_call, names = call_result.test_call, [""] * len(call_result.test_call.args)
    names += [f"{name}=" for name in test_call.kwargs]
    values = (
        f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else display(value)
        for value in (*test_call.args, *test_call.kwargs.values())
    )
    function, kind = test_call.target.function, test_call.kind
    call = f"{function}({', '.join(map(''.join, zip(names, values, strict=True)))})"
    call = call if kind == "call" else f"an earlier call of {function}: {OF_EARLIER[kind]}"
    yield f"    {'FAILS ' if call_result.failed else 'passes'} {call}"
    if call_result.failed:
        yield f"           {line('failure', call_result, rubric=homework.rubric)}"
        yield from (f"           {shorten(text, LONGEST, placeholder=' ...')}" for text in outcome(call_result))


def _diagnosis(homework: Homework, score: CriterionScore, call_results: Iterable[CallResult]) -> Iterator[str]:
    for misconception in score.misconceptions:
        function, module = misconception.function, misconception.module
        if misconception.is_observed:
            yield f"observed: {misconception.does}"
        elif not misconception.right:
            yield f"{misconception.name} in {module}.py: a single edit of {function} makes every call pass"
        else:
            where = _location(homework, homework.misconceptions / module / f"{function}.py", f'"{misconception.name}"')
            yield f"{misconception.id} ({where}): {misconception.does}"
            results = of_function(call_results, function)
            failing = sum(map(wrong_in_value, results))
            with_others = " with the other mistakes named," if len(score.misconceptions) > 1 else ""
            if score.at_least:
                yield f"  it explains some of the {failing} wrong results of {function}"
            else:
                yield f" {with_others} it reproduces all {len(results)} results of {function}, {failing} of them wrong"
    if score.undecided:
        ids = ", ".join(misconception.id for misconception in score.undecided)
        yield f"these misconceptions give the same result in every call, so none is named: {ids}"
    if score.blamed:
        yield f"tested with a correct {', '.join(score.blamed)} in place of the student's"
    if score.charged:
        yield f"costs {', '.join(score.charged)}"
    if tests := score.tests:
        yield tests.problem or f"the tests of {tests.function} detect {tests.detected} of {tests.total}"
    elif not (score.misconceptions or score.undecided):
        unexplained = "no misconception and no single edit explains the calls"
        yield f"none: {NOTHING_FAILS if score.call_result is None else unexplained}"


def _location(homework: Homework, file: Path, text: str) -> str:
    """Return the file, relative to the homework, and the line where a text first occurs."""
    rows = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    number = next((number for number, row in enumerate(rows, 1) if text in row), 0)
    where = file.relative_to(homework.folder) if file.is_relative_to(homework.folder) else file
    return f"{where}:{number}" if number else str(where)
