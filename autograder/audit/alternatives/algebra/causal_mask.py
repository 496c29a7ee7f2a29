"""Other algebra: masks from np.tri and running sums, dependencies from one-sided numerical Jacobians."""

import numpy as np


def causal_mask(t):
    return np.tri(t, dtype=bool)


def padding_mask(lengths, t):
    if np.array_equal(np.clip(lengths, 0, t), lengths):
        ends = np.eye(t + 1, dtype=int)[lengths.astype(int)]
        return (np.cumsum(ends, axis=1) == 0)[:, np.newaxis, :t]
    raise ValueError("lengths must lie in 0, ..., t")


def apply_mask(scores, mask):
    dtype = np.result_type(scores, 1.0)
    with np.errstate(divide="ignore"):
        return np.add(scores, np.log(mask.astype(dtype)), dtype=dtype)


def dependency_matrix(f, x, delta=1e-3):
    x = x.astype(np.result_type(x, 1.0))
    t, d = x.shape
    base = np.array(f(x))
    directions = delta * np.eye(t * d, dtype=x.dtype).reshape(t * d, t, d)
    largest = np.zeros((t, t))
    for step in (directions, -directions):
        jacobian = np.array([f(x + change) for change in step]).reshape(t, d, t, -1) - base
        largest = np.maximum(largest, np.abs(jacobian).max(axis=(1, 3)).T)
    return largest > 1e-8


def is_autoregressive(f, x):
    depends = dependency_matrix(f, x)
    return bool(np.all(depends <= np.tri(len(x), dtype=bool)))
