"""Pure Python loops over the elements of every row, with lists until the final np.array."""

import math

import numpy as np


def rows(x):
    return x.reshape(-1, x.shape[-1]).tolist()


def back(values, like):
    dtype = like.dtype if like.dtype.kind == "f" else np.float64
    return np.array(values, dtype=dtype).reshape(like.shape)


def standardise(row, eps):
    mean = sum(row) / len(row)
    centred = [value - mean for value in row]
    sigma = math.sqrt(sum(value * value for value in centred) / len(row) + eps)
    return [value / sigma for value in centred], sigma


def layer_norm(x, gamma, beta, eps=1e-5):
    out = []
    for row in rows(x):
        x_hat, _ = standardise(row, eps)
        out.append([g * value + b for value, g, b in zip(x_hat, gamma.tolist(), beta.tolist())])
    return back(out, x)


def rms_norm(x, gamma, eps=1e-6):
    out = []
    for row in rows(x):
        total = 0.0
        for value in row:
            total += value * value
        root = math.sqrt(total / len(row) + eps)
        out.append([g * value / root for value, g in zip(row, gamma.tolist())])
    return back(out, x)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    d = x.shape[-1]
    grad_x, grad_gamma, grad_beta = [], [0.0] * d, [0.0] * d
    for grad, row in zip(rows(grad_out), rows(x)):
        x_hat, sigma = standardise(row, eps)
        for k in range(d):
            grad_gamma[k] += grad[k] * x_hat[k]
            grad_beta[k] += grad[k]
        g = [a * b for a, b in zip(grad, gamma.tolist())]
        shift = sum(g) / d
        stretch = sum(a * b for a, b in zip(g, x_hat)) / d
        grad_x.append([(g[k] - shift - x_hat[k] * stretch) / sigma for k in range(d)])
    return back(grad_x, x), back(grad_gamma, x[(0,) * (x.ndim - 1)]), back(grad_beta, x[(0,) * (x.ndim - 1)])
