"""README.md matches the current homework and kit, and the CI scripts find its two commands."""

import json
import re

import pytest

from autograder.docs import pictures
from autograder.grading.grader import Grader
from autograder.homework.homework import PACKAGE
from autograder.tests.files import HOMEWORK

TEXT = (HOMEWORK.folder / "README.md").read_text(encoding="utf-8")
STUDENTS = (HOMEWORK.solutions / "README.md").read_text(encoding="utf-8")
STALE = "run: python -m autograder.docs.pictures"
ACCURACY = (PACKAGE / "docs" / "explanation" / "accuracy.md").read_text(encoding="utf-8")


def test_names_and_losses_match_the_students_readme() -> None:
    """A test of the notebook recomputes those."""
    [names] = re.findall(r"^\*(\w+(?:, \w+)+)\*$", TEXT, re.MULTILINE)
    rows = re.findall(r"^\| [a-z ]+ \| (\d\.\d\d) \| ([a-z ]+) \|$", TEXT, re.MULTILINE)
    assert names in STUDENTS and len(rows) == 4
    for loss, written in rows:
        assert f"| {loss} | {written} |" in STUDENTS


def test_rates_match_the_page_on_accuracy() -> None:
    [head, rates] = re.findall(r"^\| (?:wrong code caught|\d+ of) .*\|$", TEXT, re.MULTILINE)
    assert head.count("|") == rates.count("|") == 5
    for rate in rates.strip("| ").split(" | "):
        assert rate in ACCURACY


@pytest.mark.parametrize("end", ["demo", "pytest"])
def test_scripts_find_exactly_one_command_of_each_kind(end: str) -> None:
    assert len(re.findall(rf"^    (python3 -m venv .*{end})$", TEXT, re.MULTILINE)) == 1


def test_devcontainer_installs_like_the_readme() -> None:
    settings = json.loads((HOMEWORK.folder / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert f"    {settings['postCreateCommand']} && .venv/bin/pytest\n" in TEXT


def test_picture_of_the_students_feedback_is_up_to_date(grader: Grader) -> None:
    assert pictures.STUDENT.read_text(encoding="utf-8") == pictures.student(grader), STALE


@pytest.mark.slow
def test_picture_of_the_instructors_view_is_up_to_date(grader: Grader) -> None:
    assert pictures.INSTRUCTOR.read_text(encoding="utf-8") == pictures.instructor(grader), STALE
