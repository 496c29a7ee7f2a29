"""Self-contained: index arithmetic on flat masks, unseeded random changes in both directions."""

from __future__ import annotations

import numpy as np

LIMIT = 1e-8
TRIES = 5


def causal_mask(t):
    query, key = np.divmod(np.arange(t * t), t)
    return (query >= key).reshape(t, t)


def padding_mask(lengths, t):
    if not all(0 <= length <= t for length in lengths):
        raise ValueError(f"each length must be one of 0, ..., {t}")
    mask = np.full((len(lengths), 1, t), True)
    for row, length in zip(mask, lengths):
        row[:, int(length) :] = False
    return mask


def apply_mask(scores, mask):
    seen = np.broadcast_to(mask, scores.shape).astype(bool)
    result = np.full(scores.shape, -np.inf, dtype=(scores[:1] * 1.0).dtype)
    result[seen] = scores[seen]
    return result


def dependency_matrix(f, x, delta=1e-3):
    x = x * 1.0
    t, d = x.shape
    random = np.random.default_rng()
    reference = f(x.copy()).copy()
    dependent = np.zeros((t, t), dtype=bool)
    for _ in range(TRIES):
        size = delta * random.uniform(0.7, 1.3, d) * random.choice([-1.0, 1.0], d)
        for change in (size, -size):
            for row in range(t):
                changed = np.vstack([x[:row], [(x[row] + change).astype(x.dtype)], x[row + 1 :]])
                dependent[:, row] |= np.ptp(np.stack([f(changed), reference]), axis=0).max(axis=1) > LIMIT
    return dependent


def is_autoregressive(f, x):
    return not np.any(dependency_matrix(f, x) > causal_mask(len(x)))
