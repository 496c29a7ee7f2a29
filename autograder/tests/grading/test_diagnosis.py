"""Special cases of the search for misconceptions. Cases of whole modules are in test_graded_modules.py."""

from dataclasses import replace
from functools import partial

import pytest

from autograder.grading.diagnosis import Diagnosis
from autograder.tests import running
from autograder.tests.files import HOMEWORK


def diagnoses_of(module: str, *ids: str) -> dict[str, Diagnosis]:
    call_results = running.in_processes(module, partial(running.with_mistakes, module, *ids))
    return running.diagnoser().explain(module, call_results)


def test_misconception_whose_own_criterion_passes_explains_nothing() -> None:
    wrong = running.call_results("layernorm", running.with_mistakes("layernorm", "layer_norm.sample_variance"))
    right = running.call_results("layernorm", running.with_source("layernorm"))
    criterion = "layernorm.statistics"
    mixed = [r if r.test_call.criterion == criterion else w for w, r in zip(wrong, right, strict=True)]
    assert any(call_result.failure is not None for call_result in mixed)
    assert running.diagnoser().explain("layernorm", mixed)["layer_norm"].misconceptions == ()


def test_cheapest_of_misconceptions_with_equal_responses_is_deducted_but_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = {c.id: c.points for c in HOMEWORK.rubric.of("layernorm") if c.looks_at == "values"}
    cheapest = min(points, key=lambda name: points[name])
    assert points[cheapest] < points["layernorm.statistics"]
    known = HOMEWORK.of_function("layernorm", "layer_norm")
    again = [replace(m, name="again", criteria=(cheapest,)) for m in known if m.name == "no_root"]
    monkeypatch.setattr(HOMEWORK, "of_function", lambda module, function: [*known, *again])
    found = diagnoses_of("layernorm", "layer_norm.no_root")["layer_norm"]
    assert [misconception.id for misconception in found.misconceptions] == ["layer_norm.again"] and found.named == ()


def test_variants_of_a_helper_with_equal_responses_are_told_apart_by_its_callers() -> None:
    helped = "softmax.equal_weights_for_an_empty_slice"
    own = HOMEWORK.of_function("scaled_attention", "softmax")
    [second] = [m.source for m in own if m.id == helped and m.way == 1]
    call_results = running.call_results("scaled_attention", running.with_source("scaled_attention", second))
    above = running.diagnoser().explain("scaled_attention", call_results)["scaled_dot_product_attention"]
    assert above.misconceptions == () and [m.id for m in above.helpers] == [helped]


OTHER_DIMENSIONS = {
    "an IndexError in place of a ValueError": (
        "layernorm",
        "right = layer_norm\n"
        "def layer_norm(x, gamma, beta, eps=1e-5):\n"
        "    x.shape[1]\n"
        "    return np.moveaxis(right(np.moveaxis(x, 1, -1), 1.0, 0.0, eps), -1, 1) * gamma + beta\n",
        ["layer_norm.axis_one"],
        True,
    ),
    "a result for some batches": (
        "scaled_attention",
        "right = multi_head_attention\n"
        "def multi_head_attention(x, params, n_heads, mask=None):\n"
        "    if x.ndim > 2 and x.shape[0] != x.shape[-1]:\n"
        "        raise ValueError\n"
        "    return 2 * x if x.ndim > 2 else right(x, params, n_heads, np.tri(len(x), dtype=bool))\n",
        ["multi_head_attention.always_causal"],
        False,
    ),
}


@pytest.mark.parametrize(("module", "source", "named", "complete"), OTHER_DIMENSIONS.values(), ids=OTHER_DIMENSIONS)
def test_errors_for_unsupported_dimensions_hide_no_misconception(
    module: str, source: str, named: list[str], complete: bool
) -> None:
    call_results = running.call_results(module, running.with_source(module, source))
    diagnosis = running.diagnoser().explain(module, call_results)[named[0].partition(".")[0]]
    assert ([m.id for m in diagnosis.named], diagnosis.complete) == (named, complete)
