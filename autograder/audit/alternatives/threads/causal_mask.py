"""Threads: dependency_matrix calls f from several threads at once; generators yield the changes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np


def causal_mask(t):
    def rows():
        for query in range(t):
            yield np.arange(t) <= query

    return np.array(list(rows()))


def padding_mask(lengths, t):
    def row(length):
        if length < 0 or length > t:
            raise ValueError(f"length {length} is impossible with {t} keys")
        return np.arange(t) < length

    with ThreadPoolExecutor() as pool:
        return np.array(list(pool.map(row, lengths.tolist())))[:, None, :]


def apply_mask(scores, mask):
    return np.where(mask, scores, np.full_like(scores * 1.0, -np.inf))


def changed_inputs(x, delta):
    rng = np.random.default_rng(11)
    for change in rng.uniform(0.5, 1.5, (4, x.shape[1])) * rng.choice([-1, 1], (4, x.shape[1])):
        for row in range(len(x)):
            changed = x.copy()
            changed[row] += delta * change
            yield row, changed


def dependency_matrix(f, x, delta=1e-3):
    x = x * 1.0
    before = np.array(f(x.copy()))
    depends = np.zeros((len(x), len(x)), dtype=bool)

    def affected(task):
        row, changed = task
        return row, np.any(abs(f(changed) - before) > 1e-8, axis=1)

    with ThreadPoolExecutor(max_workers=4) as pool:
        for row, rows in pool.map(affected, changed_inputs(x, delta)):
            depends[:, row] |= rows
    return depends


def is_autoregressive(f, x):
    return bool(np.array_equal(np.triu(dependency_matrix(f, x), k=1), np.zeros((len(x), len(x)))))
