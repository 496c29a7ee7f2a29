"""Why a criterion was earned or lost, for an instructor: its test calls, the diagnosis and the rule, each with file and line.

It shows hidden calls and expected values, so no student may see it.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from autograder.feedback.sentences import seen, sentence
from autograder.grading import scoring
from autograder.grading.call_results import Record
from autograder.grading.grader import Result
from autograder.grading.responses import wrong_in_value
from autograder.grading.scoring import Graded, Why
from autograder.homework import kit
from autograder.homework.library import Mistake
from autograder.values.display import display
from autograder.values.kinds import describe

LONGEST = 300  # characters of one value
# What the reasons of Graded mean, and the code that decides them.
RULES: dict[Why, tuple[str, Callable[..., Any]]] = {
    "right": ("every call passes", scoring.charges),
    "elsewhere": (
        "earned: the mistake that explains the failing calls costs another criterion (rule 1)",
        scoring._Charging._of_values,
    ),
    "mistake": (
        "lost to a recognised mistake, which belongs to this criterion (rules 1 and 2)",
        scoring._Charging._of_values,
    ),
    "unexplained": ("lost to failing calls that no diagnosed mistake explains (rule 3)", scoring._Charging._of_values),
    "form": ("lost to an observed side effect or dtype (rule 4)", scoring._Charging._of_form),
    "too little": (
        "lost: fewer than half of its functions compute something correct (rule 4)",
        scoring._Charging._of_form,
    ),
    "tests": ("the share of wrong versions that the student's tests detect", scoring.charges),
    "not imported": ("lost: the modules cannot be imported together", scoring.charges),
}


def lines(graded: Graded, result: Result) -> Iterator[str]:
    """The explanation of one criterion."""
    criterion = graded.criterion
    points = f"{graded.points:g} of {criterion.most:g} points"
    yield f"{criterion.id}: {points} ({_found(kit.rubric_file(), criterion.id.partition('.')[2] + ':')})"
    yield f"  {criterion.about}; covers {', '.join(criterion.grades) or 'all modules together'}"
    module = next(module for module in result.modules if module.module == criterion.module)
    own = [record for record in module.records if record.step.criterion == criterion.id]
    failed = [record for record in own if record.fault is not None]
    yield f"\nTest calls: {len(own)}, failing: {len(failed)}"
    suite = kit.suites() / f"test_{criterion.module}.py"
    for test, calls in groupby(own, key=lambda record: record.step.test.partition("[")[0]):
        yield f"  {test} ({_found(suite, f'def {test}(')})"
        for record in calls:
            yield from _call(record)
    yield "\nDiagnosis"
    yield from (f"  {line}" for line in _diagnosis(graded, module.records))
    said, function = RULES[graded.why]
    yield f"\nRule\n  {said}\n  {_line_of(function)}; autograder/docs/explanation/scoring.md"


def _call(record: Record) -> Iterator[str]:
    step = record.step
    outcome = "passes" if record.fault is None else "FAILS "
    arguments = ", ".join(
        [*map(_argument, step.args), *(f"{n}={_argument(value)}" for n, value in step.kwargs.items())]
    )
    call = f"{step.target.function}({arguments})"
    yield f"    {outcome} {call if step.kind == 'call' else f'{step.kind} of an earlier call of {step.target.function}'}"
    if record.fault is None:
        return
    yield f"           {sentence(record)}"
    if step.kind == "call" and record.reply.error is None and record.reply.ended is None:
        yield f"           expected: {step.rules.error or _short(step.expected)}"
        yield f"           returned: {_short(record.reply.value)}"


def _argument(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    plain = isinstance(value, bool | int | float | str) or value is None
    return repr(value) if plain else describe(value)


def _short(value: Any) -> str:
    text = " ".join(display(value).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _diagnosis(graded: Graded, records: Iterable[Record]) -> Iterator[str]:
    for mistake in graded.mistakes:
        yield from _mistake(mistake, graded, records)
    if graded.undecided:
        ids = ", ".join(mistake.id for mistake in graded.undecided)
        yield f"these misconceptions give the same result in every call, so none is named: {ids}"
    if graded.blamed:
        yield f"tested with a correct {', '.join(graded.blamed)} in place of the student's"
    if graded.charged:
        yield f"costs {', '.join(graded.charged)}"
    if not (graded.mistakes or graded.undecided):
        yield (
            "none: every call passes"
            if graded.record is None
            else "none: no misconception and no single edit explains the calls"
        )


def _mistake(mistake: Mistake, graded: Graded, records: Iterable[Record]) -> Iterator[str]:
    if seen(mistake):
        yield f"observed: {mistake.does}"
        return
    if not mistake.right:
        yield f"{mistake.name} in {mistake.module}.py: a single edit of {mistake.function} makes every call pass"
        return
    file = kit.misconceptions() / mistake.module / f"{mistake.function}.py"
    place = _found(file, '"' + mistake.name + '"')
    yield f"{mistake.id} ({place}): {mistake.does}"
    own = [record for record in records if record.target.function == mistake.function]
    wrong = sum(map(wrong_in_value, own))
    if graded.at_least:
        yield f"  it explains some of the {wrong} wrong results of {mistake.function}"
    else:
        beside = " with the other mistakes named," if len(graded.mistakes) > 1 else ""
        yield f" {beside} it reproduces all {len(own)} results of {mistake.function}, {wrong} of them wrong"


def _found(file: Path, text: str) -> str:
    """The file, from the homework's folder, and the line in which a text stands first."""
    rows = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    number = next((number for number, row in enumerate(rows, 1) if text in row), 0)
    place = file.relative_to(kit.home()) if file.is_relative_to(kit.home()) else file
    return f"{place}:{number}" if number else str(place)


def _line_of(function: Callable[..., Any]) -> str:
    return f"{Path(inspect.getfile(function)).relative_to(kit.PACKAGE.parent)}:{inspect.getsourcelines(function)[1]}"
