"""Standard library: statistics.variance and pvariance for each column, a defaultdict of shared statistics."""

import math
import statistics
from collections import defaultdict
from itertools import product

import numpy as np


def float_type(x):
    return np.float32 if x.dtype == np.float32 else np.float64


def columns_of(x):
    return list(zip(*x.astype(float).tolist()))


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if training:
        # Of a single example statistics.variance raises StatisticsError, which is a ValueError.
        unbiased = [statistics.variance(column) for column in columns_of(x)]
        means = [statistics.fmean(column) for column in columns_of(x)]
        spreads = [math.sqrt(statistics.pvariance(column) + eps) for column in columns_of(x)]
        keep = 1 - momentum
        new_mean = [keep * old + momentum * new for old, new in zip(running_mean.tolist(), means)]
        new_var = [keep * old + momentum * new for old, new in zip(running_var.tolist(), unbiased)]
    else:
        new_mean = means = running_mean.tolist()
        new_var = running_var.tolist()
        spreads = [math.sqrt(var + eps) for var in new_var]
    recipe = list(zip(means, spreads, gamma.tolist(), beta.tolist()))
    y = [[(value - m) / s * g + b for value, (m, s, g, b) in zip(row, recipe)] for row in x.tolist()]
    return tuple(np.array(values, float_type(x)) for values in (y, new_mean, new_var))


def norm_moments(x, kind):
    lines = {"layer": lambda: x.astype(float).tolist(), "batch": lambda: columns_of(x)}
    try:
        groups = lines[kind]()
    except KeyError:
        raise ValueError(f"{kind!r} is neither 'layer' nor 'batch'") from None
    shape = (-1, 1) if kind == "layer" else (1, -1)
    moments = [[statistic(group) for group in groups] for statistic in (statistics.fmean, statistics.pvariance)]
    mean, var = (np.array(values, float_type(x)).reshape(shape) for values in moments)
    return mean, var


def influence(x, kind, eps=1e-5):
    group_of = {"layer": lambda i: i, "batch_train": lambda i: "the batch", "batch_eval": lambda i: i}
    if kind not in group_of:
        raise ValueError(f"{kind!r} is not one of {sorted(group_of)}")
    members = defaultdict(set)
    for i in range(len(x)):
        members[group_of[kind](i)].add(i)
    pairs = {pair for group in members.values() for pair in product(group, repeat=2)}
    return np.array([[(i, j) in pairs for j in range(len(x))] for i in range(len(x))])
