"""Hidden suite of batchnorm_comparison.py."""

import numpy as np

from autograder.homework.suite import criterion, leaves_no_trace, single


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
    for n, d in [(5, 4), (2, 3), (3, 3), (4, 1), (33, 2), (3, 40)]:
        x = rng.normal(0, 3e-3, (n, d))  # so small that the default eps is a large part of the variance
        check.batch_norm(x, *parameters(rng, d), *steady(x), True, momentum=0.0)


@criterion("batchnorm_comparison.training")
def test_training_with_eps_given_by_the_caller(check, rng):
    x = rng.normal(1, 0.3, (3, 6))
    check.batch_norm(x, *parameters(rng, 6), *steady(x), training=True, momentum=0.0, eps=0.5)
    check.batch_norm(x, *parameters(rng, 6), *steady(x), True, 0.0, 0.5)


@criterion("batchnorm_comparison.training")
def test_training_with_any_values(check, rng):
    for x in (np.zeros((2, 3)), rng.uniform(1, 2, (4, 3)), -rng.uniform(1, 2, (4, 3)), np.eye(4, 3), np.full((3, 3), 2.0)):
        check.batch_norm(x, np.array([0.0, -1.0, 2.0]), np.array([0.0, 3.0, -2.0]), *steady(x), True)
    x = rng.normal(size=(4, 3))
    check.batch_norm(x, -rng.uniform(1, 2, 3), np.zeros(3), *steady(x), True)
    check.batch_norm(x, np.ones(3), -rng.uniform(1, 2, 3), *steady(x), True)
    check.batch_norm(x, np.zeros(3), np.ones(3), *steady(x), True)
    x = single(x)
    check.batch_norm(x, *single(parameters(rng, 3)), *steady(x), True)


@criterion("batchnorm_comparison.running")
def test_running_statistics_move_by_the_default_momentum(check, rng):
    # With gamma 0 y is beta: only the running statistics are graded here.
    for n, d in [(5, 3), (2, 3), (3, 3), (4, 1), (33, 2), (3, 40)]:
        check.batch_norm(wide(rng, n, d), np.zeros(d), rng.normal(1, 1, d), *running(rng, d), True)


@criterion("batchnorm_comparison.running")
def test_running_statistics_move_by_the_momentum_given(check, rng):
    for momentum in (0.3, 0.0, 1.0, 0.9):
        check.batch_norm(wide(rng, 2, 4), np.zeros(4), rng.normal(1, 1, 4), *running(rng, 4), True, momentum)
    check.batch_norm(wide(rng, 3, 2), np.zeros(2), np.zeros(2), *running(rng, 2), training=True, momentum=0.7)
    check.batch_norm(*single((wide(rng, 3, 2), np.zeros(2), np.zeros(2), *running(rng, 2))), True, 0.3)


@criterion("batchnorm_comparison.running")
def test_running_statistics_of_any_values(check, rng):
    zero, ones = np.zeros(3), np.ones(3)
    for mean, var in [(zero, ones), (-ones, zero), (ones, np.array([0.0, 1.0, 2.0])), (np.array([0.0, 1.0, 2.0]), 3 * ones)]:
        check.batch_norm(rng.normal(2, 3, (4, 3)), zero, ones, mean, var, True)
    check.batch_norm(np.zeros((4, 3)), zero, ones, ones, ones, True)
    check.batch_norm(rng.uniform(1, 9, (4, 3)) * [1, 1, 0], zero, ones, ones, ones, True)


@criterion("batchnorm_comparison.evaluation")
def test_evaluation_uses_and_returns_the_running_statistics(check, rng):
    for n, d in [(3, 5), (2, 3), (3, 3), (4, 1), (33, 2), (1, 40)]:
        mean, var = rng.normal(0, 3e-3, d), rng.uniform(1e-6, 1e-5, d)
        check.batch_norm(rng.normal(0, 3e-3, (n, d)), *parameters(rng, d), mean, var, False)
    check.batch_norm(rng.normal(size=(3, 5)), *parameters(rng, 5), rng.normal(size=5), rng.uniform(1, 2, 5), False, 0.9, 0.5)
    check.batch_norm(*single((rng.normal(size=(3, 2)), *parameters(rng, 2), rng.normal(size=2), rng.uniform(1, 2, 2))), False)


