"""The scoring options of a rubric. Costs of mistakes under the default rules are in test_graded_modules.py."""

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import pytest

from autograder.audit import cases
from autograder.grading.diagnosis import Analysis
from autograder.grading.scoring import CriterionScore, Scoring
from autograder.homework.rubric import Rubric
from autograder.tests import running
from autograder.tests.files import HOMEWORK


def scores_of(
    functions: Mapping[str, Callable[..., Any]], rules: Rubric | None = None, module: str = "layernorm"
) -> dict[str, CriterionScore]:
    """The score of each criterion of a module, by its short name."""
    call_results = running.call_results(module, functions)
    diagnoses = running.diagnoser().explain(module, call_results)
    found = Scoring(rules or HOMEWORK.rubric, Analysis(module, tuple(call_results), diagnoses)).scores
    return {name.partition(".")[2]: score for name, score in found.items()}


@pytest.mark.parametrize("module", sorted(HOMEWORK.rubric.modules))
def test_same_mistake_in_two_functions_has_the_same_description(module: str) -> None:
    for a, b in combinations(HOMEWORK.of_module(module), 2):
        if a.same == b.same and a.function != b.function and a.way == b.way == 0:
            assert (a.name, a.does) == (b.name, b.does)


def test_charging_by_criteria_loses_every_criterion_with_a_failing_call() -> None:
    plain = HOMEWORK.rubric.model_copy(update={"charge": "criteria"})
    functions = running.with_mistakes("layernorm", "layer_norm.no_root")
    wrong = {r.test_call.criterion for r in running.call_results("layernorm", functions) if r.failure is not None}
    lost = {name for name, score in scores_of(functions, plain).items() if not score.passed}
    assert lost == {name.partition(".")[2] for name in wrong} - {""}


def test_a_wrong_helper_costs_no_criterion_of_its_callers_when_charging_by_criteria() -> None:
    plain = HOMEWORK.rubric.model_copy(update={"charge": "criteria"})
    functions = running.with_mistakes("scaled_attention", "softmax.powers_of_two")
    scores = scores_of(functions, plain, "scaled_attention").items()
    lost = {name for name, score in scores if not score.passed and score.criterion.looks_at == "values"}
    assert lost == {"softmax", "softmax_stability"}


def with_partial_credit(**changes: str) -> Rubric:
    """The rubric with partial credit for every criterion."""
    rules = HOMEWORK.rubric.model_copy(deep=True, update=changes)
    for name, criterion in rules.criteria.items():
        rules.criteria[name] = criterion.model_copy(update={"credit": "share"})
    return rules


WRONG_FOR_ONE_ROW = """
_right = layer_norm
def layer_norm(x, gamma, beta, eps=1e-5):
    return _right(x, gamma, beta, eps) + 0.25 * np.cos(np.arange(np.shape(x)[-1])) * (np.shape(x)[-1] == 70)
"""


@pytest.mark.parametrize("charge", ["mistakes", "criteria"])
def test_partial_credit_is_the_share_of_passing_tests(charge: str) -> None:
    functions = running.with_source("layernorm", WRONG_FOR_ONE_ROW)
    whole, share = (scores_of(functions, own)["statistics"] for own in (None, with_partial_credit(charge=charge)))
    calls = running.call_results("layernorm", functions)
    tests = {r.test_call.test for r in calls if r.test_call.criterion == "layernorm.statistics"}
    assert not whole.passed and whole.points == 0
    assert not share.passed and share.share == 1 - 1 / len(tests)
    assert share.points == round(share.criterion.points * share.share, 2)


@pytest.mark.parametrize("number", range(len(cases.TRIVIAL) + 1))
def test_code_that_computes_nothing_earns_nothing_and_gets_no_partial_credit(number: int) -> None:
    functions = HOMEWORK.rubric.modules["layernorm"].functions
    nothing = [[*cases.trivial(HOMEWORK, function).values()][number] for function in functions]
    found = scores_of(running.with_source("layernorm", *nothing), with_partial_credit())
    assert not any(score.passed for score in found.values())
    assert sum(score.points for score in found.values() if score.criterion.looks_at == "values") == 0
