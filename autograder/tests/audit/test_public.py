"""Misconceptions that the public checks detect."""

import shutil
from pathlib import Path

import pytest

from autograder.audit import public
from autograder.audit.public import Detection
from autograder.exceptions import CommandError
from autograder.homework.homework import Homework
from autograder.release import drafts
from autograder.tests.files import HOMEWORK, KMEANS
from autograder.tests.running import the_plan


def test_public_checks_of_another_homework_are_run_after_a_build(tmp_path: Path) -> None:
    homework = Homework(shutil.copytree(KMEANS, tmp_path, dirs_exist_ok=True))
    with pytest.raises(CommandError, match="run autograder build"):
        list(public.run(homework, jobs=1))
    drafts.update_checks(homework)
    answers = [one.answer for one in public.run(homework, jobs=1) if one.checks]
    assert answers and answers.count("named") > len(answers) / 2 and "misnamed" not in answers


@pytest.mark.slow
def test_checks_detect_only_what_they_cover() -> None:
    the_plan()  # imports the hidden suites, which have the same module names as the public checks
    found = {one.misconception.id: one for one in public.run(HOMEWORK, ["layernorm"], 1)}
    assert found.keys() == {m.id for m in HOMEWORK.of_module("layernorm")}
    assert "test_eps" in found["layer_norm.eps_missing"].checks
    assert found["layer_norm.sample_variance"].answer == "named"
    checks = (HOMEWORK.solutions / "checks" / "test_layernorm.py").read_text(encoding="utf-8")
    assert all(f"def {name}(" in checks for one in found.values() for name in one.checks)


@pytest.mark.slow
def test_most_detected_misconceptions_are_named_and_none_is_misnamed() -> None:
    seen = [one for one in public.run(HOMEWORK) if one.checks]
    assert [one.misconception.id for one in seen if one.answer == "misnamed"] == []
    assert len([one for one in seen if one.answer == "named"]) >= 0.92 * len(seen)  # only ever raise this share


@pytest.mark.parametrize(("printed", "answer"), [
    ("", "-"), ("Does.", "half"), ("Right.", "half"), ("Does. Right.", "named"),
    ("Does. Other.", "misnamed"), ("Other.", "misnamed"),
])  # fmt: skip
def test_misconception_is_named_only_if_all_sentences_are_its_own(printed: str, answer: str) -> None:
    misconception = HOMEWORK.of_module("layernorm")[0]
    assert public.answer(printed.split(), {"Does.", "Right.", "Does 0.1."}) == answer
    said = list(public.lines([Detection(misconception, ("test_one",), answer)]))
    assert f"  check  {answer:<10}{misconception.id}  (test_one)" in said
    assert said[-1].startswith("all: of 1 mistakes the public checks detect 1, of which ")
    assert f"{int(answer == 'half')} half" in said[-1]
