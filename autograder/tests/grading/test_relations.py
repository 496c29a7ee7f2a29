"""Criteria that are judged by a relation between the results of an unexplained function (`check.related`)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from autograder.audit import cases
from autograder.grading.call_results import TestCall
from autograder.grading.explaining import relation_holds
from autograder.grading.runner.processes import Direct
from autograder.sandbox.protocol import Request, Response
from autograder.tests import running
from autograder.tests.files import HOMEWORK

RELATED = {
    "layernorm.affine": "layer_norm",
    "layernorm.stability": "layer_norm",
    "scaled_attention.softmax_stability": "softmax",
    "scaled_attention.mask": "scaled_dot_product_attention",
    "scaled_attention.fully_masked": "scaled_dot_product_attention",
}
MISTAKES = [
    pytest.param(criterion, source, id=f"{criterion}-{name}")
    for criterion, function in RELATED.items()
    for name, source in [
        *(
            (m.name, m.source)
            for m in HOMEWORK.of_function(criterion.partition(".")[0], function)
            if criterion in m.criteria
        ),
        *cases.trivial(HOMEWORK, function).items(),
    ]
]


def holds(criterion: str, function: Callable[..., Any]) -> bool:
    """Whether the relation holds in all calls of a criterion."""
    module, functions = criterion.partition(".")[0], {RELATED[criterion]: function}
    calls = [t for t in running.recorded_calls(module) if t.criterion == criterion and t.target.function in functions]
    assert all(test_call.rules.related for test_call in calls)

    def run(inner: Sequence[TestCall | Request]) -> list[Response]:
        return Direct(functions).run(t.call if isinstance(t, TestCall) else t for t in inner)

    with np.errstate(all="ignore"):
        results = running.call_results(module, functions, calls)
        return all(relation_holds(run, r) for r in results)


@pytest.mark.parametrize(("criterion", "source"), MISTAKES)
def test_no_mistake_of_a_criterion_satisfies_its_relation(criterion: str, source: str) -> None:
    assert not holds(criterion, running.with_source(criterion.partition(".")[0], source)[RELATED[criterion]])


def over_mean_deviation(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / (np.abs(centred).mean(axis=-1, keepdims=True) + eps) + beta


def by_angle(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    sizes = [np.linalg.norm(rows, axis=-1, keepdims=True) + 1e-9 for rows in (q, k)]
    return HOMEWORK.functions["scaled_dot_product_attention"](q / sizes[0], k / sizes[1], v, mask)


def over_norm(scores: Any, axis: int = -1) -> Any:
    weights = HOMEWORK.functions["softmax"](scores, axis)
    norm = np.sqrt((weights**2).sum(axis=axis, keepdims=True))
    return weights / np.where(norm == 0, 1, norm)


@pytest.mark.parametrize(
    ("criterion", "function", "holding"),
    [
        ("layernorm.affine", over_mean_deviation, True),
        ("layernorm.stability", over_mean_deviation, True),
        ("scaled_attention.mask", by_angle, True),
        ("scaled_attention.fully_masked", by_angle, True),
        ("scaled_attention.softmax_stability", over_norm, True),
        ("layernorm.affine", lambda x, gamma, beta, eps=0: 0 * x + beta, False),
        ("layernorm.affine", lambda x, gamma, beta, eps=0: gamma + 0 * x + beta, False),
        ("layernorm.affine", lambda x, gamma, beta, eps=1e-5: over_mean_deviation(x, gamma, beta, eps) * np.nan, False),
        ("layernorm.affine", lambda x, gamma, beta, eps=0: over_mean_deviation(x, gamma, gamma * beta), False),
        ("layernorm.stability", lambda x, gamma, beta, eps=0: 0 * x + gamma + beta, False),
        ("scaled_attention.mask", lambda q, k, v, mask=None: by_angle(0 * q, k, v, mask), False),
        ("scaled_attention.mask", lambda q, k, v, mask=None: by_angle(q, k, v), False),
        ("scaled_attention.softmax_stability", lambda scores, axis=-1: over_norm(0 * scores, axis), False),
    ],
)
def test_unknown_mistake_satisfies_a_relation_only_by_results_that_vary(
    criterion: str, function: Callable[..., Any], holding: bool
) -> None:
    assert holds(criterion, function) == holding
