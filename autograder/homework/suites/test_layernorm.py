"""Hidden tests of layernorm.py."""

import numpy as np

from autograder.homework.suite import by_columns, criterion, leaves_no_trace, single, varied, worked_examples


def wide(rng, *shape):
    """Rows with different means and spreads, so large that eps is negligible."""
    row = (*shape[:-1], 1)
    return rng.normal(0, 1e5, row) + rng.uniform(5e4, 3e5, row) * rng.normal(0, 1, shape)


def narrow(rng, *shape):
    """Values so small that eps is a large part of their variance."""
    return rng.normal(0, 3e-3, shape)


def affine(f, x, gamma, beta, **eps):
    """layer_norm with gamma and beta, from the result without them."""
    return gamma * f(x, np.ones_like(gamma), np.zeros_like(beta), **eps) + beta


def shifted(f, x, gamma, beta, **eps):
    """layer_norm of rows with any mean, from rows with mean 0."""
    return f(x - x.mean(axis=-1, keepdims=True), gamma, beta, **eps)


@criterion("layernorm.example")
def test_worked_examples(check):
    worked_examples(check, "layernorm")


@criterion("layernorm.statistics")
def test_every_row_has_its_own_statistics(check, rng):
    for shape in [(9,), (3, 5, 7), (2, 1, 3, 4), (4, 4), (1, 2), (1, 1, 6)]:
        check.layer_norm(wide(rng, *shape), np.ones(shape[-1]), np.zeros(shape[-1]))
    check.layer_norm(by_columns(wide(rng, 2, 1, 2, 3, 4)), np.ones(4), np.zeros(4))


@criterion("layernorm.statistics")
def test_rows_of_any_sign(check, rng):
    gamma, beta = np.ones(70), np.zeros(70)
    check.layer_norm(1e6 * rng.uniform(1, 5, (20, 70)), gamma=gamma, beta=beta)
    check.layer_norm(-1e6 * rng.uniform(1, 5, (2, 70)), gamma, beta)
    check.layer_norm(x=single(wide(rng, 2, 6)), gamma=single(np.ones(6)), beta=single(np.zeros(6)))
    one_far_off = wide(rng, 2, 24)
    one_far_off[:, 5] += 3e6
    check.layer_norm(one_far_off, np.ones(24), np.zeros(24))


@criterion("layernorm.affine")
def test_gamma_scales_and_beta_shifts_each_feature(check, rng):
    check = check.related(affine)
    sizes = [(6,), (7,), (5,), (6,), (4,)]
    for gamma, beta in zip(varied(rng, *sizes), varied(rng, *sizes, start=1), strict=True):
        check.layer_norm(wide(rng, 3, len(gamma)), gamma, beta)
    check.layer_norm(wide(rng, 6, 6), np.full(6, -2.0), np.full(6, -2.0))


@criterion("layernorm.affine")
def test_a_row_without_spread_gives_beta(check, rng):
    check = check.related(affine)
    check.layer_norm(np.array([[0.0, 0.0], [4e5, 1e6]]), rng.normal(2, 1, 2), rng.normal(1, 1, 2))
    check.layer_norm(np.full(3, 2.0), rng.normal(2, 1, 3), rng.normal(1, 1, 3))
    check.layer_norm(np.zeros((2, 1)), np.array([2.0]), np.array([0.5]))
    check.layer_norm(np.array([[3.0], [-2.0]]), np.array([2.0]), np.array([0.5]))


@criterion("layernorm.epsilon")
def test_default_eps_on_a_small_variance(check, rng):
    for shape in [(8,), (1, 4, 2)]:
        check.layer_norm(narrow(rng, *shape), np.ones(shape[-1]), np.zeros(shape[-1]))


@criterion("layernorm.epsilon")
def test_eps_given_by_the_caller(check, rng):
    for shape, eps in [((6,), 0.5), ((1, 2, 5), 0.0), ((2, 2, 3, 4), 0.25)]:
        x, ones = rng.normal(0, 1, shape), np.ones(shape[-1])
        check.layer_norm(x, ones, np.zeros(shape[-1]), eps=eps)
    check.layer_norm(narrow(rng, 2, 6), np.ones(6), np.zeros(6), 1e-7)


@criterion("layernorm.rms_epsilon")
def test_default_eps_on_a_small_mean_square(check, rng):
    for shape in [(8,), (1, 4, 2)]:
        check.rms_norm(narrow(rng, *shape), np.ones(shape[-1]))


@criterion("layernorm.rms_epsilon")
def test_eps_of_rms_norm_given_by_the_caller(check, rng):
    for shape, eps in [((6,), 0.5), ((1, 2, 5), 0.0), ((2, 2, 3, 4), 0.25)]:
        check.rms_norm(rng.normal(0, 1, shape), np.ones(shape[-1]), eps=eps)
    check.rms_norm(narrow(rng, 2, 6), np.ones(6), 3e-5)


@criterion("layernorm.stability")
def test_mean_far_above_the_spread(check, rng):
    # As far above as 1e6 is above a spread of 1; eps is so small that only the variance is graded here.
    x = np.array([[3e5], [-3e5], [2e5]]) + rng.normal(0, 0.3, (3, 16))
    check = check.within(1e-6).related(shifted)
    check.layer_norm(x, np.ones(16), np.zeros(16), eps=1e-12)
    check.layer_norm(x.reshape(3, 2, 8), np.ones(8), np.zeros(8), eps=1e-12)


