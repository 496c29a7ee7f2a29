"""Less common NumPy: ufuncs with out, np.apply_over_axes, and NaN as a tracer of influence."""

import numpy as np


def floats(x):
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    x = floats(x)
    mean, var = running_mean, running_var
    if training:
        n, _ = x.shape
        if not n > 1:
            raise ValueError("n < 2")
        mean = np.nanmean(x, axis=0)
        var = np.nanvar(x, axis=0)
        running_mean = np.tensordot([1 - momentum, momentum], [running_mean, mean], 1).astype(x.dtype)
        running_var = np.tensordot([1 - momentum, momentum * n / (n - 1)], [running_var, var], 1).astype(x.dtype)
    y = np.subtract(x, mean)
    np.divide(y, np.sqrt(var + eps), out=y)
    np.multiply(y, gamma, out=y)
    np.add(y, beta, out=y)
    return y, running_mean, running_var


def norm_moments(x, kind):
    if not np.isin(kind, ["layer", "batch"]):
        raise ValueError(f"kind: {kind}")
    axis = ["batch", "layer"].index(kind)
    mean = np.apply_over_axes(np.mean, x, axis)
    return mean, np.apply_over_axes(np.mean, np.square(x - mean), axis)


def influence(x, kind, eps=1e-5):
    x = floats(x)
    n = len(x)
    dyed = np.where(np.eye(n, dtype=bool)[:, :, np.newaxis], np.nan, x)
    if kind == "layer":
        shift, spread = dyed.mean(axis=2, keepdims=True), dyed.var(axis=2, keepdims=True)
    elif kind == "batch_train":
        shift, spread = dyed.mean(axis=1, keepdims=True), dyed.var(axis=1, keepdims=True)
    elif kind == "batch_eval":
        shift, spread = x.mean(axis=0), x.var(axis=0)
    else:
        raise ValueError(f"kind: {kind}")
    return np.isnan((dyed - shift) / np.sqrt(spread + eps)).any(axis=2).T
