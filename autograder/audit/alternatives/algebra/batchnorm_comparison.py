"""Other algebra: variances from pairwise differences, influence from products of boolean matrices."""

import numpy as np


def in_floats(x):
    return x.astype(np.result_type(x, 1.0))


def pairwise_variance(x):
    """Sum of (a - b)**2 over all ordered pairs, divided by 2 n**2, for each column."""
    return np.square(x[:, None] - x[None, :]).sum((0, 1)) / (2 * len(x) ** 2)


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    x = in_floats(x)
    n = len(x)
    if training and n == 1:
        raise ValueError("one example has no unbiased variance")
    mean, var = running_mean, running_var
    if training:
        mean = np.full(n, 1 / n, x.dtype) @ x
        var = pairwise_variance(x)
        running_mean = running_mean - momentum * (running_mean - mean)
        running_var = running_var - momentum * (running_var - var - var / (n - 1))
    slope = gamma / np.sqrt(var + eps)
    return (x - mean) @ np.diag(slope) + beta, running_mean, running_var


def norm_moments(x, kind):
    x = in_floats(x)
    n, d = x.shape
    if kind == "batch":
        return np.full((1, n), 1 / n, x.dtype) @ x, pairwise_variance(x).reshape(1, d)
    if kind == "layer":
        return x @ np.full((d, 1), 1 / d, x.dtype), pairwise_variance(x.T).reshape(n, 1)
    raise ValueError("the kind is neither layer nor batch")


def influence(x, kind, eps=1e-5):
    n = len(x)
    itself, batch = np.eye(n, dtype=bool), np.ones((1, n), dtype=bool)
    statistics_of = {"layer": itself, "batch_train": batch, "batch_eval": np.zeros((1, n), dtype=bool)}
    if kind not in statistics_of:
        raise ValueError("the kind is none of layer, batch_train, batch_eval")
    depends_on = statistics_of[kind]
    used_by = np.ones((n, 1), dtype=bool) if len(depends_on) == 1 else itself
    return itself | used_by @ depends_on
