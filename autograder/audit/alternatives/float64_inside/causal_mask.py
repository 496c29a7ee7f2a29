"""Float64 inside: f is always called with float64, even if x is float32 or integer."""

import numpy as np


def causal_mask(t):
    return np.tril(np.ones((t, t))).astype(bool)


def padding_mask(lengths, t):
    lengths = np.asarray(lengths, dtype=np.float64)
    if not np.all((lengths >= 0) & (lengths <= t)):
        raise ValueError("a sequence is shorter than nothing or longer than t")
    return np.less.outer(np.arange(t, dtype=np.float64), lengths).T[:, np.newaxis, :]


def apply_mask(scores, mask):
    dtype = np.float32 if scores.dtype == np.float32 else np.float64
    hidden = np.where(mask, 0.0, -np.inf)
    return (scores.astype(np.float64) + hidden).astype(dtype)


def dependency_matrix(f, x, delta=1e-3):
    x = x.astype(np.float64)
    t, d = x.shape
    base = np.array(f(x.copy()), dtype=np.float64)
    rng = np.random.default_rng(2024)
    depends = np.zeros((t, t), dtype=bool)
    for _ in range(6):
        changes = delta * rng.uniform(0.5, 1.5, size=(t, d)) * rng.choice([-1.0, 1.0], size=(t, d))
        for j in range(t):
            changed = x.copy()
            changed[j] += changes[j]
            difference = np.asarray(f(changed), dtype=np.float64) - base
            depends[:, j] |= np.max(np.abs(difference), axis=1) > 1e-8
    return depends


def is_autoregressive(f, x):
    depends = dependency_matrix(f, x)
    return np.array_equal(depends, np.tril(depends))
