"""What is said about a wrong public example that no known mistake explains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.feedback.observations import observe
from autograder.grading.call_results import CallResult
from autograder.homework import reference
from autograder.tests.making import a_test_call
from autograder.tests.running import known_responses

F = reference.functions()
PublicCall = tuple[tuple[Any, ...], dict[str, Any]]
NARROW, WIDE = np.array([[1.0, 2.0, 6.0]]), np.array([[1.0, 2.0, 6.0, 5.0, -3.0]])


def told(function: str, wrong: Callable[..., Any], *calls: PublicCall) -> str:
    """What is said about the first wrong one of these calls."""
    call_results = [
        known_responses(a_test_call(function, *args, number=n, **kwargs), wrong)
        for n, (args, kwargs) in enumerate(calls, 1)
    ]
    return observe(next(call_result for call_result in call_results if call_result.failure is not None), call_results)


def test_other_arguments_must_fit_every_wrong_example() -> None:
    def only_long(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
        return F["layer_norm"](x, gamma, beta if x.shape[-1] < 4 else 0 * beta, eps)

    calls: list[PublicCall] = [((x, np.ones(x.shape[-1]), np.arange(1.0, x.shape[-1] + 1)), {}) for x in (NARROW, WIDE)]
    assert "`beta` all zeros" in told("layer_norm", only_long, *calls)

    def also_off(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
        return F["layer_norm"](x, gamma, beta if x.shape[-1] > 4 else 0 * beta, eps) + (x.shape[-1] > 4) * x**2

    assert "`beta` all zeros" not in told("layer_norm", also_off, *calls)


@pytest.mark.parametrize("wrong", [lambda scores: 1 / 0, lambda scores: None])
def test_nothing_is_observed_where_nothing_came_back(wrong: Callable[..., Any]) -> None:
    call_result: CallResult = known_responses(a_test_call("softmax", NARROW), wrong)
    assert observe(call_result, [call_result]) == ""


def test_where_nothing_else_helps_the_entries_are_counted() -> None:
    said = told("softmax", lambda scores: np.sin(scores) ** 2 / np.sum(np.sin(scores) ** 2), ((NARROW,), {}))
    assert said == "3 of 3 entries are wrong: entry [0, 0] is 0.4389878 instead of 0.006573263."
