"""What is said after one thing in a wrong public call was another."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.feedback.observations import dependence, observe
from autograder.grading.probes import Probe, ProbeResult, probes_of, with_other_numbers
from autograder.homework import reference
from autograder.tests.making import a_test_call
from autograder.tests.running import known_responses
from autograder.values.differences import UNSTEADY

F = reference.functions()
X = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 9.0]])
GAMMA, BETA, GRAD = np.array([1.0, 2.0, 0.5]), np.array([0.5, 0.0, -1.0]), np.array([[1.0, -2.0, 0.5], [0.5, 1.0, 3.0]])
TOKENS = np.array([1, 0, 0])
BATCH = (X, GAMMA, BETA, np.array([0.0, 1.0, 2.0]), np.array([1.0, 4.0, 2.0]), True)


def probe_results(function: str, wrong: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[ProbeResult, ...]:
    found = [
        ProbeResult(probe, known_responses(probe.test_call, wrong))
        for probe in probes_of(a_test_call(function, *args, **kwargs))
    ]
    return with_other_numbers(found, lambda test_calls: [known_responses(one, wrong) for one in test_calls])


def no_beta(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return F["layer_norm"](x, gamma, 0 * beta, eps)


def no_last_beta(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return F["layer_norm"](x, gamma, beta * [1, 1, 0], eps)


def over_all(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta


def two_roots(x: Any, gamma: Any, eps: float = 1e-6) -> Any:
    return gamma * x / (np.sqrt((x**2).mean(-1, keepdims=True)) + np.sqrt(eps))


def about_the_median(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    away = x - np.median(x, axis=-1, keepdims=True)
    return gamma * away / np.sqrt((away**2).mean(-1, keepdims=True) + eps) + beta


def about_running(
    x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any, training: Any, **rest: Any
) -> Any:
    y, *new = F["batch_norm"](x, gamma, beta, running_mean, running_var, training, **rest)
    return (y + running_mean if training else y, *new)


@pytest.mark.parametrize(
    ("function", "wrong", "args", "said"),
    [
        ("layer_norm", no_beta, (X, GAMMA, BETA), "When only `beta` was changed, your result stayed the same, but should"),
        ("layer_norm", no_last_beta, (X, GAMMA, BETA), "When only entry [2] of `beta` was changed, your result stayed"),
        ("layer_norm", over_all, (X, GAMMA, BETA), "When only row 0 of `x` was changed, row 1 of your result changed, but"),
        ("batch_norm", about_running, BATCH, "When only `running_mean` was changed, your `y` changed, but should not have."),
        ("layer_norm", F["layer_norm"], (X, GAMMA, BETA), ""),
        ("layer_norm", lambda *_: None, (X, GAMMA, BETA), ""),
    ],
)  # fmt: skip
def test_what_a_result_depends_on(function: str, wrong: Callable[..., Any], args: Any, said: str) -> None:
    assert dependence(probe_results(function, wrong, *args)).startswith(said)
    assert said or not dependence(probe_results(function, wrong, *args))


def test_what_rests_in_one_call_by_chance_is_not_said_to_rest() -> None:
    """The second of the three numbers of a row is its median, so that gamma[1] is multiplied by 0."""
    found = probe_results("layer_norm", about_the_median, X[:1], GAMMA, BETA)
    assert dependence(
        [replace(one, again=tuple((before, before) for before, _ in one.again)) for one in found]
    )  # nothing moves elsewhere
    assert dependence(found) == ""
    unplayed = [replace(one, again=()) for one in probe_results("layer_norm", no_beta, X, GAMMA, BETA)]
    assert dependence(unplayed) == ""


@pytest.mark.parametrize(
    ("function", "wrong", "args", "said"),
    [
        ("batch_norm", about_running, BATCH, "The same call is correct with `training=False`."),
        ("layer_norm", over_all, (X, GAMMA, BETA), "The same call is correct with the first row alone."),
        ("rms_norm", two_roots, (X, GAMMA), "The same call is correct with `eps=0.0`."),
        ("layer_norm", lambda x, *rest: F["layer_norm"](x, *rest) + x.ndim - 1, (X, GAMMA, BETA), ""),
    ],
)
def test_what_makes_the_call_right(function: str, wrong: Callable[..., Any], args: Any, said: str) -> None:
    found = probe_results(function, wrong, *args)
    text = observe(found[0].call_result, (), found)
    assert text.endswith(said) and ("The same call" in text) == bool(said)


def test_a_result_that_is_right_for_other_arguments_by_chance_is_not_said_to_be() -> None:
    def whole_columns(scores: Any, mask: Any) -> Any:
        return np.where(np.broadcast_to(mask, scores.shape).all(axis=0), scores, -np.inf)

    scores, mask = np.array([[0.5, 1.0], [2.0, 4.0]]), np.array([[True, False], [True, True]])
    found = probe_results("apply_mask", whole_columns, scores, mask)
    assert "without its last row" in observe(found[0].call_result)
    assert "would be right" not in observe(found[0].call_result, (), found)


def test_a_transpose_by_chance_is_not_said() -> None:
    def scrambled(x: Any, n_heads: int) -> Any:
        return np.swapaxes(x, -1, -2).reshape(n_heads, x.shape[-2], -1)

    found = probe_results("split_heads", scrambled, np.arange(8.0).reshape(2, 4), 2)
    assert "transpose" in observe(found[0].call_result)
    assert "transpose" not in observe(found[0].call_result, (), found)


def test_of_random_results_only_that_is_said() -> None:
    rng, of = np.random.default_rng(0), a_test_call("softmax", X)
    made = tuple(
        ProbeResult(Probe(of), known_responses(of, lambda scores: F["softmax"](scores) + rng.normal()))
        for _ in range(3)
    )
    assert observe(made[0].call_result, (), made) == UNSTEADY
    same = tuple(ProbeResult(Probe(of), known_responses(of, lambda scores: F["softmax"](scores) + 1)) for _ in range(3))
    assert observe(same[0].call_result, (), same) != UNSTEADY


def test_rounding_and_a_causal_mask_are_tried() -> None:
    found = probe_results("softmax", lambda scores, axis=-1: np.round(F["softmax"](scores, axis), 4), X)
    assert observe(found[0].call_result, (), found) == "Your result is the expected one, rounded to 4 decimals."

    def causal(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
        own = np.tri(len(q), dtype=bool)
        return F["scaled_dot_product_attention"](q, k, v, own if mask is None else own & mask)

    found = probe_results("scaled_dot_product_attention", causal, X, GRAD, GRAD)
    assert observe(found[0].call_result, (), found) == "Your result would be correct with a causal mask."


def test_a_call_with_functions_or_an_error_has_no_trials() -> None:
    assert probes_of(a_test_call("residual", X, np.sin)) == ()
    assert probes_of(a_test_call("split_heads", X, 2)) == ()
