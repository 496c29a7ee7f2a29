"""A mistake is charged once: where it was made, what it hides, and the examples that show it."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import pytest

from autograder.audit import cases
from autograder.grading.scoring import CriterionScore, scores
from autograder.homework import library, rubric
from autograder.homework.library import Misconception
from autograder.homework.rubric import Rubric
from autograder.tests import running

Functions = Mapping[str, Callable[..., Any]]


def charged(module: str, functions: Functions, rules: Rubric | None = None) -> dict[str, CriterionScore]:
    """The charge of each criterion, by its short name."""
    call_results = running.call_results(module, functions)
    diagnoses = running.diagnoser().explain(module, call_results)
    found = scores(rules or rubric.current(), module, call_results, diagnoses)
    return {name.partition(".")[2]: score for name, score in found.items()}


def with_mistakes(*ids: str) -> dict[str, CriterionScore]:
    module = rubric.current().module_of(ids[0].partition(".")[0])
    return charged(module, running.with_mistakes(module, *ids))


def lost(found: dict[str, CriterionScore]) -> set[str]:
    return {name for name, score in found.items() if not score.passed} - {"example"}


def test_who_makes_no_mistake_loses_nothing() -> None:
    found = charged("layernorm", running.with_source("layernorm"))
    assert {score.why for score in found.values()} == {"right"}


@pytest.mark.parametrize(
    ("id", "criterion"),
    [
        ("layer_norm.sample_variance", "statistics"),
        ("layer_norm.no_root", "statistics"),
        ("layer_norm.shift_before_scale", "affine"),
        ("layer_norm.eps_outside_root", "epsilon"),
        ("rms_norm.sum_of_squares", "rms"),
        ("layer_norm_backward.averaged", "backward_parameters"),
        ("layer_norm.changes_x", "purity"),
        ("rms_norm.float64_result", "dtype"),
        ("dependency_matrix.transposed", "dependency"),  # which is_autoregressive calls
    ],
)
def test_a_mistake_costs_its_own_criterion_alone(id: str, criterion: str) -> None:
    found = with_mistakes(id)
    assert lost(found) == {criterion}
    assert [m.id for m in found[criterion].misconceptions] == [id] and found[criterion].why in ("mistake", "form")
    assert (found[criterion].why == "form") == (criterion in ("purity", "dtype"))
    elsewhere = [score for score in found.values() if score.why == "elsewhere"]
    assert elsewhere or id != "layer_norm.no_root"
    for score in elsewhere:
        assert score.passed and score.charged == (found[criterion].criterion.id,) and score.call_result is not None
        assert [m.id for m in score.misconceptions] == [id]
    assert id != "layer_norm.no_root" or found["purity"].why == found["dtype"].why == "right"


def test_two_mistakes_cost_two_criteria_and_the_same_one_in_two_functions_one() -> None:
    assert lost(with_mistakes("layer_norm.sample_variance", "layer_norm.eps_outside_root")) == {"statistics", "epsilon"}
    found = with_mistakes("layer_norm.no_root", "rms_norm.no_root")
    assert lost(found) == {"statistics"}
    assert found["rms"].why == "elsewhere" and found["rms"].charged == ("layernorm.statistics",)


def test_what_a_mistake_masks_is_not_lost_to_it() -> None:
    """Where nothing is divided, eps cannot be tested."""
    epsilon = with_mistakes("layer_norm.only_centred")["epsilon"]
    assert epsilon.why == "elsewhere" and epsilon.charged == ("layernorm.statistics",)


@pytest.mark.parametrize(
    ("first", "second", "cost"),
    [
        ("layer_norm.gamma_beta_swapped", "layer_norm_backward.gamma_beta_swapped", {"affine", "backward_parameters"}),
        ("pre_norm_block.norms_swapped", "transformer_stack.norms_swapped", {"pre_norm", "stack"}),
        ("residual.averaged", "gradient_flow.averaged", {"residual", "gradient_flow"}),
        ("norm_moments.no_value_error", "batch_norm.no_value_error", {"moments", "evaluation"}),
    ],
)
def test_other_mistakes_of_one_name_are_charged_each(first: str, second: str, cost: set[str]) -> None:
    assert lost(with_mistakes(first, second)) >= cost


def made_twice(module: str) -> list[tuple[Misconception, Misconception]]:
    pairs = combinations(library.of_module(module), 2)
    return [(a, b) for a, b in pairs if a.same == b.same and a.function != b.function and a.way == b.way == 0]


@pytest.mark.parametrize("module", sorted(rubric.current().modules))
def test_of_mistakes_that_are_the_same_the_same_is_said(module: str) -> None:
    assert all((a.name, a.does) == (b.name, b.does) for a, b in made_twice(module))


# What the second one adds: a worked example, or calls in which both show at once.
COST_MORE = {
    "causal_mask.additive+padding_mask.additive",
    "positional_encoding.batch_axis+embed.batch_axis",
    "positional_encoding.squeezed+embed.squeezed",
    "positional_encoding.squeezed+decoder_logits.squeezed",
    "scaled_dot_product_attention.batch_required+split_heads.batch_required",
    "scaled_dot_product_attention.batch_required+merge_heads.batch_required",
    "scaled_dot_product_attention.batch_required+multi_head_attention.batch_required",
    "split_heads.changes_x+merge_heads.changes_x",
}


PAIRS = [two for module in sorted(rubric.current().modules) for two in made_twice(module)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(a.id, b.id, id=f"{a.id}+{b.id}", marks=[pytest.mark.slow] * (number % 100 > 0))
        for number, (a, b) in enumerate(PAIRS)
    ],
)
def test_a_mistake_made_in_two_functions_costs_what_it_costs_in_the_first(first: str, second: str) -> None:
    module = rubric.current().module_of(first.partition(".")[0])
    call_results = running.call_results(module, running.with_mistakes(module, first, second))
    explained = running.diagnoser().explain(module, call_results)
    above = explained.get(second.partition(".")[0])
    if above is None or not above.misconceptions:
        pytest.skip("beside its helper's mistake a function's own does not show")
    both, one = (sum(score.points for score in with_mistakes(*ids).values()) for ids in ((first, second), (first,)))
    assert (both == one) is (f"{first}+{second}" not in COST_MORE)


@pytest.mark.slow
def test_what_no_known_mistake_explains_costs_each_criterion_that_it_touches() -> None:
    odd = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return np.sin(x) * gamma + beta + eps\n"
    found = charged("layernorm", running.with_source("layernorm", odd))
    assert lost(found) >= {"statistics", "affine", "epsilon", "stability"}
    assert {found[name].why for name in ("statistics", "affine")} == {"unexplained"}


@pytest.mark.slow
def test_something_kept_between_calls_costs_purity() -> None:
    made = partial(running.with_mistakes, "layernorm", "layer_norm.statistics_kept")
    call_results = running.in_processes("layernorm", made)
    diagnoses = running.diagnoser().explain("layernorm", call_results)
    found = scores(rubric.current(), "layernorm", call_results, diagnoses)
    assert not found["layernorm.purity"].passed


EMPTY = [
    pytest.param(case, id=case.name)
    for module in ("layernorm", "batchnorm_comparison", "causal_mask")
    for case in cases.nothings(module)
    if not case.function
]


@pytest.mark.parametrize("case", EMPTY)
def test_a_module_that_computes_nothing_earns_nothing(case: cases.Case) -> None:
    right = running.with_source(case.module)
    found = charged(case.module, right | {nothing.function: nothing.fresh() for nothing in case.misconceptions})
    assert {name for name, score in found.items() if score.passed} == set()


def test_the_plain_rule_loses_every_criterion_with_a_wrong_call() -> None:
    plain = rubric.current().model_copy(update={"charge": "criteria"})
    functions = running.with_mistakes("layernorm", "layer_norm.no_root")
    wrong = {r.test_call.criterion for r in running.call_results("layernorm", functions) if r.failure is not None}
    expected = {name.partition(".")[2] for name in wrong} - {"", "example"}
    assert lost(charged("layernorm", functions, plain)) == expected


WRONG_FOR_ONE_ROW = """
_right = layer_norm
def layer_norm(x, gamma, beta, eps=1e-5):
    return _right(x, gamma, beta, eps) + 0.25 * np.cos(np.arange(np.shape(x)[-1])) * (np.shape(x)[-1] == 70)
