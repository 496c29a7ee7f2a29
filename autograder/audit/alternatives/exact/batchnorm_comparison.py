"""Exact: extended precision (np.longdouble) for numbers, reasoning instead of experiments for influence."""

import numpy as np


def extended(x):
    return x.astype(np.longdouble)


def rounded(value, like):
    return value.astype(like.dtype if like.dtype.kind == "f" else np.float64)


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    mean, var = extended(running_mean), extended(running_var)
    new_mean, new_var = mean, var
    if training:
        n = len(x)
        if n <= 1:
            raise ValueError("the unbiased variance of one example is undefined")
        mean = extended(x).sum(axis=0) / n
        squares = ((extended(x) - mean) ** 2).sum(axis=0)
        var = squares / n
        new_mean = (1 - np.longdouble(momentum)) * new_mean + momentum * mean
        new_var = (1 - np.longdouble(momentum)) * new_var + momentum * squares / (n - 1)
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    return rounded(y, x), rounded(new_mean, running_mean), rounded(new_var, running_var)


def norm_moments(x, kind):
    if kind == "layer":
        axis = 1
    elif kind == "batch":
        axis = 0
    else:
        raise ValueError(f"moments of a {kind!r} are unknown")
    mean = extended(x).mean(axis=axis, keepdims=True)
    var = np.square(extended(x) - mean).mean(axis=axis, keepdims=True)
    return rounded(mean, x), rounded(var, x)


def influence(x, kind, eps=1e-5):
    """Layer norm and frozen statistics treat each example alone; batch statistics connect all of them."""
    n = x.shape[0]
    if kind == "batch_train":
        return np.full((n, n), True)
    if kind == "layer" or kind == "batch_eval":
        return np.identity(n, dtype=bool)
    raise ValueError(f"influence under {kind!r} is unknown")
