"""Hidden tests of batchnorm_comparison.py."""

import numpy as np

from autograder.homework.suite import by_columns, criterion, leaves_no_trace, single, varied, worked_examples


def wide(rng, n, d):
    """Examples whose features have different means and spreads, so large that eps is negligible."""
    return rng.normal(0, 1e5, d) + rng.uniform(5e4, 3e5, d) * rng.normal(0, 1, (n, d))


def parameters(rng, d):
    """gamma and beta."""
    return rng.normal(2, 1, d), rng.normal(1, 1, d)


def running(rng, d, size=1.0):
    """running_mean and running_var of features of this size."""
    return size * rng.normal(0, 1, d), size**2 * rng.uniform(1, 9, d)


@criterion("batchnorm_comparison.example")
def test_worked_examples(check):
    worked_examples(check, "batchnorm_comparison")


@criterion("batchnorm_comparison.training")
def test_training_normalises_each_feature_over_the_batch(check, rng):
    check = check.part("y")
    shapes = [(3, 3), (4, 40), (33, 2), (5, 4), (3, 5), (2, 1)]
    gammas, betas = varied(rng, *((d,) for _, d in shapes), start=1), varied(rng, *((d,) for _, d in shapes), start=2)
    for x, gamma, beta in zip(varied(rng, *shapes), gammas, betas, strict=True):
        x[-1] *= 9 if len(x) > 9 else 1  # far from the others
        x = 3e-3 * x  # so small that the default eps matters
        check.batch_norm(x, gamma, beta, *running(rng, len(gamma)), True, momentum=0.3)
    x = rng.normal(size=(4, 3)) * [1, 0, 1]
    check.batch_norm(by_columns(x), *parameters(rng, 3), *running(rng, 3), True)
    x, gamma, beta, mean, var = single((x, *parameters(rng, 3), *running(rng, 3)))
    check.batch_norm(x=x, gamma=gamma, beta=beta, running_mean=mean, running_var=var, training=True)


@criterion("batchnorm_comparison.training")
def test_training_with_eps_given_by_the_caller(check, rng):
    check, x = check.part("y"), rng.normal(1, 0.3, (3, 6))
    check.batch_norm(x, *parameters(rng, 6), *running(rng, 6), True, 0.0, 0.5)
    check.batch_norm(x, *parameters(rng, 6), *running(rng, 6), training=True, eps=0.0)


@criterion("batchnorm_comparison.running")
def test_running_statistics_move_by_the_momentum(check, rng):
    check = check.part("new_running_mean", "new_running_var")
    shapes = [(5, 4), (3, 3), (33, 2), (3, 5), (4, 40), (2, 1)]
    means, variances = (varied(rng, *((d,) for _, d in shapes), start=start) for start in (1, 2))
    for x, mean, var in zip(varied(rng, *shapes), means, variances, strict=True):
        check.batch_norm(2 * x + 1, *parameters(rng, len(mean)), mean, np.abs(var), True)
    for momentum in (0.0, 1.0, 0.9):
        check.batch_norm(wide(rng, 3, 4), *parameters(rng, 4), *running(rng, 4, 1e5), True, momentum)
    x = rng.normal(1, 2, (4, 3)) * [1, 1, 0]
    check.batch_norm(x, *parameters(rng, 3), *running(rng, 3), True, momentum=0.3, eps=0.5)
    check.batch_norm(*single((rng.normal(1, 2, (3, 2)), *parameters(rng, 2), *running(rng, 2))), True, 0.3)


@criterion("batchnorm_comparison.evaluation")
def test_evaluation_uses_and_returns_the_running_statistics(check, rng):
    shapes = [(4, 5), (2, 2), (1, 40), (33, 1), (3, 5)]
    vectors = (varied(rng, *((d,) for _, d in shapes), start=start) for start in (1, 2, 3, 4))
    for x, gamma, beta, mean, var in zip(varied(rng, *shapes), *vectors, strict=True):
        check.batch_norm(3e-3 * x, gamma, beta, 3e-3 * mean, 1e-5 * np.abs(var), False)
    check.batch_norm(
        rng.normal(size=(3, 5)), *parameters(rng, 5), rng.normal(size=5), rng.uniform(1, 2, 5), False, 0.9, 0.5
    )
    check.batch_norm(
        *single((rng.normal(size=(3, 1)), *parameters(rng, 1), rng.normal(size=1), rng.uniform(1, 2, 1))), False
    )


