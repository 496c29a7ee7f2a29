"""What the public checks and the docstring examples detect of known mistakes."""

from dataclasses import replace

import pytest

from autograder.audit import public
from autograder.audit.public import Seen
from autograder.grading import plan
from autograder.homework import kit, library


@pytest.mark.slow
def test_checks_and_examples_see_a_mistake_that_shows_in_them_and_no_other() -> None:
    plan.current()  # imports the hidden suites, which have the names of the public checks
    found = {one.misconception.id: one for one in public.run(["layernorm"], 1)}
    assert found.keys() == {m.id for m in library.of_module("layernorm")}
    assert "test_eps" in found["layer_norm.eps_missing"].checks
    assert found["layer_norm.first_axis"].example
    assert not found["layer_norm.float64_result"].example
    assert not all(one.checks for one in found.values())
    assert found["layer_norm.sample_variance"].answer == "named"
    checks = (kit.solutions() / "checks" / "test_layernorm.py").read_text(encoding="utf-8")
    assert all(f"def {name}(" in checks for one in found.values() for name in one.checks)


@pytest.mark.slow
def test_most_mistakes_that_a_check_sees_are_named_and_none_as_another() -> None:
    seen = [one for one in public.run() if one.checks]
    assert [one.misconception.id for one in seen if one.answer == "misnamed"] == []
    assert len([one for one in seen if one.answer == "named"]) >= 0.92 * len(seen)  # to be raised, never lowered


def test_lines_explain_themselves() -> None:
    misconception = library.of_module("layernorm")[0]
    said = list(public.lines([Seen(misconception, ("test_one",), False, (misconception.right,))]))
    assert said[0].startswith("check: ")
    assert f"  check  half      -        {misconception.id}  (test_one)" in said
    assert said[-1] == (
        "all: of 1 mistakes the public checks detect 1, of which 0 are named, 1 half, 0 misnamed; the docstring examples detect 0"
    )


@pytest.mark.parametrize(("said", "answer"), [
    ([], "-"), (["Does."], "half"), (["Right."], "half"), (["Does.", "Right."], "named"),
    (["Does.", "Other."], "misnamed"), (["Other."], "misnamed"),
])  # fmt: skip
def test_an_answer_is_right_only_if_every_sentence_is_the_mistakes_own(said: list[str], answer: str) -> None:
    misconception = replace(library.of_module("layernorm")[0], does="Does.", right="Right.")
    assert Seen(misconception, ("test_one",), False, tuple(said)).answer == answer
