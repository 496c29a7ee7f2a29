"""Exact: dependencies by changing all features together and each alone, in both directions."""

import numpy as np


def causal_mask(t):
    mask = np.zeros((t, t), dtype=bool)
    mask[np.tril_indices(t)] = True
    return mask


def padding_mask(lengths, t):
    for length in lengths:
        if int(length) not in range(t + 1):
            raise ValueError(f"{length} is not in 0..{t}")
    return np.array([[[key < int(length) for key in range(t)]] for length in lengths])


def apply_mask(scores, mask):
    masked = np.array(scores, dtype=scores.dtype if scores.dtype.kind == "f" else np.float64)
    np.putmask(masked, ~np.broadcast_to(mask, masked.shape), -np.inf)
    return masked


def changes(d, delta):
    for sign in (1, -1):
        yield sign * delta * np.linspace(0.5, 1.5, d)
        for feature in range(d):
            yield sign * delta * np.eye(d)[feature]


def dependency_matrix(f, x, delta=1e-3):
    x = x + np.zeros(1, x.dtype if x.dtype.kind == "f" else np.float64)
    before = np.array(f(x.copy()), dtype=np.longdouble)
    depends = np.zeros((len(x), len(x)), dtype=bool)
    for row in range(len(x)):
        for change in changes(x.shape[1], delta):
            new = x.copy()
            new[row] = x[row] + change
            after = np.array(f(new), dtype=np.longdouble)
            depends[np.any(abs(after - before) > 1e-8, axis=1), row] = True
            if depends[:, row].all():
                break
    return depends


def is_autoregressive(f, x):
    return True not in dependency_matrix(f, x)[np.triu_indices(len(x), 1)]
