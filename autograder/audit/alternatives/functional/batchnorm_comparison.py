"""Functional: match statements, running moments by Welford's update as a fold, influence by a pure predicate."""

from functools import reduce

import numpy as np


def welford(state, example):
    count, mean, squares = state
    step = example - mean
    mean = mean + step / (count + 1)
    return count + 1, mean, squares + step * (example - mean)


def fold_moments(examples):
    """(mean, sum of squared deviations) over the first axis."""
    start = np.zeros_like(examples[0])
    return reduce(welford, examples, (0, start, start))[1:]


def floats(x):
    return x.astype(np.result_type(x, 1.0))


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    def normalised(mean, var):
        return gamma * (floats(x) - mean) / np.sqrt(var + eps) + beta

    def mixed(old, new):
        return (1 - momentum) * old + momentum * new

    match bool(training), len(x):
        case False, _:
            return normalised(running_mean, running_var), running_mean, running_var
        case True, 1:
            raise ValueError("a batch needs a second example")
        case True, n:
            mean, squares = fold_moments(floats(x))
            return normalised(mean, squares / n), mixed(running_mean, mean), mixed(running_var, squares / (n - 1))


def norm_moments(x, kind):
    match kind:
        case "batch":
            mean, squares = fold_moments(floats(x))
            return mean[np.newaxis], squares[np.newaxis] / len(x)
        case "layer":
            return tuple(moment.T for moment in norm_moments(x.T, "batch"))
        case other:
            raise ValueError(f"{other!r} is not a kind of normalisation")


def influence(x, kind, eps=1e-5):
    match kind:
        case "layer" | "batch_eval":
            reaches = np.equal
        case "batch_train":
            reaches = np.vectorize(lambda i, j: True)
        case other:
            raise ValueError(f"{other!r} is not a kind of normalisation")
    return np.fromfunction(reaches, (len(x), len(x)), dtype=int)
