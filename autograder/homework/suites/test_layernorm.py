"""Hidden suite of layernorm.py."""

import numpy as np

from autograder.homework.suite import criterion


def wide(rng, *shape):
    """Rows with means and spreads of their own, so large that eps plays no part."""
    row = (*shape[:-1], 1)
    return rng.normal(0, 1e5, row) + rng.uniform(5e4, 3e5, row) * rng.normal(0, 1, shape)


def narrow(rng, *shape):
    """Values so small that eps is a large part of their variance."""
    return rng.normal(0, 3e-3, shape)


@criterion("layernorm.example")
def test_worked_examples(check):
    check.layer_norm(np.array([4.0, 2.0, 0.0, -2.0]), np.ones(4), np.zeros(4))
    check.rms_norm(np.array([2.0, 1.0, 0.0, -1.0]), np.ones(4))


@criterion("layernorm.statistics")
def test_every_row_has_its_own_statistics(check, rng):
    check.layer_norm(wide(rng, 3, 5, 7), np.ones(7), np.zeros(7))


@criterion("layernorm.statistics")
def test_one_row_without_leading_dimensions(check, rng):
    check.layer_norm(wide(rng, 9), np.ones(9), np.zeros(9))


@criterion("layernorm.affine")
def test_gamma_scales_and_beta_shifts_each_feature(check, rng):
    check.layer_norm(wide(rng, 2, 4, 6), rng.normal(2, 1, 6), rng.normal(1, 1, 6))


@criterion("layernorm.affine")
def test_a_row_without_spread_gives_beta(check, rng):
    check.layer_norm(np.full((2, 5), 3.0), rng.normal(2, 1, 5), rng.normal(1, 1, 5))
    check.layer_norm(rng.normal(size=(3, 1)), np.array([2.0]), np.array([0.5]))


@criterion("layernorm.epsilon")
def test_default_eps_on_a_small_variance(check, rng):
    check.layer_norm(narrow(rng, 3, 8), np.ones(8), np.zeros(8))
    check.rms_norm(narrow(rng, 3, 8), np.ones(8))


@criterion("layernorm.epsilon")
def test_eps_given_by_the_caller(check, rng):
    x = rng.normal(0, 1, (4, 6))
    check.layer_norm(x, np.ones(6), np.zeros(6), eps=0.5)
    check.rms_norm(x, np.ones(6), eps=0.25)


@criterion("layernorm.stability")
def test_mean_far_above_the_spread(check, rng):
    # As far above as 1e6 is above a spread of 1; eps is so small that only the variance is graded here.
    x = np.array([[3e5], [-3e5], [2e5]]) + rng.normal(0, 0.3, (3, 16))
    check.within(1e-6).layer_norm(x, np.ones(16), np.zeros(16), eps=1e-12)


@criterion("layernorm.rms")
def test_rms_of_every_row_with_its_mean(check, rng):
    check.rms_norm(wide(rng, 3, 5, 7), rng.normal(2, 1, 7))
    check.rms_norm(wide(rng, 9), rng.normal(2, 1, 9))


@criterion("layernorm.backward_x")
def test_gradient_of_x_flows_through_mean_and_variance(check, rng):
    check.layer_norm_backward(rng.normal(1, 1, (4, 7)), rng.normal(2, 1, (4, 7)), rng.normal(2, 1, 7), eps=0.5)


@criterion("layernorm.backward_x")
def test_gradient_of_x_with_the_default_eps(check, rng):
    check.layer_norm_backward(rng.normal(1, 1, (2, 6)), narrow(rng, 2, 6), rng.normal(2, 1, 6))


@criterion("layernorm.backward_parameters")
def test_parameter_gradients_sum_over_all_leading_dimensions(check, rng):
    # With gamma 0 the gradient of x is 0, so that only the two sums are graded here.
    check.layer_norm_backward(rng.normal(1, 1, (3, 4, 6)), wide(rng, 3, 4, 6), np.zeros(6))


@criterion("layernorm.backward_parameters")
def test_parameter_gradients_of_one_row(check, rng):
    check.layer_norm_backward(rng.normal(1, 1, 5), wide(rng, 5), np.zeros(5))


@criterion("layernorm.purity")
def test_arguments_are_left_alone(check, rng):
    x, gamma, beta = wide(rng, 3, 5), rng.normal(2, 1, 5), rng.normal(1, 1, 5)
    check.pure.layer_norm(x, gamma, beta)
    check.pure.rms_norm(x, gamma)
    check.pure.layer_norm_backward(rng.normal(0, 1e5, (3, 5)), x, gamma)


@criterion("layernorm.purity")
def test_earlier_calls_leave_no_trace(check, rng):
    for x in wide(rng, 2, 4, 6):
        check.layer_norm(x, rng.normal(2, 1, 6), rng.normal(1, 1, 6))


@criterion("layernorm.dtype")
def test_float32_stays_float32(check, rng):
    grad_out, x, gamma, beta = (rng.normal(1, 1, s).astype(np.float32) for s in ((3, 6), (3, 6), 6, 6))
    check.dtype.layer_norm(x, gamma, beta)
    check.dtype.rms_norm(x, gamma)
    check.dtype.layer_norm_backward(grad_out, x, gamma)


@criterion("layernorm.dtype")
def test_integers_count_as_float64(check, rng):
    x, gamma = rng.integers(-(9**6), 9**6, (3, 4)), np.array([3, 1, -2, 2])
    check.dtype.layer_norm(x, gamma, gamma + 1)
    check.dtype.rms_norm(x, gamma)
    check.dtype.layer_norm_backward(rng.integers(-(9**6), 9**6, (3, 4)), x, gamma)
