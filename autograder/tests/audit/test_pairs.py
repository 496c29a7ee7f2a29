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


def test_a_pair_costs_both_and_both_are_named() -> None:
    (probe_results,) = audit.run_pairs([pair("sample_variance", "default_eps")], 1)
    assert (probe_results.what, probe_results.row.named) == ("both", probe_results.row.case.ids)


@pytest.mark.parametrize(
    "ids",
    few(
        [
            "layer_norm.statistics_kept layer_norm.float64_result",  # wrong form alone does not speak against what is kept
            # Errors in the same words:
            "scaled_dot_product_attention.mask_truthiness scaled_dot_product_attention.renormalised",
            "feed_forward.relu_on_input feed_forward.float64_result",  # a change that was not seen rules a mistake out
            "split_heads.rest_dropped split_heads.remembers",  # nor does an error that is due and does not come
            "decoder_logits.changes_params decoder_logits.positions_cached",  # what a helper changes is not charged above it
        ],
        1,
    ),
)
def test_what_tells_a_pair_from_others(ids: str) -> None:
    chosen = [case for case in cases.pairs() if " ".join(sorted(case.ids)) == " ".join(sorted(ids.split()))][:1]
    assert [probe_results.what for probe_results in audit.run_pairs(chosen, 1)] == ["both"]


def test_a_pair_that_keeps_a_criterion_though_it_shows_is_a_problem(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    named = graded("layernorm.statistics", "mistake", "sample_variance")
    probe_results = audit.pair_verdict(grader, made(case, named))
    assert audit.pair_problems([probe_results]) == [f"{case.name}: keeps layernorm.epsilon"]


def test_pairs_that_lose_more_are_a_problem_if_they_are_many(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    lost = [graded(f"layernorm.{name}", "unexplained") for name in ("statistics", "epsilon", "rms")]
    verdict = audit.pair_verdict(grader, made(case, *lost))
    assert audit.pair_problems([verdict]) == [f"{case.name}: loses layernorm.rms as well"]
    assert audit.pair_problems([verdict, *[PairVerdict(verdict.row, "both")] * 99]) == []


def test_lines_count_and_list_what_does_not_cost_both() -> None:
    case = pair("sample_variance", "default_eps")
    named = made(case, graded("layernorm.statistics", "mistake", "sample_variance", "default_eps"))
    probe_results = [PairVerdict(named, "both"), PairVerdict(made(case), "hidden", ("layer_norm.sample_variance",))]
    said = list(audit.pair_lines(probe_results))
    assert said[0].startswith(
        "layer_norm: 2 pairs; 1 cost both, 1 of them with both names; 1 are masked by one of the two"
    )
    assert said[1:] == [f"  {case.name}: gives the results of layer_norm.sample_variance alone"]
