"""What the reference gives for other arguments of a public example."""

from typing import Any

import numpy as np
import pytest

from autograder.feedback.observations import others
from autograder.homework import reference
from autograder.tests.making import a_test_call
from autograder.values.compare import equal

FUNCTIONS = reference.functions()
Q, K, V = np.array([[1.0, 0.0], [0.5, 2.0]]), np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 5.0]])
X = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]])


def said(function: str, value: Any, *args: Any, **kwargs: Any) -> list[str]:
    """Every sentence for somebody whose result is `value`."""
    return [sentence for sentence, other in others(a_test_call(function, *args, **kwargs)) if equal(other, value, 1e-8)]


def test_defaults_flags_words_and_counts() -> None:
    mask = np.tri(2, dtype=bool)
    attention = FUNCTIONS["scaled_dot_product_attention"]
    assert "Your result would be correct with `mask=None`." in said(
        "scaled_dot_product_attention", attention(Q, K, V), Q, K, V, mask=mask
    )
    assert "Your result would be correct with `kind='batch'`." in said(
        "norm_moments", FUNCTIONS["norm_moments"](X, "batch"), X, "layer"
    )
    jacobians, grad = np.arange(8.0).reshape(2, 2, 2), np.array([1.0, 2.0])
    flow = FUNCTIONS["gradient_flow"](jacobians, grad, residual=False)
    assert "Your result would be correct with `residual=False`." in said(
        "gradient_flow", flow, jacobians, grad, residual=True
    )


@pytest.mark.parametrize(("eps", "name"), [(0.0, "0"), (1e-12, "1e-12"), (1e-6, "1e-06")])
def test_another_eps(eps: float, name: str) -> None:
    args = (np.array([0.0, 0.0, 0.003]), np.ones(3), np.zeros(3))
    assert f"Your result would be correct with `eps={name}`." in said(
        "layer_norm", FUNCTIONS["layer_norm"](*args, eps), *args
    )


def test_arguments_that_are_swapped_transposed_or_left_out() -> None:
    gamma, beta = np.array([1.0, 2.0, 0.5]), np.array([0.5, 0.0, -1.0])
    swapped = FUNCTIONS["layer_norm"](X, beta, gamma)
    assert "Your result would be correct with `gamma` and `beta` swapped." in said(
        "layer_norm", swapped, X, gamma, beta
    )
    without = FUNCTIONS["layer_norm"](X, gamma, 0 * beta)
    assert "Your result would be correct with `beta` all zeros." in said("layer_norm", without, X, gamma, beta)
    turned = FUNCTIONS["scaled_dot_product_attention"](Q, K.T, V)
    assert "Your result would be correct with `k` transposed." in said("scaled_dot_product_attention", turned, Q, K, V)


def test_what_is_inside_of_parameters() -> None:
    params = {name: np.array([[1.0, 2.0], [3.0, 5.0]]) * (i + 1) for i, name in enumerate(("w_q", "w_k", "w_v", "w_o"))}
    mha = FUNCTIONS["multi_head_attention"]
    used = mha(Q, {**params, "w_v": params["w_k"]}, 1)
    assert "Your result would be correct with `params['w_k']` in place of `params['w_v']`." in said(
        "multi_head_attention", used, Q, params, 1
    )
    transposed = mha(Q, {name: w.T for name, w in params.items()}, 1)
    assert "Your result would be correct with every array of `params` transposed." in said(
        "multi_head_attention", transposed, Q, params, 1
    )


def test_positions_that_begin_at_one() -> None:
    shifted = FUNCTIONS["positional_encoding"](4, 4)[1:]
    assert "Your result would be correct with `t` one larger, without the first row of that result." in said(
        "positional_encoding", shifted, 3, 4
    )


def test_the_argument_itself() -> None:
    gamma, beta = np.array([1.0, 2.0, 0.5]), np.array([0.5, 0.0, -1.0])
    assert "Your result is the argument `x`, unchanged." in said("layer_norm", X, X, gamma, beta)


def test_three_tokens_say_little() -> None:
    lookup = {"embedding": 9 * np.eye(4), "blocks": [], "b_out": np.zeros(4), "w_out": np.roll(np.eye(4), 1, axis=1)}
    found = others(a_test_call("generate", np.array([0]), lookup, 1, 2))
    assert found
    assert all("params" not in sentence for sentence, _ in found)


def test_what_is_right_is_no_other_result() -> None:
    of = a_test_call("layer_norm", X, np.ones(3), np.zeros(3))
    assert not [other for _, other in others(of) if equal(other, of.expected, 1e-8)]
