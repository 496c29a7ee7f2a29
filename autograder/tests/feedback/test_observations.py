"""What is said about a wrong public example that no known mistake explains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.feedback.observations import observe
from autograder.grading.record import Record
from autograder.homework import reference
from autograder.tests.feedback.making import played, step

F = reference.functions()
PublicCall = tuple[tuple[Any, ...], dict[str, Any]]
NARROW, WIDE = np.array([[1.0, 2.0, 6.0]]), np.array([[1.0, 2.0, 6.0, 5.0, -3.0]])
Q, K, V = (
    np.array([[1.0, 0.0], [0.5, 2.0]]),
    np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]),
    np.arange(6.0).reshape(3, 2),
)
MASK = np.array([[True, True, True], [True, False, True]])
NOTHING_SEEN = np.array([[True, True, False], [False, False, False]])


def told(function: str, wrong: Callable[..., Any], *calls: PublicCall) -> str:
    """What is said about the first wrong one of these calls."""
    records = [played(step(function, *args, number=n, **kwargs), wrong) for n, (args, kwargs) in enumerate(calls, 1)]
    return observe(next(record for record in records if record.fault is not None), records)


def test_a_factor_has_a_name_where_two_examples_say_so() -> None:
    def wrong(x: Any, kind: str) -> Any:
        return x.mean(-1, keepdims=True), x.var(-1, ddof=1, keepdims=True)

    rows: list[PublicCall] = [
        ((np.vstack([table, table + np.arange(table.size) ** 2]), "layer"), {}) for table in (NARROW, WIDE)
    ]
    said = told("norm_moments", wrong, *rows)
    assert "Part [1]: every entry is the right one times the same factor, 1.5" in said
    assert "3 / (3 - 1), where 3 is the length of the last axis of `x`" in said


def test_a_factor_of_one_example_has_no_name() -> None:
    said = told("embed", lambda tokens, table: table[tokens] * np.sqrt(3), ((np.array([0, 0]), NARROW), {}))
    assert "the same factor, 1.73205." in said
    assert "sqrt" not in said


def test_the_root_of_the_width() -> None:
    calls: list[PublicCall] = [((np.array([0, 0]), table), {}) for table in (NARROW, WIDE)]
    said = told("embed", lambda tokens, table: table[tokens] * np.sqrt(table.shape[1]), *calls)
    assert "1.73205: sqrt(3), where 3 is the length of the last axis of `table`" in said


def test_other_arguments_must_fit_every_wrong_example() -> None:
    def only_long(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
        return F["layer_norm"](x, gamma, beta if x.shape[-1] < 4 else 0 * beta, eps)

    calls: list[PublicCall] = [((x, np.ones(x.shape[-1]), np.arange(1.0, x.shape[-1] + 1)), {}) for x in (NARROW, WIDE)]
    assert "`beta` all zeros" in told("layer_norm", only_long, *calls)

    def also_off(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
        return F["layer_norm"](x, gamma, beta if x.shape[-1] > 4 else 0 * beta, eps) + (x.shape[-1] > 4) * x**2

    assert "`beta` all zeros" not in told("layer_norm", also_off, *calls)


def test_a_query_that_may_see_nothing() -> None:
    def wrong(q: Any, k: Any, v: Any, mask: Any) -> Any:
        output, weights = F["scaled_dot_product_attention"](q, k, v, mask)
        blind = ~mask.any(-1, keepdims=True)
        return np.where(blind, v.mean(0), output), np.where(blind, 1 / 3, weights)

    said = told("scaled_dot_product_attention", wrong, ((Q, K, V, NOTHING_SEEN), {}))
    assert said == "Right except for the queries that may see nothing."


def test_right_only_where_the_mask_hides_nothing() -> None:
    def wrong(q: Any, k: Any, v: Any, mask: Any) -> Any:
        weights = F["scaled_dot_product_attention"](q, k, v)[1]
        weights = weights * mask
        return weights @ v, weights

    said = told("scaled_dot_product_attention", wrong, ((Q, K, V, MASK), {}))
    assert said == "Right only for the queries that may see everything: wrong where the mask hides something."


def test_entries_that_the_mask_hides() -> None:
    scores = np.arange(6.0).reshape(2, 3)
    said = told("apply_mask", lambda scores, mask: np.where(mask, scores, -1e9), ((scores, MASK), {}))
    assert said == "Right where the mask is True, and wrong wherever it is False."


def test_what_only_the_wrong_examples_have() -> None:
    def wrong(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
        return F["layer_norm"](x, gamma, beta, eps) + (x.ndim - 1) * np.arange(x.shape[-1]) ** 3

    calls: list[PublicCall] = [((x, np.ones(3), np.zeros(3)), {}) for x in (NARROW[0], NARROW, NARROW + 1)]
    assert "Among the public examples only the wrong ones have 2 axes in `x`" in told("layer_norm", wrong, *calls)


@pytest.mark.parametrize("wrong", [lambda scores: 1 / 0, lambda scores: None])
def test_nothing_is_observed_where_nothing_came_back(wrong: Callable[..., Any]) -> None:
    record: Record = played(step("softmax", NARROW), wrong)
    assert observe(record, [record]) == ""


def test_what_does_not_help_is_not_said() -> None:
    said = told("softmax", lambda scores: np.sin(scores) ** 2 / np.sum(np.sin(scores) ** 2), ((NARROW,), {}))
    assert said == ""
