"""Public checks of layernorm.py."""

import numpy as np
from student_calls import Caller

TOKENS = np.array([[4.0, 2.0, 1.0, -3.0], [1.0, 2.0, -1.0, 2.0]])
ONE, ZERO = np.ones(4), np.zeros(4)


def test_one_token(call: Caller) -> None:
    """Mean 1, variance 6.5."""
    call.layer_norm(TOKENS[0], ONE, ZERO).gives(np.array([1.176696, 0.392232, 0.0, -1.568928]))


def test_every_token_has_its_own_mean_and_variance(call: Caller) -> None:
    call.layer_norm(TOKENS, ONE, ZERO).gives(
        np.array([[1.176696, 0.392232, 0.0, -1.568928], [0.0, 0.816494, -1.632988, 0.816494]])
    )


def test_gamma_and_beta(call: Caller) -> None:
    call.layer_norm(TOKENS, np.array([1.0, 2.0, 0.5, -1.0]), np.array([0.0, 1.0, -1.0, 3.0])).gives(
        np.array([[1.176696, 1.784464, -1.0, 4.568928], [0.0, 2.632988, -1.816494, 2.183506]])
    )


def test_tokens_in_a_batch(call: Caller) -> None:
    call.layer_norm(np.array([[[4.0, 2.0, 0.0]], [[1.0, 2.0, -3.0]]]), np.ones(3), np.zeros(3)).gives(
        np.array([[[1.224743, 0.0, -1.224743]], [[0.462909, 0.925819, -1.388728]]])
    )


def test_sentences_of_two_tokens(call: Caller) -> None:
    x = np.array([[[4.0, 2.0, 0.0], [1.0, 1.0, 4.0]], [[1.0, 2.0, -3.0], [0.0, 5.0, 1.0]]])
    call.layer_norm(x, np.ones(3), np.zeros(3)).gives(
        np.array(
            [
                [[1.224743, 0.0, -1.224743], [-0.707105, -0.707105, 1.41421]],
                [[0.46291, 0.925819, -1.388729], [-0.925819, 1.388729, -0.46291]],
            ]
        )
    )


def test_eps(call: Caller) -> None:
    small = np.array([[0.004, 0.002, 0.001, -0.003], [7.0, 7.0, 7.0, 7.0]])
    call.layer_norm(small, ONE, ZERO).gives(
        np.array([[0.738549, 0.246183, 0.0, -0.984732], [0.0, 0.0, 0.0, 0.0]]),
    )
    call.layer_norm(TOKENS[0], ONE, ZERO, eps=2.5).gives(np.array([1.0, 0.333333, 0.0, -1.333333]))


def test_mean_far_above_the_spread(call: Caller) -> None:
    call.layer_norm(TOKENS[0] + 1e8, ONE, ZERO).gives(np.array([1.176696, 0.392232, 0.0, -1.568928]))


def test_rms_norm(call: Caller) -> None:
    call.rms_norm(TOKENS, np.array([1.0, 1.0, 1.0, 10.0])).gives(
        np.array([[1.460593, 0.730297, 0.365148, -10.954451], [0.632456, 1.264911, -0.632456, 12.649109]])
    )


def test_rms_norm_of_sentences(call: Caller) -> None:
    x = np.array([[[4.0, 2.0, 0.0], [1.0, 1.0, 4.0]], [[1.0, 2.0, -3.0], [0.0, 5.0, 1.0]]])
    call.rms_norm(x, np.ones(3)).gives(
        np.array(
            [
                [[1.549193, 0.774597, 0.0], [0.408248, 0.408248, 1.632993]],
                [[0.46291, 0.92582, -1.38873], [0.0, 1.698415, 0.339683]],
            ]
        )
    )


def test_eps_of_rms_norm(call: Caller) -> None:
    call.rms_norm(np.array([0.004, 0.002, 0.001, -0.003]), ONE).gives(
        np.array([1.371989, 0.685994, 0.342997, -1.028992])
    )
    call.rms_norm(TOKENS[0], ONE, eps=1.5).gives(np.array([1.333333, 0.666667, 0.333333, -1.0]))


def test_gradient(call: Caller) -> None:
    grad_out = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 3.0]])
    gradients = call.layer_norm_backward(grad_out, TOKENS, np.array([1.0, 2.0, 1.0, 1.0]))
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array([[0.158402, -0.143315, -0.098058, 0.082972], [-1.020617, -0.068037, 0.340197, 0.748457]]),
            np.array([1.176696, 0.816494, 0.0, 2.449482]),
            np.array([1.0, 1.0, 0.0, 3.0]),
        )
    )


def test_eps_of_the_gradient(call: Caller) -> None:
    gradients = call.layer_norm_backward(np.array([0.0, 1.0, 0.0, 2.0]), TOKENS[0], ONE, eps=2.5)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array([-0.055556, 0.148148, -0.25, 0.157407]),
            np.array([0.0, 0.333333, 0.0, -2.666667]),
            np.array([0.0, 1.0, 0.0, 2.0]),
        )
    )


def test_float32_stays_float32(call: Caller) -> None:
    x, one, zero = (array.astype(np.float32) for array in (TOKENS[0], ONE, ZERO))
    call.layer_norm(x, one, zero).gives(np.array([1.176696, 0.392232, 0.0, -1.568928], dtype=np.float32))


def test_float32_stays_float32_in_rms_norm(call: Caller) -> None:
    x, one = (array.astype(np.float32) for array in (TOKENS[0], ONE))
    call.rms_norm(x, one).gives(np.array([1.460593, 0.730297, 0.365148, -1.095445], dtype=np.float32))


def test_float32_stays_float32_in_the_gradient(call: Caller) -> None:
    x, one = (array.astype(np.float32) for array in (TOKENS, ONE))
    gradients = call.layer_norm_backward(one * x[::-1], x, one)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array(
                [[0.135772, 0.437489, -0.784464, 0.211202], [2.449481, 1.224738, -0.816488, -2.857731]],
                dtype=np.float32,
            ),
            np.array([1.176696, 2.417452, -1.632988, -5.587337], dtype=np.float32),
            np.array([5.0, 4.0, 0.0, -1.0], dtype=np.float32),
        )
    )
