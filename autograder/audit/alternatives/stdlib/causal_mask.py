"""Standard library: itertools for the masks, the random module for the changes in dependency_matrix."""

import random
from bisect import bisect_right
from itertools import chain, product, repeat

import numpy as np


def causal_mask(t):
    pairs = product(range(t), repeat=2)
    return np.fromiter((key <= query for query, key in pairs), dtype=bool, count=t * t).reshape(t, t)


def padding_mask(lengths, t):
    ends = sorted(lengths.tolist())
    if ends[0] < 0 or bisect_right(ends, t) < len(ends):
        raise ValueError(f"lengths from {ends[0]} to {ends[-1]} do not all lie in 0..{t}")
    rows = (chain(repeat(True, length), repeat(False, t - length)) for length in lengths.tolist())
    return np.fromiter(chain.from_iterable(rows), dtype=bool).reshape(len(ends), 1, t)


def apply_mask(scores, mask):
    kept = zip(scores.flat, np.broadcast_to(mask, scores.shape).flat)
    dtype = np.float32 if scores.dtype == np.float32 else np.float64
    return np.fromiter((score if seen else float("-inf") for score, seen in kept), dtype).reshape(scores.shape)


def dependency_matrix(f, x, delta=1e-3):
    dice = random.Random(7)
    rows = x.tolist()
    dtype = np.float32 if x.dtype == np.float32 else np.float64

    def output(rows):
        return np.array(f(np.array(rows, dtype))).tolist()

    before = output(rows)
    depends = set()
    for _, j in product(range(6), range(len(rows))):
        changed = [list(row) for row in rows]
        changed[j] = [value + delta * dice.choice([-1, 1]) * dice.uniform(0.5, 1.5) for value in rows[j]]
        for i, (old, new) in enumerate(zip(before, output(changed))):
            if any(abs(a - b) > 1e-8 for a, b in zip(old, new)):
                depends.add((i, j))
    return np.array([[(i, j) in depends for j in range(len(rows))] for i in range(len(rows))])


def is_autoregressive(f, x):
    return all(j <= i for i, j in np.argwhere(dependency_matrix(f, x)).tolist())
