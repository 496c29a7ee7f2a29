"""Misconceptions that the public checks detect."""

import pytest

from autograder.audit import public
from autograder.audit.public import Detection
from autograder.tests.files import HOMEWORK
from autograder.tests.running import the_plan


@pytest.mark.slow
def test_checks_detect_only_what_they_cover() -> None:
    the_plan()  # imports the hidden suites, which have the same module names as the public checks
    found = {one.misconception.id: one for one in public.run(HOMEWORK, ["layernorm"], 1)}
    assert found.keys() == {m.id for m in HOMEWORK.of_module("layernorm")}
    assert "test_eps" in found["layer_norm.eps_missing"].checks
    assert not all(one.checks for one in found.values())
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
    sentences = frozenset({"Does.", "Right.", "Does 0.1."})
    found = Detection(misconception, ("test_one",), frozenset(printed.split()), sentences)
    assert found.answer == answer
    said = list(public.lines([found]))
    assert f"  check  {answer:<10}{misconception.id}  (test_one)" in said
    assert said[-1].startswith("all: of 1 mistakes the public checks detect 1, of which ")
    assert f"{int(answer == 'half')} half" in said[-1]
