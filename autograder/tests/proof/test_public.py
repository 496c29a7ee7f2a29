"""What the public checks and the docstrings' examples see of known mistakes."""

from autograder.homework import mistakes
from autograder.proof import public
from autograder.proof.public import Seen


def test_checks_and_examples_see_a_mistake_that_shows_in_them_and_no_other() -> None:
    found = {one.mistake.id: one for one in public.run(["layernorm"], 1)}
    assert len(found) == len({m.id for m in mistakes.of_module("layernorm")})
    assert "test_eps" in found["layer_norm.eps_missing"].checks
    assert found["layer_norm.first_axis"].example
    assert not found["layer_norm.float64_result"].example


def test_lines_explain_themselves() -> None:
    mistake = mistakes.of_module("layernorm")[0]
    said = list(public.lines([Seen(mistake, ("test_one",), False)]))
    assert said[0].startswith("check: ")
    assert f"  check  -        {mistake.id}  (test_one)" in said
    assert said[-1] == "layernorm: of 1 mistakes the public checks see 1, the docstrings' examples 0"