@criterion("layernorm.rms")
def test_rms_of_every_row_with_its_mean(check, rng):
    shapes = [(9,), (3, 5, 7), (2, 1, 3, 4), (4, 2), (1, 3), (2, 1), (20, 70), (5, 5)]
    gammas = varied(rng, *(shape[-1:] for shape in shapes), start=1)
    for x, gamma in zip(varied(rng, *shapes), gammas, strict=True):
        check.rms_norm(1e5 * x, gamma)
    check.rms_norm(by_columns(rng.normal(0, 1e5, (2, 1, 2, 3, 4))), rng.normal(2, 1, 4))
    check.rms_norm(x=single(wide(rng, 2, 6)), gamma=single(np.full(6, -2.0)))


@criterion("layernorm.backward_x")
def test_gradient_of_x_flows_through_mean_and_variance(check, rng):
    check = check.part("grad_x")
    shapes = [(4, 4), (2, 33), (7,), (17, 6), (2, 3), (2, 1), (1, 6), (1, 3, 5), (3, 2), (2, 2, 3, 4)]
    gammas = varied(rng, *(shape[-1:] for shape in shapes), start=3)
    for x, grad_out, gamma in zip(varied(rng, *shapes), varied(rng, *shapes, start=1), gammas, strict=True):
        check.layer_norm_backward(grad_out, x, gamma, eps=0.5)


@criterion("layernorm.backward_x")
def test_gradient_of_x_with_the_default_eps(check, rng):
    check = check.part("grad_x")
    for shape in [(6,), (3, 5), (1, 1, 4), (2, 2, 2, 4)]:
        grad_out, x = by_columns(rng.normal(1, 1, shape)), by_columns(narrow(rng, *shape))
        check.layer_norm_backward(grad_out, x, rng.normal(2, 1, shape[-1]))
    check.layer_norm_backward(rng.normal(1, 1, (3, 2)), rng.normal(2, 1, (3, 2)), np.full(2, -2.0), 0.0)
    grad_out, x, gamma = single((rng.normal(1, 1, (2, 4)), rng.normal(2, 1, (2, 4)), rng.normal(2, 1, 4)))
    check.layer_norm_backward(grad_out=grad_out, x=x, gamma=gamma, eps=0.5)


@criterion("layernorm.backward_parameters")
def test_parameter_gradients_sum_over_all_leading_dimensions(check, rng):
    check = check.part("grad_gamma", "grad_beta")
    shapes = [(5,), (3, 4, 6), (20, 1), (2, 2, 1, 3), (1, 33), (6, 6), (1, 1, 7), (2, 3)]
    given = varied(rng, *shapes), varied(rng, *shapes, start=2), varied(rng, *(s[-1:] for s in shapes), start=1)
    for number, (grad_out, x, gamma) in enumerate(zip(*given, strict=True)):
        check.layer_norm_backward(grad_out, x, gamma, (1e-5, 0.0, 1e-5, 0.5)[number % 4])
    grad_out, x = by_columns(rng.normal(1, 1, (2, 1, 3, 2))), by_columns(narrow(rng, 2, 1, 3, 2))
    check.layer_norm_backward(grad_out, x, np.full(2, -2.0))
    grad_out, x, gamma = single((rng.normal(1, 1, 4), rng.normal(2, 1, 4), rng.normal(2, 1, 4)))
    check.layer_norm_backward(grad_out=grad_out, x=x, gamma=gamma, eps=0.5)


@criterion("layernorm.purity")
def test_calls_leave_no_trace(check, rng):
    first, second = ((wide(rng, 3, 5), rng.normal(2, 1, 5), rng.normal(1, 1, 5)) for _ in "12")
    leaves_no_trace(check, "layer_norm", first, second)
    leaves_no_trace(check, "rms_norm", first[:2], second[:2])
    first, second = ((rng.normal(0, 1e5, (3, 5)), wide(rng, 3, 5), rng.normal(2, 1, 5)) for _ in "12")
    leaves_no_trace(check, "layer_norm_backward", first, second)


@criterion("layernorm.purity")
def test_arguments_of_every_rank_stay_as_they_are(check, rng):
    for shape, given in [((4,), {}), ((2, 3, 4), {"eps": 0.5}), ((2, 1), {})]:
        x, grad_out = wide(rng, *shape), rng.normal(1, 1, shape)
        gamma = rng.normal(2, 1, shape[-1]) if shape[-1] > 1 else np.ones(1)
        beta = rng.normal(1, 1, shape[-1])
        if given:
            x, grad_out, gamma, beta = single((x, grad_out, gamma, beta))
        check.untouched.layer_norm(x, gamma, beta, **given)
        check.untouched.rms_norm(x, gamma, **given)
        check.untouched.layer_norm_backward(grad_out, x, gamma, **given)


@criterion("layernorm.dtype")
def test_results_keep_the_dtype(check, rng):
    grad_out, x, gamma, beta = rng.normal(1, 1, (4, 2, 3))
    check.dtype.layer_norm(x, gamma[0], beta[0])
    check.dtype.rms_norm(x, gamma[0])
    check.dtype.layer_norm_backward(grad_out, x, gamma[0])
    for shape in [(6,), (2, 2, 4)]:
        d = shape[-1]
        grad_out, x = single((rng.normal(1, 1, shape), rng.normal(1, 1, shape)))
        gamma, beta = single((rng.normal(1, 1, d), rng.normal(1, 1, d)))
        check.dtype.layer_norm(x, gamma, beta)
        check.dtype.rms_norm(x, gamma)
        check.dtype.layer_norm_backward(grad_out, x, gamma)
    check.dtype.layer_norm(x, gamma, beta, eps=0.5)
    check.dtype.rms_norm(x, gamma, eps=0.5)
    check.dtype.layer_norm_backward(grad_out, x, gamma, eps=0.5)