"""


@pytest.mark.parametrize("charge", ["mistakes", "criteria"])
def test_partial_credit_is_the_share_of_the_tests_that_pass(charge: str) -> None:
    rules = rubric.current().model_copy(deep=True)
    name = "layernorm.statistics"
    rules.criteria[name] = rules.criteria[name].model_copy(update={"credit": "share"})
    rules = rules.model_copy(update={"charge": charge})
    functions = running.with_source("layernorm", WRONG_FOR_ONE_ROW)
    whole, share = (charged("layernorm", functions, own)["statistics"] for own in (None, rules))
    tests = {r.test_call.test: 0 for r in running.call_results("layernorm", functions) if r.test_call.criterion == name}
    assert not whole.passed and whole.points == 0
    assert not share.passed and share.share == 1 - 1 / len(tests) and share.points == round(3 * share.share, 2)


def test_code_that_computes_nothing_gets_no_share() -> None:
    rules = rubric.current().model_copy(deep=True)
    for name, criterion in rules.criteria.items():
        rules.criteria[name] = criterion.model_copy(update={"credit": "share"})
    zeros = [m.source for f in rules.modules["layernorm"].functions for m in library.trivial("layernorm", f)[:1]]
    found = charged("layernorm", running.with_source("layernorm", *zeros), rules)
    assert sum(one.points for one in found.values() if one.criterion.looks_at == "values") == 0
