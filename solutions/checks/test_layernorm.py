"""Public checks of layernorm.py."""

import numpy as np
from student_calls import Caller

TOKENS = np.array([[4.0, 2.0, 1.0, -3.0], [1.0, 2.0, -1.0, 2.0]])
BY_COLUMNS = np.asfortranarray([TOKENS, -TOKENS])
GAMMA, BETA = np.array([2.0, 1.0, 0.5, -1.0]), np.array([0.5, 1.0, -1.0, 0.0])


def test_one_token(call: Caller) -> None:
    """Mean 1, variance 6.5."""
    call.layer_norm(TOKENS[0], GAMMA, BETA).gives(np.array([2.853392, 1.392232, -1.0, 1.568928]))


def test_every_token_has_its_own_mean_and_variance(call: Caller) -> None:
    call.layer_norm(TOKENS, GAMMA, BETA).gives(
        np.array([[2.853392, 1.392232, -1.0, 1.568928], [0.5, 1.816494, -1.816494, -0.816494]])
    )


def test_gamma_and_beta(call: Caller) -> None:
    call.layer_norm(TOKENS, np.array([3.0, -2.0, 0.5, 1.0]), np.array([-1.0, 0.0, 2.0, 3.0])).gives(
        np.array([[2.530088, -0.784464, 2.0, 1.431072], [-1.0, -1.632988, 1.183506, 3.816494]])
    )


def test_tokens_in_a_batch(call: Caller) -> None:
    call.layer_norm(np.array([[[4.0, 2.0, 0.0]], [[1.0, 2.0, -3.0]]]), GAMMA[:3], BETA[:3]).gives(
        np.array([[[2.949485, 1.0, -1.612371]], [[1.425819, 1.925819, -1.694364]]])
    )


def test_sentences_of_two_tokens(call: Caller) -> None:
    x = np.array([[[4.0, 2.0, 0.0], [1.0, 1.0, 4.0]], [[1.0, 2.0, -3.0], [0.0, 5.0, 1.0]]])
    call.layer_norm(x, GAMMA[:3], BETA[:3]).gives(
        np.array(
            [
                [[2.949485, 1.0, -1.612371], [-0.91421, 0.292895, -0.292895]],
                [[1.425819, 1.925819, -1.694364], [-1.351638, 2.388729, -1.231455]],
            ]
        )
    )


def test_eps(call: Caller) -> None:
    small = np.array([[0.004, 0.002, 0.001, -0.003], [7.0, 7.0, 7.0, 7.0]])
    call.layer_norm(small, GAMMA, BETA).gives(
        np.array([[1.977098, 1.246183, -1.0, 0.984732], [0.5, 1.0, -1.0, 0.0]]),
    )


def test_eps_from_the_caller(call: Caller) -> None:
    call.layer_norm(TOKENS[0], GAMMA, BETA, eps=2.5).gives(np.array([2.5, 1.333333, -1.0, 1.333333]))
    call.layer_norm(0.001 * TOKENS[0], GAMMA, BETA, eps=0.0).gives(np.array([2.853394, 1.392232, -1.0, 1.568929]))


def test_mean_far_above_the_spread(call: Caller) -> None:
    call.layer_norm(TOKENS[0] + 1e8, GAMMA, BETA).gives(np.array([2.853392, 1.392232, -1.0, 1.568928]))


def test_tokens_stored_by_columns(call: Caller) -> None:
    """np.zeros_like(x) is stored like x, and its reshape(-1, d) may be a copy."""
    call.layer_norm(BY_COLUMNS, GAMMA, BETA).gives(
        np.array(
            [
                [[2.853392, 1.392232, -1.0, 1.568928], [0.5, 1.816494, -1.816494, -0.816494]],
                [[-1.853392, 0.607768, -1.0, -1.568928], [0.5, 0.183506, -0.183506, 0.816494]],
            ]
        )
    )


def test_rms_norm(call: Caller) -> None:
    call.rms_norm(TOKENS, np.array([2.0, 1.0, 1.0, 10.0])).gives(
        np.array([[2.921187, 0.730297, 0.365148, -10.95445], [1.264911, 1.264911, -0.632455, 12.649108]])
    )


def test_rms_norm_of_sentences(call: Caller) -> None:
    x = np.array([[[4.0, 2.0, 0.0], [1.0, 1.0, 4.0]], [[1.0, 2.0, -3.0], [0.0, 5.0, 1.0]]])
    call.rms_norm(x, GAMMA[:3]).gives(
        np.array(
            [
                [[3.098386, 0.774597, 0.0], [0.816497, 0.408248, 0.816497]],
                [[0.92582, 0.92582, -0.694365], [0.0, 1.698415, 0.169842]],
            ]
        )
    )


def test_rms_norm_of_many_features(call: Caller) -> None:
    call.rms_norm(np.array([*64 * [3.0], 9.0]), np.array([*64 * [2.0], -1.0])).then(
        "the last two features", lambda y: y[-2:]
    ).gives(np.array([1.887231, -2.830847]))


