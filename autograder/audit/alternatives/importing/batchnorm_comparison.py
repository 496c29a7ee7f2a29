"""Importing: batch norm is the layer norm of the transposed batch, and influence uses the same function."""

import numpy as np
import utils

import layernorm
from layernorm import EPS


def transposed_norm(x, eps):
    n = len(x)
    return layernorm.layer_norm(x.T, np.ones(n, x.dtype), np.zeros(n, x.dtype), eps).T


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=EPS):
    x = utils.floats(x)
    if training:
        n = x.shape[0]
        if n < 2:
            raise ValueError(f"n is {n}, training needs 2 or more")
        new_mean = running_mean * (1 - momentum) + x.mean(axis=0) * momentum
        new_var = running_var * (1 - momentum) + x.var(axis=0, ddof=1) * momentum
        return gamma * transposed_norm(x, eps) + beta, new_mean, new_var
    return gamma * ((x - running_mean) * (running_var + eps) ** -0.5) + beta, running_mean, running_var


def norm_moments(x, kind):
    rows = utils.choose(kind, {"layer": x, "batch": x.T})
    mean, inverse = layernorm.statistics(rows, eps=0.25)
    moments = mean, inverse**-2 - 0.25
    return moments if kind == "layer" else tuple(moment.T for moment in moments)


def influence(x, kind, eps=EPS):
    x = utils.floats(x).astype(float)
    ones, zeros = np.ones(x.shape[1]), np.zeros(x.shape[1])
    options = {
        "layer": lambda y: layernorm.layer_norm(y, ones, zeros, eps),
        "batch_train": lambda y: transposed_norm(y, eps),
        "batch_eval": lambda y: batch_norm(y, ones, zeros, zeros, ones, False, eps=eps)[0],
    }
    norm = utils.choose(kind, options)
    before = norm(x)
    result = np.empty((len(x), len(x)), dtype=bool)
    for j in range(len(x)):
        after = x.copy()
        after[j] += np.geomspace(1, 8, len(ones)) * (1 + np.abs(x).max())
        result[:, j] = np.any(np.abs(norm(after) - before) > 1e-7, axis=1)
    return result
