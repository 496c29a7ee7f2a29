"""Classes: a cached read-only mask, and a context manager that changes one row of its own copy."""

from contextlib import contextmanager
from functools import cache

import numpy as np


@cache
def lower_triangle(t):
    mask = np.tril(np.ones((t, t), dtype=bool))
    mask.flags.writeable = False
    return mask


class Probe:
    def __init__(self, f, x):
        self.f = f
        self.x = np.array(x, dtype=np.result_type(x, 1.0))
        self.base = self.output()

    def output(self):
        return np.array(self.f(self.x))

    @contextmanager
    def changed(self, row, change):
        saved = self.x[row].copy()
        self.x[row] += change
        try:
            yield
        finally:
            self.x[row] = saved

    def affected(self, row, change):
        with self.changed(row, change):
            return np.abs(self.output() - self.base).max(axis=1) > 1e-8


def causal_mask(t):
    return lower_triangle(t)


def padding_mask(lengths, t):
    class Row:
        def __init__(self, length):
            if not 0 <= length <= t:
                raise ValueError(f"{length} tokens do not fit into {t} places")
            self.mask = np.repeat([True, False], [length, t - length])

    return np.array([[Row(length).mask] for length in lengths.tolist()])


def apply_mask(scores, mask):
    hidden = np.full(scores.shape, -np.inf, dtype=np.result_type(scores, 1.0))
    np.copyto(hidden, scores, where=mask)
    return hidden


def dependency_matrix(f, x, delta=1e-3):
    probe = Probe(f, x)
    t, d = x.shape
    signs = [1.0, -1.0, (-1.0) ** np.arange(d)]
    steps = delta * np.linspace(0.6, 1.4, d)
    return np.stack([np.any([probe.affected(row, steps * sign) for sign in signs], axis=0) for row in range(t)], axis=1)


def is_autoregressive(f, x):
    return not (dependency_matrix(f, x) & ~causal_mask(len(x))).any()
