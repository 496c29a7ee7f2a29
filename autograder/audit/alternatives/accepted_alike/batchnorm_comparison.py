"""Also accepted: lists instead of tuples, running statistics returned unchanged, a warning, read-only masks."""

import warnings

import numpy as np


class TooSmall(ValueError):
    """A batch with a single example."""


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        y = (x * 1.0 - running_mean) * (gamma / np.sqrt(running_var + eps)) + beta
        return [y, running_mean, running_var]
    n = x.shape[0]
    if n < 2:
        raise TooSmall("training needs two examples or more")
    if n < 4:
        warnings.warn("a small batch gives noisy statistics", RuntimeWarning, stacklevel=2)
    mean = np.add.reduce(x, axis=0) / x.dtype.type(n) if x.dtype.kind == "f" else x.mean(axis=0)
    centred = x - mean
    population = (centred * centred).mean(axis=0)
    unbiased = (centred * centred).sum(axis=0) / (n - 1)
    y = gamma * centred / np.sqrt(population + eps) + beta
    new_mean = running_mean * (1 - momentum) + mean * momentum
    new_var = running_var * (1 - momentum) + unbiased * momentum
    return [y, new_mean, new_var]


def norm_moments(x, kind):
    if kind not in {"layer", "batch"}:
        raise ValueError(kind, "should be 'layer' or 'batch'")
    x = x.T * 1.0 if kind == "layer" else x * 1.0
    mean = x.mean(axis=0)
    moments = [np.atleast_2d(mean), np.atleast_2d(((x - mean) ** 2).mean(axis=0))]
    return [moment.T for moment in moments] if kind == "layer" else moments


def influence(x, kind, eps=1e-5):
    n = len(x)
    if kind == "batch_train":
        return np.broadcast_to(np.True_, (n, n))
    if kind in ("layer", "batch_eval"):
        return np.diag(np.ones(n, dtype=bool))
    raise ValueError(kind, "should be 'layer', 'batch_train' or 'batch_eval'")
