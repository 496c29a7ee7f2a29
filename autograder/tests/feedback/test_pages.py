"""Pages of graded submissions as students read them, equal to those in pages.txt.

After a change that is meant, write them again with `RECORD=1 pytest -n 0 autograder/tests/feedback/test_pages.py`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.feedback.results import Grade
from autograder.grading.grader import Grader
from autograder.tests.files import expected
from autograder.tests.grading.test_graded_modules import CASES, graded

PAGES = Path(__file__).with_name("pages.txt")
NAMES = (
    "an unexplained mistake keeps the criteria whose relation it has",
    "a known mistake that only a few calls show",
    "a misspelt name costs one criterion",
    "a gradient of several values that the last call kept",
    "a result that is correct in the first call only",
    "nothing is said of calls after a result was written into",
    "a function that needs an unwritten one",
    "a function that needs a missing one",
    "a mistake beside an unwritten function",
    "two wrong functions of one module",
    "nothing right in the decoder",
    "no default",
    "an argument that is lacking",
    "so is a missing one",
    "nor beside a wrong dependency",
    "an endless loop",
    "what is wrong beside a correct helper",
    "an example that passes with the submission's own modules",
    "a function that is wrong only beside a dependent module",
    "a half-finished module",
)


def page(grade: Grade) -> str:
    head = f"{grade.score} of {grade.max_score}: {dict(grade.subtotals)}, {grade.totals}\n{grade.output}\n"
    return head + "".join(
        f"## {mark.name}: {mark.score} of {mark.max_score}, {mark.cause} {', '.join(mark.misconceptions)}\n\n{mark.output}\n"
        for mark in grade.marks
        if mark.output
    )


@pytest.mark.parametrize("name", NAMES)
def test_page(grader: Grader, name: str) -> None:
    grade = Grade.of(graded(grader, CASES[name]))
    assert page(grade) == expected(PAGES, name, page(grade))
    assert Grade.from_gradescope("test", grade.to_gradescope(), 0.0) == replace(grade, rule="")