def test_rms_norm_of_tokens_stored_by_columns(call: Caller) -> None:
    call.rms_norm(BY_COLUMNS, np.array([2.0, 1.0, 1.0, 10.0])).gives(
        np.array(
            [
                [[2.921187, 0.730297, 0.365148, -10.95445], [1.264911, 1.264911, -0.632455, 12.649108]],
                [[-2.921187, -0.730297, -0.365148, 10.95445], [-1.264911, -1.264911, 0.632455, -12.649108]],
            ]
        )
    )


def test_eps_of_rms_norm(call: Caller) -> None:
    call.rms_norm(np.array([0.004, 0.002, 0.001, -0.003]), GAMMA).gives(
        np.array([2.743977, 0.685994, 0.171499, 1.028992])
    )
    call.rms_norm(TOKENS[0], GAMMA, eps=1.5).gives(np.array([2.666667, 0.666667, 0.166667, 1.0]))


def test_gradient(call: Caller) -> None:
    grad_out = np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 3.0]])
    gradients = call.layer_norm_backward(grad_out, TOKENS, np.array([2.0, 1.0, 1.0, 1.0]))
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array([[0.633606, -0.573262, -0.392232, 0.331887], [-0.816494, -0.544326, 0.272157, 1.088662]]),
            np.array([2.353392, 0.816494, 0.0, 2.449482]),
            np.array([2.0, 1.0, 0.0, 3.0]),
        )
    )


def test_gradient_of_tokens_stored_by_columns(call: Caller) -> None:
    grad_out = np.asfortranarray([2 * TOKENS[::-1] + 1, TOKENS])
    gradients = call.layer_norm_backward(grad_out, BY_COLUMNS, GAMMA)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array(
                [
                    [[-0.131998, 0.773151, -0.735435, 0.094283], [8.675247, -2.891743, -2.891762, -2.891743]],
                    [[1.180468, -0.75052, -1.127667, 0.697719], [1.326803, 1.190721, -0.442269, -2.075254]],
                ]
            ),
            np.array([-1.176696, 3.626177, -6.531951, -18.26688]),
            np.array([17.0, 14.0, 2.0, -1.0]),
        )
    )


def test_gradient_after_a_norm_of_other_tokens(call: Caller) -> None:
    """The gradient belongs to its own x, not to that of the last layer_norm."""
    call.layer_norm(-TOKENS, GAMMA, BETA).without_check()
    gradients = call.layer_norm_backward(2 * TOKENS[::-1], TOKENS, GAMMA)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array([[-0.173485, 0.792008, -0.686406, 0.067883], [7.552568, -3.334009, -2.517537, -1.701022]]),
            np.array([2.353392, 4.834903, -3.265975, -11.174675]),
            np.array([10.0, 8.0, 0.0, -2.0]),
        )
    )


def test_eps_of_the_gradient(call: Caller) -> None:
    gradients = call.layer_norm_backward(np.array([2.0, 1.0, 0.0, 3.0]), TOKENS[0], GAMMA, eps=2.5)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array([0.472222, -0.064815, -0.166667, -0.240741]),
            np.array([2.0, 0.333333, 0.0, -4.0]),
            np.array([2.0, 1.0, 0.0, 3.0]),
        )
    )


def test_gradient_of_a_batch_of_sentences(call: Caller) -> None:
    """The parameters are shared by all tokens, over all leading axes."""
    x = np.array([[[TOKENS[0]], [TOKENS[1]]], [[-TOKENS[1]], [TOKENS[0] + TOKENS[1]]]])
    gradients = call.layer_norm_backward(x[::-1], x, GAMMA)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array(
                [
                    [[[0.086742, -0.396004, 0.343203, -0.033942]], [[5.103087, -0.476284, -1.701038, -2.925765]]],
                    [[[3.776284, -1.667005, -1.258769, -0.850511]], [[-0.132, 0.124459, 0.169715, -0.162174]]],
                ]
            ),
            np.array([0.0, 2.417452, 2.417452, 2.417452]),
            np.array([9.0, 6.0, 1.0, -4.0]),
        )
    )


def test_float32_stays_float32(call: Caller) -> None:
    x, gamma, beta = (array.astype(np.float32) for array in (TOKENS[0], GAMMA, BETA))
    call.layer_norm(x, gamma, beta).gives(np.array([2.853392, 1.392232, -1.0, 1.568928], dtype=np.float32))


def test_float32_stays_float32_in_rms_norm(call: Caller) -> None:
    x, gamma = (array.astype(np.float32) for array in (TOKENS[0], GAMMA))
    call.rms_norm(x, gamma).gives(np.array([2.921187, 0.730297, 0.182574, 1.095445], dtype=np.float32))


def test_float32_stays_float32_in_the_gradient(call: Caller) -> None:
    x, gamma = (array.astype(np.float32) for array in (TOKENS, GAMMA))
    gradients = call.layer_norm_backward(2 * x[::-1], x, gamma)
    gradients.returning("grad_x", "grad_gamma", "grad_beta").gives(
        (
            np.array(
                [[-0.173485, 0.792008, -0.686406, 0.067883], [7.552568, -3.334009, -2.517537, -1.701022]],
                dtype=np.float32,
            ),
            np.array([2.353392, 4.834903, -3.265975, -11.174675], dtype=np.float32),
            np.array([10.0, 8.0, 0.0, -2.0], dtype=np.float32),
        )
    )
