"""Functional: masks built by recursion, dependencies as a set of pairs from a comprehension."""

from functools import reduce

import numpy as np


def causal_mask(t):
    match t:
        case 1:
            return np.array([[True]])
        case _:
            return np.pad(causal_mask(t - 1), (0, 1)) | (np.arange(t) == t - 1)[:, None]


def padding_mask(lengths, t):
    def row(length):
        if 0 <= length <= t:
            return [[True] * length + [False] * (t - length)]
        raise ValueError(f"cannot keep {length} of {t} keys")

    return np.array([row(length) for length in lengths.tolist()])


def apply_mask(scores, mask):
    choose = np.frompyfunc(lambda score, seen: score if seen else -np.inf, 2, 1)
    return choose(scores, mask).astype(np.result_type(scores, 1.0))


def dependency_matrix(f, x, delta=1e-3):
    x = x.astype(np.result_type(x, 1.0))
    t, d = x.shape
    base = np.array(f(x))
    waves = [(delta * np.sin(np.arange(1, d + 1) * speed)).astype(x.dtype) for speed in (1.0, 2.0, -1.0, -2.0)]

    def reached(row):
        only = (np.arange(t) == row)[:, None]
        return reduce(np.logical_or, (np.any(np.abs(f(x + only * wave) - base) > 1e-8, axis=1) for wave in waves))

    return np.stack(list(map(reached, range(t))), axis=-1)


def is_autoregressive(f, x):
    return all(not any(row[i + 1 :]) for i, row in enumerate(dependency_matrix(f, x).tolist()))
