"""Pairs of mistakes in one function: which cost both, and what is said of those that do not."""

import pytest

from autograder.grading import script
from autograder.homework import mistakes
from autograder.proof import cases, pairs
from autograder.proof.cases import Case
from autograder.proof.in_process import InProcess
from autograder.proof.pairs import Tried
from autograder.proof.rows import Row, Verdict


@pytest.fixture(scope="module")
def grader() -> InProcess:
    return InProcess(script.current())


def pair(*names: str) -> Case:
    chosen = [next(m for m in mistakes.of_function("layernorm", "layer_norm") if m.name == name) for name in names]
    return Case("pair", " + ".join(f"layer_norm.{name}" for name in names), "layernorm", "layer_norm", tuple(chosen))


def test_a_pair_costs_both_and_both_are_named() -> None:
    (tried,) = pairs.run([pair("sample_variance", "default_eps")], 1)
    assert (tried.what, tried.named) == ("both", True)


@pytest.mark.slow
def test_of_every_function_a_pair_costs_both_or_it_is_known_why_not() -> None:
    assert pairs.problems(pairs.run(cases.sample(list(cases.pairs()), 1), 2)) == []


def test_a_pair_that_keeps_a_criterion_though_it_shows_is_a_problem(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    named = Verdict(False, "mistake", ("layer_norm.sample_variance",))
    tried = pairs.judged(grader, Row(case, {"layernorm.statistics": named}))
    assert pairs.problems([tried]) == [f"{case.name}: keeps layernorm.epsilon"]


def test_a_pair_that_loses_what_neither_belongs_to_is_a_problem(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    lost = Verdict(False, "unexplained")
    own = dict.fromkeys(("layernorm.statistics", "layernorm.epsilon", "layernorm.rms"), lost)
    assert pairs.problems([pairs.judged(grader, Row(case, own))]) == [f"{case.name}: loses layernorm.rms as well"]


def test_lines_count_and_list_what_does_not_cost_both() -> None:
    case = pair("sample_variance", "default_eps")
    tried = [Tried(case, "both", named=True), Tried(case, "hidden", ("layer_norm.sample_variance",))]
    said = list(pairs.lines(tried))
    assert said[0].startswith(
        "layer_norm: 2 pairs; 1 cost both, 1 of them with both names; 1 are hidden by one of the two"
    )
    assert said[1:] == [f"  {case.name}: replies as layer_norm.sample_variance alone"]
