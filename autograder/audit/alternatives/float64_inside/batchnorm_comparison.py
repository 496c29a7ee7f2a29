"""Float64 inside: unbiased variance from the diagonal of np.cov, influence by moving one example far away."""

import numpy as np
from my_helpers import in_float64


@in_float64
def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    mean, var = np.float64(running_mean), np.float64(running_var)
    if training:
        n = x.shape[0]
        if n < 2:
            raise ValueError("batch_norm cannot train on a single example")
        mean = np.average(x, axis=0)
        unbiased = np.diagonal(np.atleast_2d(np.cov(x, rowvar=False)))
        var = unbiased * (n - 1) / n
        running_mean = np.average([running_mean, mean], axis=0, weights=[1 - momentum, momentum])
        running_var = np.average([running_var, unbiased], axis=0, weights=[1 - momentum, momentum])
    y = np.multiply((x - mean) / np.sqrt(var + eps), gamma) + beta
    return y, running_mean, running_var


@in_float64
def norm_moments(x, kind):
    match kind:
        case "layer":
            axis = 1
        case "batch":
            axis = 0
        case _:
            raise ValueError(f"there is no norm over {kind!r}")
    return np.mean(x, axis=axis, keepdims=True), np.std(x, axis=axis, keepdims=True) ** 2


def influence(x, kind, eps=1e-5):
    x = x.astype(np.float64)
    n, d = x.shape

    def normalise(batch):
        if kind == "layer":
            mean, var = norm_moments(batch, "layer")
        elif kind == "batch_train":
            mean, var = norm_moments(batch, "batch")
        elif kind == "batch_eval":
            mean, var = np.zeros(d), np.ones(d)
        else:
            raise ValueError(f"there is no norm called {kind!r}")
        return (batch - mean) / np.sqrt(var + eps)

    before = normalise(x)
    far = np.max(np.abs(x)) + np.arange(1, d + 1) ** 2
    columns = []
    for j in range(n):
        changed = x.copy()
        changed[j] = far
        columns.append(~np.isclose(normalise(changed), before, rtol=0, atol=1e-8).all(axis=1))
    return np.column_stack(columns)
