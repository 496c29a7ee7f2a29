"""Pairs of misconceptions in one function: which cost the criteria of both, and how the others are reported."""

import pytest

from autograder.audit import audit, cases
from autograder.audit.audit import PairVerdict
from autograder.audit.cases import Case, InProcess
from autograder.tests.files import HOMEWORK
from autograder.tests.making import few, graded, known, made
from autograder.tests.running import the_plan


@pytest.fixture(scope="module")
def grader() -> InProcess:
    return InProcess(the_plan())


def pair(*names: str) -> Case:
    chosen = map(known, names)
    return Case("pair", " + ".join(f"layer_norm.{name}" for name in names), "layernorm", "layer_norm", tuple(chosen))


@pytest.mark.parametrize(("ids", "are_named"), few([
    ("layer_norm.default_eps layer_norm.sample_variance", True),
    # A wrong dtype alone does not rule out a misconception that keeps state between calls:
    ("layer_norm.float64_result layer_norm.statistics_kept", False),
    # Errors with the same message:
    ("scaled_dot_product_attention.mask_truthiness scaled_dot_product_attention.renormalised", False),
    # A misconception is ruled out if its argument change is missing, or if an expected error is not raised:
    ("feed_forward.float64_result feed_forward.relu_on_input", False),
    ("split_heads.remembers split_heads.rest_dropped", False),
    # Neither errors nor results of another type hide state, which a repetition in a new process shows:
    ("feed_forward.dict_order feed_forward.remembers", False),
    ("gradient_flow.list gradient_flow.remembers", False),
    # Changed arguments cost points in the helper that changes them, not in its callers:
    ("decoder_logits.changes_params decoder_logits.positions_cached", False),
], 1))  # fmt: skip
def test_pair_costs_the_criteria_of_both(grader: InProcess, ids: str, are_named: bool) -> None:
    chosen = next(case for case in cases.pairs(HOMEWORK) if sorted(case.ids) == ids.split())
    verdict = audit.graded_pair(grader, chosen)
    assert verdict.what == "both" and (verdict.row.named == verdict.row.case.ids or not are_named)


@pytest.mark.parametrize(("names", "words"), [
    ("only_centred default_eps", "gives the results of layer_norm.only_centred alone"),
    ("not_centred changes_x", "gives the results of layer_norm.changes_x alone"),  # in the criterion that is kept
])  # fmt: skip
def test_pair_that_one_of_the_two_masks_is_no_problem(grader: InProcess, names: str, words: str) -> None:
    verdict = audit.graded_pair(grader, pair(*names.split()))
    assert (verdict.what, verdict.words) == ("masked", words) and audit.pair_problems([verdict]) == []


def test_keeping_a_criterion_of_a_visible_misconception_is_a_problem(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    named = graded("layernorm.statistics", "mistake", "sample_variance")
    verdict = audit.pair_verdict(grader, made(case, named))
    assert audit.pair_problems([verdict]) == [f"{case.name}: keeps layernorm.epsilon"]


def test_losing_other_criteria_is_a_problem_only_if_frequent(grader: InProcess) -> None:
    case = pair("sample_variance", "default_eps")
    lost = [graded(f"layernorm.{name}", "unexplained") for name in ("statistics", "epsilon", "rms")]
    verdict = audit.pair_verdict(grader, made(case, *lost))
    assert audit.pair_problems([verdict]) == [f"{case.name}: loses layernorm.rms as well"]
    assert audit.pair_problems([verdict, *[PairVerdict(verdict.row, "both", "costs both")] * 99]) == []


def test_report_counts_pairs_and_lists_those_that_do_not_cost_both() -> None:
    case = pair("sample_variance", "default_eps")
    named = made(case, graded("layernorm.statistics", "mistake", "sample_variance", "default_eps"))
    alone = "gives the results of layer_norm.sample_variance alone"
    verdicts = [PairVerdict(named, "both", "costs both"), PairVerdict(made(case), "masked", alone)]
    said = list(audit.pair_lines(verdicts))
    assert said[0].startswith(
        "layer_norm: 2 pairs; 1 cost both, 1 of them with both names; 1 are masked by one of the two"
    )
    assert said[1:] == [f"  {case.name}: {alone}"]
