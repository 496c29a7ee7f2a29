"""Einstein sums: variances by contraction, influence from the Jacobian of the normalisation, d y[i, k] / d x[j, l]."""

import numpy as np


def as_float(x):
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    x = as_float(x)
    n = x.shape[0]
    if not training:
        scale = gamma / np.sqrt(running_var + eps)
        return np.einsum("nd,d->nd", x - running_mean, scale) + beta, running_mean, running_var
    if n < 2:
        raise ValueError("training needs at least two examples")
    mean = np.einsum("nd->d", x) / n
    centred = x - mean
    squares = np.einsum("nd,nd->d", centred, centred)
    y = np.einsum("nd,d->nd", centred, gamma / np.sqrt(squares / n + eps)) + beta
    keep = 1 - momentum
    return y, keep * running_mean + momentum * mean, keep * running_var + momentum * squares / (n - 1)


def norm_moments(x, kind):
    x = as_float(x)
    if kind == "layer":
        means, squares, column = "nd->n", "nd,nd->n", (slice(None), None)
    elif kind == "batch":
        means, squares, column = "nd->d", "nd,nd->d", (None, slice(None))
    else:
        raise ValueError(f"unknown kind {kind!r}")
    mean = np.einsum(means, x)[column]
    mean = mean / (x.size // mean.size)
    centred = x - mean
    return mean, np.einsum(squares, centred, centred)[column] / (x.size // mean.size)


def influence(x, kind, eps=1e-5):
    n, d = x.shape
    same_row, same_feature = np.eye(n), np.eye(d)
    if kind == "layer":
        inner = np.einsum("ij,kl->ijkl", same_row, same_feature - 1 / d)
    elif kind == "batch_train":
        inner = np.einsum("ij,kl->ijkl", same_row - 1 / n, same_feature)
    elif kind == "batch_eval":
        inner = np.einsum("ij,kl->ijkl", same_row, same_feature)
    else:
        raise ValueError(f"unknown kind {kind!r}")
    if kind != "batch_eval":
        mean, var = norm_moments(x, "layer" if kind == "layer" else "batch")
        x_hat = (x - mean) / np.sqrt(var + eps)
        same = ("ij", same_row / d) if kind == "layer" else ("kl", same_feature / n)
        inner = inner - np.einsum(f"ik,jl,{same[0]}->ijkl", x_hat, x_hat, same[1])
    return np.abs(inner).max(axis=(2, 3)) > 1e-12
