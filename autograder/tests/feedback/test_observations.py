"""Observations about a failing public example that no misconception explains, from other arguments and from probes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.feedback.counterexamples import dependence, observe, other_results
from autograder.grading.call_results import CallResult
from autograder.grading.examples import ProbeResult, probes_of
from autograder.sandbox.protocol import Response
from autograder.shared.compare import Failure, equal
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call
from autograder.tests.running import known_responses

F = HOMEWORK.functions
ATTENTION, NORM = F["scaled_dot_product_attention"], F["layer_norm"]
X = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 9.0]])
NARROW, WIDE = X[:1], np.array([[1.0, 2.0, 6.0, 5.0, -3.0]])
GAMMA, BETA, GRAD = np.array([1.0, 2.0, 0.5]), np.array([0.5, 0.0, -1.0]), np.array([[1.0, -2.0, 0.5], [0.5, 1.0, 3.0]])
ARGS = (X, GAMMA, BETA)
SMALL = (np.array([0.0, 0.0, 0.003]), np.ones(3), np.zeros(3))
BATCH = (*ARGS, np.array([0.0, 1.0, 2.0]), np.array([1.0, 4.0, 2.0]), True)
Q, K, V = np.array([[1.0, 0.0], [0.5, 2.0]]), np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 5.0]])
MASK = {"mask": np.tri(2, dtype=bool)}
FLOW = (np.arange(8.0).reshape(2, 2, 2), np.array([1.0, 2.0]))


# A call with these arguments returns the correct result for other arguments.
@pytest.mark.parametrize(
    ("function", "args", "kwargs", "value", "said"),
    [
        ("scaled_dot_product_attention", (Q, K, V), MASK, ATTENTION(Q, K, V), "would be the correct result with `mask=None`."),
        ("norm_moments", (X, "layer"), {}, F["norm_moments"](X, "batch"), "would be the correct result with `kind='batch'`."),
        ("gradient_flow", FLOW, {"residual": True}, F["gradient_flow"](*FLOW, residual=False), "with `residual=False`."),
        ("layer_norm", SMALL, {}, NORM(*SMALL, 0.0), "would be the correct result with `eps=0`."),
        ("layer_norm", SMALL, {}, NORM(*SMALL, 1e-6), "would be the correct result with `eps=1e-06`."),
    ],
)  # fmt: skip
def test_wrong_result_is_correct_for_other_arguments(
    function: str, args: Any, kwargs: dict[str, Any], value: Any, said: str
) -> None:
    found = other_results(a_test_call(function, *args, **kwargs))
    assert any(sentence.endswith(said) for sentence, other in found.items() if equal(other, value, 1e-8))


def test_result_is_that_for_other_arguments_as_a_whole() -> None:
    evaluated, trained = (F["batch_norm"](*BATCH[:-1], training) for training in (False, True))
    of = a_test_call("batch_norm", *BATCH[:-1], False)
    for value, is_said in ((trained, True), ((evaluated[0], *trained[1:]), False)):
        example = CallResult(of, Response(value), Failure("value"))
        assert ("with `training=True`" in observe(example)) is is_said


def no_beta(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, 0 * beta, eps)


def no_eps_in_long_rows(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, beta, eps if x.shape[-1] < 4 else 0.0)


def off_in_others(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, beta, eps if x.shape[-1] > 4 else 0.0) + (x.shape[-1] > 4) * x**2


@pytest.mark.parametrize(("wrong", "fits"), [(no_eps_in_long_rows, True), (off_in_others, False)])
def test_other_arguments_must_fit_every_failing_example(wrong: Callable[..., Any], fits: bool) -> None:
    calls = [(x, np.ones(x.shape[-1]), np.arange(1.0, x.shape[-1] + 1)) for x in (NARROW, WIDE)]
    found = [known_responses(a_test_call("layer_norm", *args, number=n), wrong) for n, args in enumerate(calls, 1)]
    example = next(call_result for call_result in found if call_result.failure is not None)
    assert ("with `eps=0`" in observe(example, found)) is fits


COUNTED = "3 of 3 entries are wrong: entry [0, 2] is 0.04840332 instead of 0.9755588."


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda scores: 1 / 0, ""),
        (lambda scores: None, ""),
        (lambda scores: np.sin(scores) ** 2 / np.sum(np.sin(scores) ** 2), COUNTED),
    ],
)
def test_wrong_entries_are_counted_if_nothing_else_is_observed(wrong: Callable[..., Any], said: str) -> None:
    call_result = known_responses(a_test_call("softmax", NARROW), wrong)
    assert observe(call_result, [call_result]) == said


# Observations from probes: calls with one change to a failing public example


def probe_results(function: str, wrong: Callable[..., Any], *args: Any) -> tuple[ProbeResult, ...]:
    probes = probes_of(a_test_call(function, *args))
    return tuple((probe, known_responses(probe.test_call, wrong)) for probe in probes)


def observations_of(function: str, wrong: Callable[..., Any], *args: Any) -> tuple[str, str]:
    """The observations about a call alone, and with the results of its probes."""
    found = probe_results(function, wrong, *args)
    return observe(found[0][1]), observe(found[0][1], (), found)


def over_all(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta


def about_running(
    x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any, training: Any, **rest: Any
) -> Any:
    y, *new = F["batch_norm"](x, gamma, beta, running_mean, running_var, training, **rest)
    return (y + running_mean if training else y, *new)


@pytest.mark.parametrize(
    ("function", "wrong", "args", "said"),
    [
        ("layer_norm", no_beta, ARGS, "When only `beta` was changed, your result stayed the same, but should"),
        ("layer_norm", over_all, ARGS, "When only row 0 of `x` was changed, row 1 of your result changed, but"),
        ("batch_norm", about_running, BATCH, "When only `running_mean` was changed, your `y` changed, but should not have."),
        ("layer_norm", NORM, ARGS, ""),
        ("layer_norm", lambda *_: None, ARGS, ""),
        ("apply_mask", lambda scores, mask: np.where(mask, scores, -1e10), (Q, np.tri(2, dtype=bool)), ""),
    ],
)  # fmt: skip
def test_dependence_of_a_result_on_its_arguments(
    function: str, wrong: Callable[..., Any], args: Any, said: str
) -> None:
    found = dependence(probe_results(function, wrong, *args))
    assert found.startswith(said) and bool(found) == bool(said)


@pytest.mark.parametrize(
    ("function", "wrong", "args", "said"),
    [
        ("batch_norm", about_running, BATCH, "The same call is correct with `training=False`."),
        ("layer_norm", over_all, ARGS, "The same call is correct with the first row alone."),
        ("layer_norm", lambda x, *rest: NORM(x, *rest) + x.ndim - 1, ARGS, ""),
    ],
)
def test_change_that_makes_the_call_correct(function: str, wrong: Callable[..., Any], args: Any, said: str) -> None:
    _, text = observations_of(function, wrong, *args)
    assert text.endswith(said) and ("The same call" in text) == bool(said)


def no_eps_by_chance(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, beta, 0.0 if x[0, 0] == 1 and gamma[0] == 1 else 0.1)


def test_observation_that_fits_one_call_by_chance_is_not_reported() -> None:
    alone, probed = observations_of("layer_norm", no_eps_by_chance, *ARGS)
    assert "would be the correct result with `eps=0`" in alone and "would be" not in probed


def causal(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    own = np.tri(len(q), dtype=bool)
    return ATTENTION(q, k, v, own if mask is None else own & mask)


def test_a_causal_mask_is_tried() -> None:
    _, text = observations_of("scaled_dot_product_attention", causal, X, GRAD, GRAD)
    assert text == "This would be the correct result with a causal mask."
