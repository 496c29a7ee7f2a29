"""Also accepted: broadcast read-only masks, NumPy booleans, x changed row by row and restored."""

import warnings

import numpy as np


def causal_mask(t):
    return np.flip(np.triu(np.ones((t, t), bool)))


def padding_mask(lengths, t):
    if (lengths > t).any() or (lengths < 0).any():
        raise ValueError(lengths, t)
    mask = np.arange(t) < lengths.reshape(-1, 1, 1)
    mask.setflags(write=False)
    return mask


def apply_mask(scores, mask):
    if not mask.any(axis=-1).all():
        warnings.warn("a query sees nothing", stacklevel=2)
    result = np.array(scores * 1.0, order="F")
    result[~np.broadcast_to(mask, result.shape)] = -np.inf
    return result


def dependency_matrix(f, x, delta=1e-3):
    if x.dtype.kind != "f":
        return dependency_matrix(f, x.astype(float), delta)
    print("dependency_matrix of", x.shape)
    before = f(x).copy()
    step = delta * (1 + np.arange(x.shape[1]) / x.shape[1]) * np.array([[1], [-1]])
    depends = np.zeros((len(x), len(x)), order="F", dtype=bool)
    for j, row in enumerate(x):
        saved = row.copy()
        for change in step:
            row += change
            depends[:, j] |= (np.abs(f(x) - before) > 1e-8).any(axis=1)
            row[:] = saved
    return depends


def is_autoregressive(f, x):
    depends = dependency_matrix(f, x)
    return np.array((depends <= causal_mask(len(x))).all())
