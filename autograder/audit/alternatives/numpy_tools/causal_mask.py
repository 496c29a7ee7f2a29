"""Less common NumPy: a causal mask as overlapping windows of one vector, masked arrays filled with minus infinity."""

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view


def causal_mask(t):
    steps = np.repeat([True, False], [t, t - 1])
    return sliding_window_view(steps, t)[::-1]


def padding_mask(lengths, t):
    if np.searchsorted([0, t + 1], lengths, side="right").tolist() != [1] * len(lengths):
        raise ValueError(f"0 <= {lengths} <= {t} does not hold")
    steps = np.repeat([True, False], t)
    windows = as_strided(steps, shape=(t + 1, t), strides=steps.strides * 2, writeable=False)
    return np.take(windows, t - lengths.astype(np.intp), axis=0)[:, np.newaxis]


def apply_mask(scores, mask):
    scores = np.array(scores, dtype=None if scores.dtype.kind == "f" else float)
    hidden = np.broadcast_to(np.logical_not(mask), scores.shape)
    return np.ma.masked_array(scores, mask=hidden).filled(-np.inf)


def dependency_matrix(f, x, delta=1e-3):
    x = np.asarray(x, dtype=None if x.dtype.kind == "f" else float)
    t, d = x.shape
    directions = np.random.default_rng(5).standard_normal((5, d))
    directions *= delta / np.abs(directions).mean(axis=1, keepdims=True)
    before = np.array(f(x))

    def column(j):
        hits = np.zeros(t, dtype=int)
        for direction in directions:
            changed = x.copy()
            np.add.at(changed, j, direction.astype(x.dtype))
            hits += np.count_nonzero(np.abs(np.subtract(f(changed), before)) > 1e-8, axis=1)
        return hits > 0

    return np.vectorize(column, signature="()->(t)")(np.arange(t)).T


def is_autoregressive(f, x):
    queries, keys = np.nonzero(dependency_matrix(f, x))
    return np.all(keys <= queries)
