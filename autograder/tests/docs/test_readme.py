"""README.md matches the current homework and kit, and the CI scripts find its two commands."""

import json
import math
import re

import pytest

from autograder.docs import pictures
from autograder.homework.homework import PACKAGE
from autograder.tests.files import HOMEWORK

TEXT = (HOMEWORK.folder / "README.md").read_text(encoding="utf-8")
STUDENTS = (HOMEWORK.solutions / "README.md").read_text(encoding="utf-8")
ACCURACY = (PACKAGE / "docs" / "explanation" / "accuracy.md").read_text(encoding="utf-8")


def test_first_sentence_quotes_the_feedback() -> None:
    misconception = HOMEWORK.misconception(pictures.MISTAKE)
    assert misconception is not None
    assert f"*{misconception.does.rstrip('.')}*" in " ".join(TEXT.partition("## Try it")[0].split())


def test_hours_agree() -> None:
    [least, most] = map(int, re.findall(r"(\d+) to (\d+) hours \(an estimate\)", TEXT)[0])
    assert f"{least} to {most} hours (an estimate)" in " ".join(STUDENTS.split())
    rows = re.findall(r"^- `\w+\.py`: (\d+) to (\d+) hours", STUDENTS, re.MULTILINE)
    assert "`concept_check.py`: half an hour" in STUDENTS and len(rows) == len(HOMEWORK.rubric.modules) - 1
    assert [math.floor(sum(map(int, hours)) + 0.5 + 0.5) for hours in zip(*rows, strict=True)] == [least, most]


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