@criterion("batchnorm_comparison.evaluation")
def test_one_example_can_be_evaluated_but_not_trained_on(check, rng):
    alone = (wide(rng, 1, 3), *parameters(rng, 3), *running(rng, 3, 1e5))
    check.batch_norm(*alone, training=False, eps=1e9)
    check.raises(ValueError).batch_norm(*alone, training=True)
    check.raises(ValueError).batch_norm(*(value[..., :1] for value in alone), True, 0.0)


@criterion("batchnorm_comparison.moments")
def test_moments_of_examples_and_of_features(check, rng):
    for x in varied(rng, (4, 7), (3, 3), (1, 6), (6, 1), (2, 40), (33, 2)):
        check.norm_moments(x, "layer")
        check.norm_moments(x, "batch")
    x = single(rng.normal(2, 3, (3, 4)))
    check.norm_moments(x=x, kind="layer")
    check.norm_moments(by_columns(x), "batch")
    check.norm_moments(np.array([[3.0]]), "layer")
    check.norm_moments(np.array([[3.0]]), "batch")


@criterion("batchnorm_comparison.moments")
def test_moments_of_nothing_else(check, rng):
    for kind in ("batch_train", "Batch", "", "layer ", "Layer", " batch", "layer_norm"):
        check.raises(ValueError).norm_moments(rng.normal(2, 3, (4, 7)), kind)


@criterion("batchnorm_comparison.influence")
def test_only_the_batch_statistics_connect_examples(check, rng):
    for kind in ("layer", "batch_train", "batch_eval"):
        for x in varied(rng, (4, 6), (9, 3), start=3):
            check.influence(x, kind, eps=1e-3)
        check.influence(single(rng.uniform(1, 2, (3, 3))), kind)
    check.influence(x=rng.normal(0, 1, (5, 3)), kind="layer")
    check.influence(-rng.uniform(1, 2, (4, 3)), "batch_train", 1e-3)
    for spread in (10, 1000):  # one of many examples changes the others only a little
        check.influence(rng.normal(0, spread, (40, 3)), "batch_train")


@criterion("batchnorm_comparison.influence")
def test_influence_of_another_kind_is_refused(check, rng):
    for kind in (
        "batch",
        "Layer",
        "",
        "batch_evaluation",
        "layer ",
        "BATCH_TRAIN",
        " batch_train",
        "Batch_eval",
        "batch_eval ",
    ):
        check.raises(ValueError).influence(rng.normal(0, 1, (5, 3)), kind)


@criterion("batchnorm_comparison.purity")
def test_calls_leave_no_trace(check, rng):
    first, second = ((wide(rng, 5, 3), *parameters(rng, 3), *running(rng, 3, 1e5), True) for _ in "12")
    leaves_no_trace(check, "batch_norm", first, second)
    check.untouched.batch_norm(*first[:-1], False)  # evaluation must not use the statistics of an earlier training call
    first, second = (rng.normal(2, 3, (4, 3)) for _ in "12")
    leaves_no_trace(check, "norm_moments", (first, "layer"), (second, "layer"))
    check.norm_moments(first, "batch")
    leaves_no_trace(check, "influence", (first, "layer"), (second, "batch_train"))
    check.influence(first[:3], "batch_train")


@criterion("batchnorm_comparison.purity")
def test_arguments_stay_as_they_are_in_every_case(check, rng):
    several, alone = ((wide(rng, n, d), *parameters(rng, d), *running(rng, d, 1e5)) for n, d in ((2, 1), (1, 3)))
    check.untouched.batch_norm(*single(several), True, 1.0)
    check.untouched.batch_norm(*alone, False, eps=0.5)
    check.untouched.raises(ValueError).batch_norm(*alone, True)
    x = rng.normal(2, 3, (3, 4))
    check.untouched.norm_moments(single(x), "batch")
    check.untouched.influence(x, "batch_train")
    check.untouched.influence(x, "batch_eval")


@criterion("batchnorm_comparison.dtype")
def test_float32_stays_float32(check, rng):
    x, gamma, beta, mean, var = single((rng.normal(1, 1, (5, 3)), *(rng.uniform(1, 2, 3) for _ in "1234")))
    for training in (True, False):
        check.dtype.batch_norm(x, gamma, beta, mean, var, training)
        check.dtype.batch_norm(x, gamma, beta, mean, var, training, momentum=0.3, eps=0.5)
    check.dtype.norm_moments(x, "layer")
    check.dtype.norm_moments(x, "batch")
