"""Standard library: statistics and math do the work; NumPy only holds the arrays."""

import math
import statistics
from itertools import chain, repeat

import numpy as np


def batched(flat, d):
    return [flat[start : start + d] for start in range(0, len(flat), d)]


def rows_of(x):
    return batched([float(value) for value in x.flat], x.shape[-1])


def pack(rows, like):
    dtype = np.float32 if like.dtype == np.float32 else np.float64
    return np.fromiter(chain.from_iterable(rows), dtype).reshape(like.shape)


def layer_norm(x, gamma, beta, eps=1e-5):
    def normalised(row):
        mean = statistics.fmean(row)
        spread = math.sqrt(statistics.fmean((value - mean) ** 2 for value in row) + eps)
        return (g * ((value - mean) / spread) + b for value, g, b in zip(row, gamma.tolist(), beta.tolist()))

    return pack(map(normalised, rows_of(x)), x)


def rms_norm(x, gamma, eps=1e-6):
    """The root of the mean square is a Euclidean length: math.hypot of the row and sqrt(d eps), over sqrt(d)."""

    def normalised(row):
        rms = math.hypot(*row, math.sqrt(len(row) * eps)) / math.sqrt(len(row))
        return (g * value / rms for value, g in zip(row, gamma.tolist()))

    return pack(map(normalised, rows_of(x)), x)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    d = x.shape[-1]
    grads = rows_of(grad_out)
    plain = layer_norm(x.astype(float), np.ones(d), np.zeros(d), eps)
    standard = rows_of(plain)

    def one_row(grad, row, x_hat):
        sigma = math.sqrt(statistics.pvariance(row) + eps)
        g = [a * b for a, b in zip(grad, gamma.tolist())]
        mean = statistics.fmean(g)
        slope = math.fsum(a * b for a, b in zip(g, x_hat)) / d
        return ((a - mean - slope * b) / sigma for a, b in zip(g, x_hat))

    grad_gamma = [math.fsum(a * b for a, b in zip(g, h)) for g, h in zip(zip(*grads), zip(*standard))]
    grad_beta = list(map(math.fsum, zip(*grads)))
    vector = x[tuple(repeat(0, x.ndim - 1))]
    return pack(map(one_row, grads, rows_of(x), standard), x), pack([grad_gamma], vector), pack([grad_beta], vector)
