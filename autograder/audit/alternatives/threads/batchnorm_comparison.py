"""Threads: one future for the mean and one for the variance; each example is changed in its own thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from layernorm import layer_norm


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    x = x * 1.0
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    if len(x) < 2:
        raise ValueError("two examples are needed for an unbiased variance")
    with ThreadPoolExecutor() as pool:
        mean, var, unbiased = pool.submit(x.mean, 0), pool.submit(x.var, 0), pool.submit(x.var, 0, ddof=1)
    new_mean = (1 - momentum) * running_mean + momentum * mean.result()
    new_var = (1 - momentum) * running_var + momentum * unbiased.result()
    return gamma * (x - mean.result()) / np.sqrt(var.result() + eps) + beta, new_mean, new_var


def norm_moments(x, kind):
    axes = {"layer": 1, "batch": 0}
    if kind not in axes:
        raise ValueError(f"{kind!r} has no axis")
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(lambda moment: moment(axis=axes[kind], keepdims=True), (x.mean, x.var)))


def influence(x, kind, eps=1e-5):
    x = x.astype(float)
    n, d = x.shape
    normalise = {
        "layer": lambda batch: layer_norm(batch, np.ones(d), np.zeros(d), eps),
        "batch_train": lambda batch: (batch - batch.mean(0)) / np.sqrt(batch.var(0) + eps),
        "batch_eval": lambda batch: (batch - x.mean(0)) / np.sqrt(x.var(0) + eps),
    }.get(kind)
    if normalise is None:
        raise ValueError(f"{kind!r} is not a normalisation")
    before = normalise(x)

    def column(j):
        batch = x.copy()
        batch[j] = batch[j, ::-1] * 2 + np.arange(1, d + 1)
        return (abs(normalise(batch) - before) > 1e-9).any(axis=1)

    with ThreadPoolExecutor(max_workers=3) as pool:
        return np.column_stack(list(pool.map(column, range(n))))
