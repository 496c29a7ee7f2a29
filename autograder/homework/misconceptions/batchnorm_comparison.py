"""Known mistakes in batchnorm_comparison.py."""

import numpy as np

from autograder.homework.catalogue import misconception
from autograder.homework.reference import norm_moments

# batch_norm


@misconception(
    "In training every example is normalised over its own features, as in layer norm; batch norm "
    "normalises every feature over the batch, axis 0.",
    read="Ioffe and Szegedy 2015, algorithm 1",
)
def batch_norm__layer_statistics(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    y = gamma * (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "In training x is normalised with the unbiased variance, which divides by n - 1; that one is for the "
    "running variance only, y takes the population variance.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__unbiased_in_training(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean, var = x.mean(axis=0), x.var(axis=0, ddof=1)
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    return y, (1 - momentum) * running_mean + momentum * mean, (1 - momentum) * running_var + momentum * var


@misconception(
    "The population variance enters the running variance; the unbiased one does, which divides by n - 1.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__population_running_var(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean, var = x.mean(axis=0), x.var(axis=0)
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    return y, (1 - momentum) * running_mean + momentum * mean, (1 - momentum) * running_var + momentum * var


@misconception(
    "The new running statistics keep momentum of the old and take 1 - momentum of the batch; it is the "
    "other way round.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__momentum_swapped(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean, unbiased = x.mean(axis=0), x.var(axis=0, ddof=1)
    y = gamma * (x - mean) / np.sqrt(x.var(axis=0) + eps) + beta
    return (
        y,
        momentum * running_mean + (1 - momentum) * mean,
        momentum * running_var + (1 - momentum) * unbiased,
    )


@misconception(
    "The default of momentum is 0.9; here momentum is the share of the batch, and its default is 0.1.",
    read="the signature of batch_norm",
)
def batch_norm__momentum_default(x, gamma, beta, running_mean, running_var, training, momentum=0.9, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean, unbiased = x.mean(axis=0), x.var(axis=0, ddof=1)
    y = gamma * (x - mean) / np.sqrt(x.var(axis=0) + eps) + beta
    return y, (1 - momentum) * running_mean + momentum * mean, (1 - momentum) * running_var + momentum * unbiased


@misconception(
    "A momentum of 0.1 is used whatever the caller passes; the argument momentum is the share of the batch.",
    read="the signature of batch_norm",
)
def batch_norm__momentum_hard_coded(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    y = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    return y, 0.9 * running_mean + 0.1 * x.mean(axis=0), 0.9 * running_var + 0.1 * x.var(axis=0, ddof=1)


@misconception(
    "The running statistics come back from training as they were; each training call moves them towards the batch.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__running_not_updated(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if training and len(x) < 2:
        raise ValueError("training needs two examples")
    mean, var = (x.mean(axis=0), x.var(axis=0)) if training else (running_mean, running_var)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, running_mean, running_var


@misconception(
    "The statistics of the batch are returned in place of the running ones; they are mixed with the old by momentum.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__batch_statistics_returned(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    return gamma * (x - mean) / np.sqrt(x.var(axis=0) + eps) + beta, mean, x.var(axis=0, ddof=1)


@misconception(
    "In training x is normalised with the new running statistics; training normalises with those of the batch.",
    read="Ioffe and Szegedy 2015, algorithm 2",
)
def batch_norm__training_uses_running(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if training:
        if len(x) < 2:
            raise ValueError("training needs two examples")
        running_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
        running_var = (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)
    return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var


@misconception(
    "In evaluation x is normalised with the statistics of the batch; evaluation uses the running ones, so "
    "that an example's result does not depend on its neighbours.",
    read="Ioffe and Szegedy 2015, section 3.1",
)
def batch_norm__evaluation_uses_batch(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if training and len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    y = gamma * (x - mean) / np.sqrt(x.var(axis=0) + eps) + beta
    if not training:
        return y, running_mean, running_var
    new_mean = (1 - momentum) * running_mean + momentum * mean
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "Evaluation moves the running statistics towards the batch; it returns them unchanged.",
    read="the part on evaluation in the docstring of batch_norm",
)
def batch_norm__evaluation_updates(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if training and len(x) < 2:
        raise ValueError("training needs two examples")
    mean, var = (x.mean(axis=0), x.var(axis=0)) if training else (running_mean, running_var)
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0) * len(x) / max(len(x) - 1, 1)


@misconception(
    "Evaluation multiplies the running variance by n / (n - 1); it is unbiased already and is used as it is.",
    read="the part on evaluation in the docstring of batch_norm",
)
def batch_norm__unbiased_in_evaluation(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    n = len(x)
    if not training:
        var = running_var * n / max(n - 1, 1)
        return gamma * (x - running_mean) / np.sqrt(var + eps) + beta, running_mean, running_var
    if n < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    y = gamma * (x - mean) / np.sqrt(x.var(axis=0) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * mean
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "The standard deviation of the batch enters the running variance; its variance does.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__running_deviation(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    y = gamma * (x - mean) / np.sqrt(x.var(axis=0) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * mean
    return y, new_mean, (1 - momentum) * running_var + momentum * x.std(axis=0, ddof=1)


@misconception(
    "eps is added to the standard deviation; it belongs to the variance, under the root.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__eps_outside_root(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / (np.sqrt(running_var) + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    y = gamma * (x - mean) / (x.std(axis=0) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * mean
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "eps is not used; it is added to the variance, so that a feature that does not vary does not divide by zero.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__eps_missing(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    y = gamma * (x - mean) / x.std(axis=0) + beta
    new_mean = (1 - momentum) * running_mean + momentum * mean
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "The result is the normalised x alone; gamma scales it and beta shifts it.",
    read="the formula in the docstring of batch_norm",
)
def batch_norm__no_affine(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return (x - running_mean) / np.sqrt(running_var + eps), running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    mean = x.mean(axis=0)
    new_mean = (1 - momentum) * running_mean + momentum * mean
    new_var = (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)
    return (x - mean) / np.sqrt(x.var(axis=0) + eps), new_mean, new_var


@misconception(
    "Training accepts a single example, whose unbiased variance is 0 / 0; it raises ValueError when n < 2.",
    read="the Raises part of the docstring of batch_norm",
)
def batch_norm__no_value_error(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    n, mean, var = len(x), x.mean(axis=0), x.var(axis=0)
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    new_var = (1 - momentum) * running_var + momentum * var * n / max(n - 1, 1)
    return y, (1 - momentum) * running_mean + momentum * mean, new_var


@misconception(
    "A single example is refused by an assert, which raises AssertionError; raise ValueError.",
    read="the Raises part of the docstring of batch_norm",
)
def batch_norm__assertion(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    assert len(x) > 1, "training needs two examples"
    y = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "A single example is refused in evaluation too; only training needs two.",
    read="the Raises part of the docstring of batch_norm",
)
def batch_norm__refuses_evaluation(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if len(x) < 2:
        raise ValueError("two examples are needed")
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    y = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)


@misconception(
    "The caller's running statistics are changed in place, as *= and += do; the new ones are returned as new arrays.",
    read="NumPy's page on copies and views",
)
def batch_norm__in_place(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    mean, var = running_mean, running_var
    if training:
        if len(x) < 2:
            raise ValueError("training needs two examples")
        mean, var = x.mean(axis=0), x.var(axis=0)
        running_mean *= 1 - momentum
        running_mean += momentum * mean
        running_var *= 1 - momentum
        running_var += momentum * x.var(axis=0, ddof=1)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, running_mean, running_var


@misconception(
    "The function remembers the running statistics of the last training call; they travel in the "
    "arguments and the result.",
    read="the Python FAQ on default values shared between calls",
)
def batch_norm__remembers(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5, kept={}):
    if not training:
        running_mean, running_var = kept.get(x.shape[1], (running_mean, running_var))
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    y = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    new_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
    kept[x.shape[1]] = new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0, ddof=1)
    return y, *kept[x.shape[1]]


@misconception(
    "The new running statistics are computed with np.float64 numbers, which makes them float64; float32 "
    "in means float32 out.",
    read="NumPy's page on data type promotion, NEP 50",
)
def batch_norm__float64_momentum(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("training needs two examples")
    y = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    old, new = np.array([1 - momentum, momentum])
    return y, old * running_mean + new * x.mean(axis=0), old * running_var + new * x.var(axis=0, ddof=1)


# norm_moments


@misconception(
    "The kinds have changed places; layer runs over the features of each example, batch over the examples "
    "for each feature.",
    read="the docstring of norm_moments",
)
def norm_moments__kinds_swapped(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 0 if kind == "layer" else 1
    return x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)


@misconception(
    "The axis that is averaged is dropped; keepdims=True keeps it, so that the moments line up with x.",
    read="numpy.mean, argument keepdims",
)
def norm_moments__no_keepdims(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis), x.var(axis=axis)


@misconception(
    "The moments are columns for both kinds; those of the batch are one row, (1, d).",
    read="the shapes in the docstring of norm_moments",
)
def norm_moments__always_columns(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis)[:, None], x.var(axis=axis)[:, None]


@misconception(
    "The variance is the unbiased one; both norms normalise with the population variance.",
    read="numpy.var, argument ddof",
)
def norm_moments__sample_variance(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis, keepdims=True), x.var(axis=axis, ddof=1, keepdims=True)


@misconception(
    "The second result is the standard deviation; it is the variance, its square.",
    read="the docstring of norm_moments",
)
def norm_moments__standard_deviation(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis, keepdims=True), x.std(axis=axis, keepdims=True)


@misconception(
    "The second result is the mean of the squares; the variance is the mean of the squared distances from the mean.",
    read="numpy.var",
)
def norm_moments__mean_square(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis, keepdims=True), np.mean(x**2, axis=axis, keepdims=True)


@misconception(
    "The variance is returned first; the order is mean, variance.",
    read="the Returns part of the docstring of norm_moments",
)
def norm_moments__variance_first(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.var(axis=axis, keepdims=True), x.mean(axis=axis, keepdims=True)


@misconception(
    "Every kind but layer is taken for batch; another kind raises ValueError.",
    read="the Raises part of the docstring of norm_moments",
)
def norm_moments__no_value_error(x, kind):
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)


@misconception(
    "Every kind that begins with batch is taken for batch; batch_train, a kind of influence, raises ValueError here.",
    read="the Raises part of the docstring of norm_moments",
)
def norm_moments__any_batch(x, kind):
    if kind != "layer" and not kind.startswith("batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    return x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)


@misconception(
    "Another kind ends in the KeyError of a dictionary; raise ValueError.",
    read="the Raises part of the docstring of norm_moments",
)
def norm_moments__key_error(x, kind):
    axis = {"layer": 1, "batch": 0}[kind]
    return x.mean(axis=axis, keepdims=True), x.var(axis=axis, keepdims=True)


@misconception(
    "The mean is subtracted from the caller's own array, as x -= mean does; x - mean makes a new one.",
    read="NumPy's page on copies and views",
)
def norm_moments__in_place(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    axis = 1 if kind == "layer" else 0
    mean = x.mean(axis=axis, keepdims=True)
    x -= mean
    return mean, np.mean(x**2, axis=axis, keepdims=True)


@misconception(
    "The moments are collected in a list of Python floats, which become float64; float32 in means float32 out.",
    read="numpy.array, argument dtype",
)
def norm_moments__float64_result(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(kind)
    rows = x if kind == "layer" else x.T
    mean = np.array([[float(row.mean())] for row in rows])
    var = np.array([[float(row.var())] for row in rows])
    return (mean, var) if kind == "layer" else (mean.T, var.T)


# influence


@misconception(
    "In batch_train every example depends on itself only; mean and variance come from the whole batch, so "
    "every example changes every other.",
    read="Ioffe and Szegedy 2015, section 3.1",
)
def influence__batch_is_independent(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    return np.eye(len(x), dtype=bool)


@misconception(
    "In batch_eval every example changes every other, as in training; running statistics are constants there.",
    read="the docstring of influence",
)
def influence__evaluation_mixes(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    return np.eye(n, dtype=bool) if kind == "layer" else np.ones((n, n), dtype=bool)


@misconception(
    "With layer every example changes every other; layer norm takes its statistics from one example alone.",
    read="Ba, Kiros and Hinton 2016, section 3",
)
def influence__layer_mixes(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    return np.eye(n, dtype=bool) if kind == "batch_eval" else np.ones((n, n), dtype=bool)


@misconception(
    "In batch_eval nothing depends on anything; the statistics are constants, but every example still changes itself.",
    read="the docstring of influence",
)
def influence__evaluation_constant(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    if kind == "batch_eval":
        return np.zeros((n, n), dtype=bool)
    return np.eye(n, dtype=bool) if kind == "layer" else np.ones((n, n), dtype=bool)


@misconception(
    "The influence of an example on itself is left out; [i, i] is True, since its own values are what is normalised.",
    read="the docstring of influence",
)
def influence__without_itself(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    return ~np.eye(n, dtype=bool) if kind == "batch_train" else np.zeros((n, n), dtype=bool)


@misconception(
    "Only earlier examples are taken to have an influence, as under a causal mask; a batch has no order.",
    read="the docstring of influence",
)
def influence__causal(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    return np.tril(np.ones((n, n), dtype=bool)) if kind == "batch_train" else np.eye(n, dtype=bool)


@misconception(
    "The table is one of features, (d, d); influence is asked of examples, (n, n).",
    read="the shapes in the docstring of influence",
)
def influence__features(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    d = x.shape[1]
    return np.ones((d, d), dtype=bool) if kind == "batch_train" else np.eye(d, dtype=bool)


@misconception(
    "An example is changed by adding the same number to all its features, which layer norm takes away "
    "again; change one feature or each one differently.",
    read="the formula of layer norm, which subtracts the mean of the row",
)
def influence__uniform_shift(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)

    def normalised(x, moments_of):
        mean, var = norm_moments(moments_of, "layer" if kind == "layer" else "batch")
        return (x - mean) / np.sqrt(var + eps)

    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] += 1.0
        moved = normalised(changed, x if kind == "batch_eval" else changed) - normalised(x, x)
        result[:, j] = np.abs(moved).max(axis=1) > 1e-8
    return result


@misconception(
    "An example is changed by stretching it, which leaves zeros as they are and which layer norm takes "
    "away again; change one feature or each one differently.",
    read="the docstring of influence",
)
def influence__stretched(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)

    def normalised(x, moments_of):
        mean, var = norm_moments(moments_of, "layer" if kind == "layer" else "batch")
        return (x - mean) / np.sqrt(var + eps)

    result = np.zeros((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        changed = x.copy()
        changed[j] *= 2
        moved = normalised(changed, x if kind == "batch_eval" else changed) - normalised(x, x)
        result[:, j] = np.abs(moved).max(axis=1) > 1e-8
    return result


@misconception(
    "The table holds the numbers 0 and 1; it holds True and False, the dtype bool.",
    read="numpy.ones and numpy.eye, argument dtype",
)
def influence__numbers(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    return np.ones((n, n)) if kind == "batch_train" else np.eye(n)


@misconception(
    "Every other kind is taken for batch_eval; another kind raises ValueError.",
    read="the Raises part of the docstring of influence",
)
def influence__no_value_error(x, kind, eps=1e-5):
    n = len(x)
    return np.ones((n, n), dtype=bool) if kind == "batch_train" else np.eye(n, dtype=bool)


@misconception(
    "Another kind ends in the KeyError of a dictionary; raise ValueError.",
    read="the Raises part of the docstring of influence",
)
def influence__key_error(x, kind, eps=1e-5):
    alone, all_of_them = np.eye(len(x), dtype=bool), np.ones((len(x), len(x)), dtype=bool)
    return {"layer": alone, "batch_train": all_of_them, "batch_eval": alone}[kind]


@misconception(
    "The examples are changed in the caller's own array and stay changed; work on a copy, or put the old values back.",
    read="numpy.copy",
)
def influence__in_place(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(kind)
    n = len(x)
    result = np.zeros((n, n), dtype=bool)
    for j in range(n):
        before = x.copy()
        x[j, 0] += 1.0
        result[j, j] = np.any(x != before)
    return np.ones((n, n), dtype=bool) if kind == "batch_train" else result


TABLE = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 1.0], [3.0, 0.0, 5.0]])
FEATURES = (np.array([1.0, 2.0]), np.array([0.5, -1.0]), np.array([0.0, 1.0]), np.array([1.0, 4.0]))
SINGLE = np.array([[1.0, 3.0], [2.0, 0.5]], np.float32)

EXAMPLES = {
    "batch_norm": [
        ((np.array([[1.0, 3.0], [2.0, 0.0]]), *FEATURES, True), {}),
        ((np.array([[1.0, 3.0], [2.0, 0.0]]), *FEATURES, False), {}),
        ((np.array([[1.0, 2.0], [0.0, 4.0], [3.0, 0.0]]), *FEATURES, True), {"momentum": 0.25, "eps": 0.5}),
        ((np.array([[1.0, 3.0]]), *FEATURES, False), {"eps": 0.5}),
        ((np.array([[1.0, 3.0]]), *FEATURES, True), {}),
        ((SINGLE, *SINGLE[[0, 1, 1, 1]], True), {}),
    ],
    "norm_moments": [
        ((np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]]), "layer"), {}),
        ((np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]]), "batch"), {}),
        ((np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]]), "batch_train"), {}),
        ((np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]]), "group"), {}),
        ((SINGLE, "layer"), {}),
    ],
    "influence": [
        ((TABLE, "layer"), {}),
        ((TABLE, "batch_train"), {}),
        ((TABLE, "batch_eval"), {}),
        ((np.vstack([TABLE, np.zeros(3)]), "layer"), {}),
        ((TABLE, "batch"), {}),
    ],
}
