"""Pairs of mistakes in one function: which cost both, and what is said of those that do not."""

import pytest

from autograder.audit import audit, cases
from autograder.audit.audit import PairVerdict
from autograder.audit.cases import Case, InProcess
from autograder.grading import plan
from autograder.tests.making import few, graded, known, made


@pytest.fixture(scope="module")
def grader() -> InProcess:
    return InProcess(plan.current())


def pair(*names: str) -> Case:
    chosen = map(known, names)
    return Case("pair", " + ".join(f"layer_norm.{name}" for name in names), "layernorm", "layer_norm", tuple(chosen))


@pytest.mark.parametrize(("ids", "are_named"), few([
    ("layer_norm.default_eps layer_norm.sample_variance", True),
    # Wrong form alone does not speak against what is kept:
    ("layer_norm.float64_result layer_norm.statistics_kept", False),
    # Errors in the same words:
    ("scaled_dot_product_attention.mask_truthiness scaled_dot_product_attention.renormalised", False),
    # A change that was not seen rules a mistake out, and so does an error that is due and does not come:
    ("feed_forward.float64_result feed_forward.relu_on_input", False),
    ("split_heads.remembers split_heads.rest_dropped", False),
    # What a helper changes is not charged above it:
    ("decoder_logits.changes_params decoder_logits.positions_cached", False),
], 1))  # fmt: skip
def test_a_pair_costs_both(ids: str, are_named: bool) -> None:
    chosen = [case for case in cases.pairs() if sorted(case.ids) == ids.split()][:1]
    (verdict,) = audit.run_pairs(chosen, 1)
    assert verdict.what == "both" and (verdict.row.named == verdict.row.case.ids or not are_named)


def test_a_pair_that_keeps_a_criterion_though_it_shows_is_a_problem(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    named = graded("layernorm.statistics", "mistake", "sample_variance")
    verdict = audit.pair_verdict(grader, made(case, named))
    assert audit.pair_problems([verdict]) == [f"{case.name}: keeps layernorm.epsilon"]


def test_pairs_that_lose_more_are_a_problem_if_they_are_many(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    lost = [graded(f"layernorm.{name}", "unexplained") for name in ("statistics", "epsilon", "rms")]
    verdict = audit.pair_verdict(grader, made(case, *lost))
    assert audit.pair_problems([verdict]) == [f"{case.name}: loses layernorm.rms as well"]
    assert audit.pair_problems([verdict, *[PairVerdict(verdict.row, "both", "costs both")] * 99]) == []


def test_lines_count_and_list_what_does_not_cost_both() -> None:
    case = pair("sample_variance", "default_eps")
    named = made(case, graded("layernorm.statistics", "mistake", "sample_variance", "default_eps"))
    alone = "gives the results of layer_norm.sample_variance alone"
    verdicts = [PairVerdict(named, "both", "costs both"), PairVerdict(made(case), "hidden", alone)]
    said = list(audit.pair_lines(verdicts))
    assert said[0].startswith(
        "layer_norm: 2 pairs; 1 cost both, 1 of them with both names; 1 are masked by one of the two"
    )
    assert said[1:] == [f"  {case.name}: {alone}"]
