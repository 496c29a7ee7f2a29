"""Self-contained: one normalisation over a chosen axis serves all three functions; influence by experiment."""

from __future__ import annotations

import numpy as np

AXIS = {"layer": 1, "batch": 0, "batch_train": 0}


def _moments(x, axis):
    mean = np.sum(x, axis=axis, keepdims=True) / x.shape[axis]
    return mean, np.sum((x - mean) ** 2, axis=axis, keepdims=True) / x.shape[axis]


def _normalise(x, moments, eps):
    mean, var = moments
    return (x - mean) / np.sqrt(var + eps)


def _known(kind, kinds):
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"{kind!r} should be one of {kinds}")


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    x = x * 1.0
    if not training:
        return _normalise(x, (running_mean, running_var), eps) * gamma + beta, running_mean, running_var
    n = len(x)
    if n == 1:
        raise ValueError("the variance of a single example is zero, its unbiased variance undefined")
    mean, var = _moments(x, 0)
    new_mean = (1 - momentum) * running_mean + momentum * mean[0]
    new_var = (1 - momentum) * running_var + momentum * var[0] / (1 - 1 / n)
    return _normalise(x, (mean, var), eps) * gamma + beta, new_mean, new_var


def norm_moments(x, kind):
    _known(kind, ("layer", "batch"))
    return _moments(x, AXIS[kind])


def influence(x, kind, eps=1e-5):
    _known(kind, ("layer", "batch_train", "batch_eval"))
    x = x * 1.0
    n, d = x.shape
    constants = _moments(x, 0)

    def forward(batch):
        return _normalise(batch, _moments(batch, AXIS[kind]) if kind in AXIS else constants, eps)

    influenced = np.zeros((n, n), dtype=bool)
    for j, k in np.ndindex(n, d):
        bumped = x.copy()
        bumped[j, k] += 0.5 + np.ptp(x)
        influenced[:, j] |= np.max(np.abs(forward(bumped) - forward(x)), axis=1) > 1e-6
    return influenced
