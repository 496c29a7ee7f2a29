"""Importing: masks by NumPy's index helpers, and a dependency_matrix that tries eight sign patterns."""

import itertools

import numpy as np
from utils import floats


def causal_mask(t):
    mask = np.ones((t, t), dtype=bool)
    mask[np.triu_indices_from(mask, k=1)] = False
    return mask


def padding_mask(lengths, t):
    if np.isin(lengths, range(t + 1)).all():
        return causal_mask(t + 1)[lengths.astype(int), 1:][:, None, :]
    raise ValueError(f"some of {lengths} are not in 0..{t}")


def apply_mask(scores, mask):
    return np.choose(np.broadcast_to(mask, scores.shape).astype(int), [-np.inf, floats(scores)])


def dependency_matrix(f, x, delta=1e-3):
    x = floats(x)
    t, d = x.shape
    start = np.array(f(x))
    signs = np.array(list(itertools.product([1, -1], repeat=3)))
    signs = np.tile(signs, (1, d))[:, :d]
    sizes = delta * (1 + 0.3 * np.sin(np.arange(d) + 1))

    def moved(row, sign):
        y = x.copy()
        y[row] += sign * sizes
        return np.abs(f(y) - start)

    columns = [np.max([moved(row, sign) for sign in signs], axis=(0, 2)) for row in range(t)]
    return np.stack(columns, axis=1) > 1e-8


def is_autoregressive(f, x):
    return np.bool_(not dependency_matrix(f, x)[np.triu_indices(len(x), k=1)].any())
