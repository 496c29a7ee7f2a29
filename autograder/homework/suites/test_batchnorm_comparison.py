"""Hidden suite of batchnorm_comparison.py."""

import numpy as np

from autograder.homework.suite import criterion


def wide(rng, n, d):
    """Examples whose features have means and spreads of their own, so large that eps plays no part."""
    return rng.normal(0, 1e5, d) + rng.uniform(5e4, 3e5, d) * rng.normal(0, 1, (n, d))


def parameters(rng, d):
    """gamma and beta."""
    return rng.normal(2, 1, d), rng.normal(1, 1, d)


def running(rng, d):
    """running_mean and running_var, of the size that fits `wide`."""
    return rng.normal(0, 1e5, d), rng.uniform(1e10, 9e10, d)


def steady(x):
    """Running statistics that this batch does not move, so that only y is graded."""
    return x.mean(axis=0), x.var(axis=0, ddof=1)


@criterion("batchnorm_comparison.example")
def test_worked_examples(check):
    x = np.array([[1.0, 2.0, -1.0], [3.0, 1.0, 0.5], [2.0, -1.0, 1.5]])
    check.batch_norm(x, np.ones(3), np.zeros(3), np.zeros(3), np.ones(3), True)
    check.norm_moments(x, "layer")
    check.norm_moments(x, "batch")


@criterion("batchnorm_comparison.training")
def test_training_normalises_each_feature_over_the_batch(check, rng):
    x = rng.normal(0, 3e-3, (5, 4))  # so small that the default eps is a large part of the variance
    check.batch_norm(x, *parameters(rng, 4), *steady(x), True, momentum=0.0)


@criterion("batchnorm_comparison.training")
def test_training_with_eps_given_by_the_caller(check, rng):
    x = rng.normal(1, 0.3, (3, 6))
    check.batch_norm(x, *parameters(rng, 6), *steady(x), training=True, momentum=0.0, eps=0.5)


@criterion("batchnorm_comparison.running")
def test_running_statistics_move_by_the_default_momentum(check, rng):
    # With gamma 0 y is beta: only the running statistics are graded here.
    check.batch_norm(wide(rng, 5, 3), np.zeros(3), rng.normal(1, 1, 3), *running(rng, 3), True)


@criterion("batchnorm_comparison.running")
def test_running_statistics_move_by_the_momentum_given(check, rng):
    check.batch_norm(wide(rng, 2, 4), np.zeros(4), rng.normal(1, 1, 4), *running(rng, 4), True, 0.3)


@criterion("batchnorm_comparison.evaluation")
def test_evaluation_uses_and_returns_the_running_statistics(check, rng):
    mean, var = rng.normal(0, 3e-3, 5), rng.uniform(1e-6, 1e-5, 5)
    check.batch_norm(rng.normal(0, 3e-3, (3, 5)), *parameters(rng, 5), mean, var, False)


@criterion("batchnorm_comparison.evaluation")
def test_one_example_can_be_evaluated_but_not_trained_on(check, rng):
    alone = (wide(rng, 1, 3), *parameters(rng, 3), *running(rng, 3))
    check.batch_norm(*alone, training=False, eps=1e9)
    check.raises(ValueError).batch_norm(*alone, training=True)


@criterion("batchnorm_comparison.moments")
def test_moments_of_examples_and_of_features_and_of_nothing_else(check, rng):
    x = rng.normal(2, 3, (4, 7))
    check.norm_moments(x, "layer")
    check.norm_moments(x, "batch")
    check.raises(ValueError).norm_moments(x, "batch_train")


@criterion("batchnorm_comparison.influence")
def test_only_the_batch_statistics_connect_examples(check, rng):
    x = rng.normal(0, 1, (4, 6))
    x[1] = 0
    for kind in ("layer", "batch_train", "batch_eval"):
        check.influence(x, kind, eps=1e-3)


@criterion("batchnorm_comparison.influence")
def test_influence_of_another_kind_is_refused(check, rng):
    x = rng.normal(0, 1, (5, 3))
    check.influence(x, "layer")
    check.raises(ValueError).influence(x, "batch")


@criterion("batchnorm_comparison.purity")
def test_arguments_are_left_alone_and_nothing_is_remembered(check, rng):
    x, rest = wide(rng, 5, 3), (*parameters(rng, 3), *running(rng, 3))
    check.pure.batch_norm(x, *rest, True)
    check.batch_norm(x, *rest, False)
    check.pure.norm_moments(x, "layer")
    check.pure.influence(x[:4] / 1e5, "layer")


@criterion("batchnorm_comparison.dtype")
def test_float32_stays_float32(check, rng):
    x, gamma, beta, mean = (rng.normal(1, 1, s).astype(np.float32) for s in ((5, 3), 3, 3, 3))
    for training in (True, False):
        check.dtype.batch_norm(x, gamma, beta, mean, np.full(3, 2, np.float32), training)
    check.dtype.norm_moments(x, "layer")


@criterion("batchnorm_comparison.dtype")
def test_integers_count_as_float64(check, rng):
    x, mean, var = rng.integers(-(9**6), 9**6, (4, 3)), np.array([1000, 2, -3000]), 9**12 * np.array([1, 4, 9])
    check.dtype.batch_norm(x, np.array([3, 1, 2]), np.array([1, 0, -1]), mean, var, True)
    check.dtype.norm_moments(x, "batch")