@criterion("batchnorm_comparison.evaluation")
def test_evaluation_with_any_values(check, rng):
    zero, ones, mixed = np.zeros(3), np.ones(3), np.array([0.0, -1.0, 2.0])
    for x, mean, var in [(np.zeros((2, 3)), ones, zero), (rng.uniform(1, 2, (2, 3)), -ones, mixed**2), (np.eye(3), mixed, ones)]:
        check.batch_norm(x, mixed, mixed, mean, var, False)
    check.batch_norm(-rng.uniform(1, 2, (2, 3)), -ones, zero, zero, ones, False)
    check.batch_norm(rng.normal(size=(2, 3)), zero, -ones, rng.uniform(1, 2, 3), ones, False)
    check.batch_norm(rng.normal(size=(2, 3)), ones, ones, ones, ones, False)


@criterion("batchnorm_comparison.evaluation")
def test_one_example_can_be_evaluated_but_not_trained_on(check, rng):
    alone = (wide(rng, 1, 3), *parameters(rng, 3), *running(rng, 3))
    check.batch_norm(*alone, training=False, eps=1e9)
    check.raises(ValueError).batch_norm(*alone, training=True)
    check.raises(ValueError).batch_norm(*(value[..., :1] for value in alone), True, 0.0)


@criterion("batchnorm_comparison.moments")
def test_moments_of_examples_and_of_features(check, rng):
    for n, d in [(4, 7), (3, 3), (1, 6), (6, 1), (2, 40), (33, 2), (1, 1)]:
        check.norm_moments(rng.normal(2, 3, (n, d)), "layer")
        check.norm_moments(rng.normal(2, 3, (n, d)), "batch")


@criterion("batchnorm_comparison.moments")
def test_moments_of_any_values(check, rng):
    for x in (np.zeros((3, 4)), np.eye(3, 4), rng.uniform(1, 2, (3, 4)), -rng.uniform(1, 2, (3, 4))):
        check.norm_moments(x, "layer")
        check.norm_moments(x, "batch")
    x = single(rng.normal(2, 3, (3, 4)))
    check.norm_moments(x=x, kind="layer")
    check.norm_moments(x, "batch")


@criterion("batchnorm_comparison.moments")
def test_moments_of_nothing_else(check, rng):
    for kind in ("batch_train", "Batch", "LAYER", "layers", "", "batch "):
        check.raises(ValueError).norm_moments(rng.normal(2, 3, (4, 7)), kind)


@criterion("batchnorm_comparison.influence")
def test_only_the_batch_statistics_connect_examples(check, rng):
    for kind in ("layer", "batch_train", "batch_eval"):
        for n, d in [(4, 6), (5, 3), (3, 3), (9, 4)]:
            x = rng.normal(0, 1, (n, d))
            x[1] = 0
            check.influence(x, kind, eps=1e-3)
        check.influence(np.zeros((3, 4)), kind, 1e-3)
        check.influence(single(rng.uniform(1, 2, (4, 3))), kind)


@criterion("batchnorm_comparison.influence")
def test_influence_of_another_kind_is_refused(check, rng):
    x = rng.normal(0, 1, (5, 3))
    check.influence(x=-x, kind="layer")
    for kind in ("batch", "Layer", "BATCH_TRAIN", "batch_evaluation", "", "layer "):
        check.raises(ValueError).influence(x, kind)


@criterion("batchnorm_comparison.purity")
def test_calls_leave_no_trace(check, rng):
    first, second = ((wide(rng, 5, 3), *parameters(rng, 3), *running(rng, 3), True) for _ in "12")
    leaves_no_trace(check, "batch_norm", first, second)
    check.pure.batch_norm(*first[:-1], False)  # what training has found is not kept for the evaluation
    first, second = (rng.normal(2, 3, (4, 3)) for _ in "12")
    leaves_no_trace(check, "norm_moments", (first, "layer"), (second, "layer"))
    check.norm_moments(first, "batch")
    leaves_no_trace(check, "influence", (first, "layer"), (second, "batch_train"))
    check.influence(first[:3], "batch_train")


@criterion("batchnorm_comparison.dtype")
def test_float32_stays_float32(check, rng):
    x, gamma, beta, mean, var = single((rng.normal(1, 1, (5, 3)), *(rng.uniform(1, 2, 3) for _ in "1234")))
    for training in (True, False):
        check.dtype.batch_norm(x, gamma, beta, mean, var, training)
        check.dtype.batch_norm(x, gamma, beta, mean, var, training, momentum=0.3, eps=0.5)
    check.dtype.norm_moments(x, "layer")
    check.dtype.norm_moments(x, "batch")
