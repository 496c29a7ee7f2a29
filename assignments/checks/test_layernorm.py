"""Public checks of layernorm.py."""

import numpy as np
from student_calls import Caller


def test_the_token_of_the_lecture(call: Caller) -> None:
    call.layer_norm(np.array([4.0, 2.0, 0.0, -2.0]), np.ones(4), np.zeros(4)).gives(
        np.array([1.341639, 0.447213, -0.447213, -1.341639]),
        hint="Mean 1, variance 5. If you get 1.1619 you divide by d - 1; layer norm divides by d.",
    )


def test_add_and_norm(call: Caller) -> None:
    call.layer_norm(np.array([1.0, 2.0, -1.0]) + np.array([0.5, 1.5, -0.5]), np.ones(3), np.zeros(3)).gives(
        np.array([0.162221, 1.135549, -1.297770]),
        hint="Mean 1.1667, variance 4.2222. The notes print the variance 4.89 here and, from it, 0.15, "
        "1.06, -1.19; their own squares 0.11, 5.43 and 7.13, divided by 3, give 4.22.",
    )


def test_every_token_has_its_own_mean_and_variance(call: Caller) -> None:
    tokens = np.array([[1.0, 2.0, -1.0], [3.0, 1.0, 0.5]])
    call.layer_norm(tokens, np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, -1.0])).gives(
        np.array([[0.267260, 3.138084, -1.668151], [1.388724, 0.074184, -1.462908]]),
        hint="Mean and variance over the last axis (keepdims=True keeps them in line with x); gamma "
        "multiplies, then beta is added, feature by feature.",
    )


def test_eps_is_inside_the_root(call: Caller) -> None:
    call.layer_norm(np.array([[0.004, 0.002, 0.0, -0.002], [7.0, 7.0, 7.0, 7.0]]), np.ones(4), np.zeros(4)).gives(
        np.array([[0.774597, 0.258199, -0.258199, -0.774597], [0.0, 0.0, 0.0, 0.0]]),
        hint="sqrt(var + eps), not sqrt(var) + eps: the first row would begin with 1.3357, and with 1.3416 "
        "without any eps.",
    )


def test_rms_norm(call: Caller) -> None:
    call.rms_norm(np.array([[4.0, 2.0, 0.0, -2.0]]), np.array([1.0, 1.0, 1.0, 10.0])).gives(
        np.array([[1.632993, 0.816497, 0.0, -8.164964]]),
        hint="The mean of the squares is 6; no mean is subtracted.",
    )


def test_gradient(call: Caller) -> None:
    x = np.array([[4.0, 2.0, 0.0, -2.0], [1.0, 2.0, -1.0, 2.0]])
    grad_out = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 2.0]])
    gradients = call.layer_norm_backward(grad_out, x, np.array([1.0, 2.0, 1.0, 1.0]))
    gradients.then("grad_beta (part 2 of the tuple)", lambda parts: parts[2]).gives(
        np.array([1.0, 1.0, 0.0, 2.0]), hint="Beta is shared by all tokens: sum over all axes but the last."
    )
    gradients.then("grad_gamma (part 1 of the tuple)", lambda parts: parts[1]).gives(
        np.array([1.341639, 0.816494, 0.0, 1.632988]),
        hint="The sum of grad_out * (x - mean) / sqrt(var + eps) over all axes but the last.",
    )
    gradients.then("grad_x (part 0 of the tuple)", lambda parts: parts[0]).gives(
        np.array([[0.134164, -0.178885, -0.044721, 0.089442], [-0.816494, 0.272168, 0.272157, 0.272168]]),
        hint="g = grad_out * gamma, minus its mean, minus n * mean(g * n), all divided by the standard "
        "deviation. Each row sums to 0, since a uniform shift of a token changes nothing.",
    )


def test_float32_stays_float32(call: Caller) -> None:
    x = np.array([[1.0, 2.0, -1.0]], dtype=np.float32)
    gamma, beta = np.ones(3, dtype=np.float32), np.zeros(3, dtype=np.float32)
    call.layer_norm(x, gamma, beta).gives(
        np.array([[0.267260, 1.069042, -1.336302]], dtype=np.float32),
        hint="A Python float leaves float32 alone, a NumPy float64 (as from np.sqrt(8)) makes it float64.",
    )
