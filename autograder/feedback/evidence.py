"""Explains to an instructor why a criterion was earned or lost: test calls, diagnosis and rule, each with file and
line.

The output has hidden calls and expected values, so students must not see it.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from autograder.feedback.sentences import sentence
from autograder.grading import scoring
from autograder.grading.call_results import CallResult, of_function, outcome
from autograder.grading.grader import Result
from autograder.grading.known_responses import wrong_in_value
from autograder.grading.scoring import CriterionScore, Why
from autograder.homework import kit
from autograder.homework.library import Misconception
from autograder.values.tree import describe

LONGEST = 300  # characters of one value
SCORES, OF_VALUES, OF_FORM = scoring.scores, scoring._Scoring._of_values, scoring._Scoring._of_form
# The meaning of CriterionScore.why, and the code that decides it.
RULES: dict[Why, tuple[str, Callable[..., Any]]] = {
    "right": ("every call passes", SCORES),
    "elsewhere": ("earned: the mistake that explains the failing calls costs another criterion (rule 1)", OF_VALUES),
    "mistake": ("lost to a recognised mistake, which belongs to this criterion (rules 1 and 2)", OF_VALUES),
    "unexplained": ("lost to failing calls that no diagnosed mistake explains (rule 3)", OF_VALUES),
    "form": ("lost to an observed side effect or dtype (rule 4)", OF_FORM),
    "too little": ("lost: fewer than half of its functions compute something correct (rule 4)", OF_FORM),
    "tests": ("the share of wrong versions that the student's tests detect", SCORES),
    "not imported": ("lost: the modules cannot be imported together", SCORES),
}


def lines(graded: CriterionScore, result: Result) -> Iterator[str]:
    """The explanation of one criterion."""
    criterion = graded.criterion
    points = f"{graded.points:g} of {criterion.most:g} points"
    yield f"{criterion.id}: {points} ({_found(kit.rubric_file(), criterion.id.partition('.')[2] + ':')})"
    yield f"  {criterion.about}; covers {', '.join(criterion.grades) or 'all modules together'}"
    module = next(module for module in result.modules if module.module == criterion.module)
    own = [call_result for call_result in module.call_results if call_result.test_call.criterion == criterion.id]
    failed = [call_result for call_result in own if call_result.failed]
    yield f"\nTest calls: {len(own)}, failing: {len(failed)}"
    suite = kit.suites() / f"test_{criterion.module}.py"
    for test, calls in groupby(own, key=lambda call_result: call_result.test_call.test.partition("[")[0]):
        yield f"  {test} ({_found(suite, f'def {test}(')})"
        for call_result in calls:
            yield from _call(call_result)
    yield "\nDiagnosis"
    yield from (f"  {line}" for line in _diagnosis(graded, module.call_results))
    text, function = RULES[graded.why]
    file = Path(inspect.getfile(function)).relative_to(kit.PACKAGE.parent)
    line = f"{file}:{inspect.getsourcelines(function)[1]}"
    yield f"\nRule\n  {text}\n  {line}; autograder/docs/explanation/scoring.md"


def _call(call_result: CallResult) -> Iterator[str]:
    test_call = call_result.test_call
    arguments = [_argument(value) for value in test_call.args]
    arguments += [f"{name}={_argument(value)}" for name, value in test_call.kwargs.items()]
    call = f"{test_call.target.function}({', '.join(arguments)})"
    earlier = f"{test_call.kind} of an earlier call of {test_call.target.function}"
    yield f"    {'FAILS ' if call_result.failed else 'passes'} {call if test_call.kind == 'call' else earlier}"
    if call_result.failed:
        yield f"           {sentence(call_result)}"
        yield from (f"           {_short(line)}" for line in outcome(call_result))


def _argument(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return repr(value) if isinstance(value, bool | int | float | str | None) else describe(value)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _diagnosis(graded: CriterionScore, call_results: Iterable[CallResult]) -> Iterator[str]:
    for misconception in graded.misconceptions:
        yield from _mistake(misconception, graded, call_results)
    if graded.undecided:
        ids = ", ".join(misconception.id for misconception in graded.undecided)
        yield f"these misconceptions give the same result in every call, so none is named: {ids}"
    if graded.blamed:
        yield f"tested with a correct {', '.join(graded.blamed)} in place of the student's"
    if graded.charged:
        yield f"costs {', '.join(graded.charged)}"
    if not (graded.misconceptions or graded.undecided):
        passes = graded.call_result is None
        yield f"none: {'every call passes' if passes else 'no misconception and no single edit explains the calls'}"


def _mistake(misconception: Misconception, graded: CriterionScore, call_results: Iterable[CallResult]) -> Iterator[str]:
    if misconception.is_observed:
        yield f"observed: {misconception.does}"
        return
    if not misconception.right:
        yield f"{misconception.name} in {misconception.module}.py: a single edit of {misconception.function} makes every call pass"
        return
    file = kit.misconceptions() / misconception.module / f"{misconception.function}.py"
    place = _found(file, '"' + misconception.name + '"')
    yield f"{misconception.id} ({place}): {misconception.does}"
    own = of_function(call_results, misconception.function)
    wrong = sum(map(wrong_in_value, own))
    beside = " with the other mistakes named," if len(graded.misconceptions) > 1 else ""
    if graded.at_least:
        yield f"  it explains some of the {wrong} wrong results of {misconception.function}"
    else:
        yield f" {beside} it reproduces all {len(own)} results of {misconception.function}, {wrong} of them wrong"


def _found(file: Path, text: str) -> str:
    """The file, relative to the homework, and the line where a text first occurs."""
    rows = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    number = next((number for number, row in enumerate(rows, 1) if text in row), 0)
    place = file.relative_to(kit.home()) if file.is_relative_to(kit.home()) else file
    return f"{place}:{number}" if number else str(place)
