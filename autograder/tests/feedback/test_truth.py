"""Statements in messages about other criteria and functions are true, for a sample of the audit's cases."""

import re

import pytest

from autograder.audit.cases import InProcess, cases, submission
from autograder.feedback.messages import message
from autograder.grading.grader import Result
from autograder.tests.files import HOMEWORK
from autograder.tests.making import few, sample
from autograder.tests.running import the_plan

SAMPLE = [
    case for case in sample([case for case in cases(HOMEWORK) if case.kind in ("mistake", "hole")], 1) if case.module
]
PLACE = re.compile(r"counted under ((?:`[^`]*`(?:, | and )?)+)|Same mistakes? as under ((?:`[^`]*`(?:, | and )?)+)")
WORKS = re.compile(r"with a correct ((?:`\w+`(?:, | and )?)+) in place of yours, this works")


@pytest.fixture(scope="module")
def grader() -> InProcess:
    return InProcess(the_plan())


def names(found: str) -> set[str]:
    return set(re.findall(r"`([^`]*)`", found))


def false_statements(result: Result, function: str) -> list[str]:
    """The false statements in the messages of a submission in which only `function` is wrong."""
    said = [message(graded, result) for graded in result.graded]
    lost = {graded.criterion.id for graded in result.graded if not graded.passed}
    found = []
    for text in said:
        for places in PLACE.findall(text):
            found += [f"{name} is not lost: {text}" for name in names("".join(places)) - lost]
        for helpers in WORKS.findall(text):
            found += [f"{name} is right: {text}" for name in names(helpers) - {function}]
        if "keeps state between" in text:
            found.append(text)
    return found


@pytest.mark.parametrize("module", few(list(HOMEWORK.rubric.modules)))
def test_statements_about_other_criteria_are_true(grader: InProcess, module: str) -> None:
    for case in SAMPLE:
        if case.module == module and not any(misconception.memory for misconception in case.misconceptions):
            assert false_statements(grader.grade(submission(HOMEWORK, case), (module,)), case.function) == [], case.name
