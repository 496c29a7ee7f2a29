"""Exact: means, variances and gradients in rational arithmetic (fractions), rounded only by the square root."""

import math
from fractions import Fraction

import numpy as np


def rationals(row):
    return [Fraction(value) for value in row.tolist()]


def standardise(row, eps):
    """The row without its mean, as rationals, and its standard deviation."""
    values = rationals(row)
    mean = sum(values) / len(values)
    centred = [value - mean for value in values]
    return centred, math.sqrt(sum(value * value for value in centred) / len(values) + Fraction(eps))


def result_type(x):
    return x.dtype if x.dtype.kind == "f" else np.float64


def layer_norm(x, gamma, beta, eps=1e-5):
    out = np.empty(x.shape, np.float64)
    for index in np.ndindex(*x.shape[:-1]):
        centred, sigma = standardise(x[index], eps)
        out[index] = [float(value) / sigma * g + b for value, g, b in zip(centred, gamma.tolist(), beta.tolist())]
    return out.astype(result_type(x))


def rms_norm(x, gamma, eps=1e-6):
    out = np.empty(x.shape, np.float64)
    for index in np.ndindex(*x.shape[:-1]):
        squares = [value * value for value in rationals(x[index])]
        out[index] = x[index] * gamma.astype(np.float64) / math.sqrt(sum(squares) / len(squares) + Fraction(eps))
    return out.astype(result_type(x))


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    """d out_j / d x_k = gamma_j / sigma (1[j = k] - 1 / d - c_j c_k / (d sigma^2)), c the centred row."""
    d = x.shape[-1]
    grad_x = np.empty(x.shape, np.float64)
    terms = []
    for index in np.ndindex(*x.shape[:-1]):
        centred, sigma = standardise(x[index], eps)
        g = [a * b for a, b in zip(rationals(grad_out[index]), rationals(gamma))]
        along = sum(a * b for a, b in zip(g, centred)) / (d * Fraction(sigma) ** 2)
        mean = sum(g) / d
        grad_x[index] = [float(a - mean - c * along) / sigma for a, c in zip(g, centred)]
        terms.append([a * float(c) / sigma for a, c in zip(grad_out[index].tolist(), centred)])
    grad_gamma = [math.fsum(column) for column in zip(*terms)]
    grad_beta = [math.fsum(column) for column in grad_out.reshape(-1, d).T.tolist()]
    return grad_x.astype(result_type(x)), np.array(grad_gamma, result_type(x)), np.array(grad_beta, result_type(x))
