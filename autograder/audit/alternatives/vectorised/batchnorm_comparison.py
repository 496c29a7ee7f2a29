"""Compact broadcasting: `influence` normalises all n changed batches at once, as one (n, n, d) array."""

import numpy as np

import layernorm as ln


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    x = x * 1.0
    mean, var = running_mean, running_var
    if training:
        n = len(x)
        if n < 2:
            raise ValueError(f"a batch of {n} has no variance")
        mean, var = x.mean(0), x.var(0)
        running_mean = running_mean + momentum * (mean - running_mean)
        running_var = running_var + momentum * (var * (n / (n - 1)) - running_var)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, running_mean, running_var


def norm_moments(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError(f"kind is 'layer' or 'batch', not {kind!r}")
    axis = int(kind == "layer")
    return x.mean(axis, keepdims=True), x.var(axis, keepdims=True)


def influence(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError(f"kind is 'layer', 'batch_train' or 'batch_eval', not {kind!r}")
    x = x.astype(float)
    n, d = x.shape
    change = (1 + x.std()) * np.linspace(1, 2, d)
    batches = np.concatenate([x[None], x + np.eye(n)[:, :, None] * change])
    if kind == "layer":
        y = ln.layer_norm(batches, np.ones(d), np.zeros(d), eps)
    else:
        source = batches if kind == "batch_train" else x[None]
        y = (batches - source.mean(1, keepdims=True)) / np.sqrt(source.var(1, keepdims=True) + eps)
    return (np.abs(y[1:] - y[0]) > 1e-9).any(-1).T
