"""Einstein sums: a mask is an outer product of row and column conditions; changes are outer products too."""

import numpy as np


def causal_mask(t):
    """The query can see the key if some position k has key <= k (reached) and k == query."""
    reached = np.arange(t)[:, None] <= np.arange(t)
    return np.einsum("jk,ik->ij", reached, np.eye(t, dtype=bool))


def padding_mask(lengths, t):
    lengths = lengths.astype(np.int64)
    if np.any((lengths < 0) | (lengths > t)):
        raise ValueError(f"a length is outside 0..{t}")
    one_hot = np.eye(t + 1, dtype=bool)[lengths]
    real = np.arange(t) < np.arange(t + 1)[:, None]
    return np.einsum("bl,lt->bt", one_hot, real)[:, None, :]


def apply_mask(scores, mask):
    masked = scores.astype(np.result_type(scores, 0.0))
    masked[np.logical_not(np.broadcast_to(mask, scores.shape))] = -np.inf
    return masked


def dependency_matrix(f, x, delta=1e-3):
    x = x.astype(np.result_type(x, 0.0))
    t, d = x.shape
    directions = np.cos(np.arange(3 * d).reshape(3, d) + 1).astype(x.dtype)
    changed = x + delta * np.einsum("jn,sd->jsnd", np.eye(t, dtype=x.dtype), directions)
    base = np.array(f(x))
    return np.array(
        [np.any([np.abs(f(variant) - base).max(axis=1) > 1e-8 for variant in variants], axis=0) for variants in changed]
    ).T


def is_autoregressive(f, x):
    leaks = np.einsum("ij,ij->", dependency_matrix(f, x).astype(int), np.triu(np.ones((len(x), len(x)), int), 1))
    return bool(leaks == 0)
