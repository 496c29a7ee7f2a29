"""Pure Python loops, column by column; influence by changing one number at a time."""

import math

import numpy as np


def moments(values):
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values) / len(values)


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    n, d = x.shape
    if training and n < 2:
        raise ValueError("a training batch has at least two examples")
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    y = np.zeros((n, d), dtype)
    new_mean, new_var = np.zeros(d, dtype), np.zeros(d, dtype)
    for k in range(d):
        column = x[:, k].tolist()
        mean, var = float(running_mean[k]), float(running_var[k])
        new_mean[k], new_var[k] = mean, var
        if training:
            old_mean, old_var = mean, var
            mean, var = moments(column)
            new_mean[k] = (1 - momentum) * old_mean + momentum * mean
            new_var[k] = (1 - momentum) * old_var + momentum * var * n / (n - 1)
        for i in range(n):
            y[i, k] = float(gamma[k]) * (column[i] - mean) / math.sqrt(var + eps) + float(beta[k])
    return y, new_mean, new_var


def norm_moments(x, kind):
    dtype = x.dtype if x.dtype.kind == "f" else np.float64
    if kind == "layer":
        pairs = [moments(row) for row in x.tolist()]
        shape = (len(pairs), 1)
    elif kind == "batch":
        pairs = [moments(column) for column in zip(*x.tolist())]
        shape = (1, len(pairs))
    else:
        raise ValueError("kind must be layer or batch")
    mean, var = zip(*pairs)
    return np.array(mean, dtype).reshape(shape), np.array(var, dtype).reshape(shape)


def normalise(rows, kind, eps, fixed):
    if kind == "layer":
        lines = [(row, *moments(row)) for row in rows]
    else:
        columns = list(zip(*rows))
        lines = [(c, *(moments(c) if kind == "batch_train" else fixed[k])) for k, c in enumerate(columns)]
    result = [[(value - mean) / math.sqrt(var + eps) for value in line] for line, mean, var in lines]
    return result if kind == "layer" else [list(row) for row in zip(*result)]


def influence(x, kind, eps=1e-5):
    if kind not in ["layer", "batch_train", "batch_eval"]:
        raise ValueError("kind must be layer, batch_train or batch_eval")
    rows = x.tolist()
    n, d = x.shape
    fixed = [moments(column) for column in zip(*rows)]
    before = normalise(rows, kind, eps, fixed)
    result = [[False] * n for _ in range(n)]
    for j in range(n):
        for k in range(d):
            changed = [list(row) for row in rows]
            changed[j][k] += 1 + abs(changed[j][k])
            after = normalise(changed, kind, eps, fixed)
            for i in range(n):
                for m in range(d):
                    if abs(after[i][m] - before[i][m]) > 1e-9:
                        result[i][j] = True
    return np.array(result)
