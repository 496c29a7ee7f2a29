"""Functional: functools.reduce, map and composed lambdas, with recursion over leading dimensions."""

from functools import reduce
from operator import add

import numpy as np


def total(values):
    return reduce(add, values)


def over_rows(row_function, x):
    """Apply a function of one row to every row, however deep the rows lie."""
    match x.ndim:
        case 1:
            return row_function(x.astype(np.result_type(x, 1.0)))
        case _:
            return np.array([over_rows(row_function, part) for part in x])


def standardise(row, eps):
    centred = row - total(row) / len(row)
    return centred / np.sqrt(total(map(lambda c: c * c, centred)) / len(row) + eps)


def layer_norm(x, gamma, beta, eps=1e-5):
    return over_rows(lambda row: standardise(row, eps) * gamma + beta, x)


def rms_norm(x, gamma, eps=1e-6):
    return over_rows(lambda row: row * gamma / np.sqrt(np.vdot(row, row) / len(row) + eps), x)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    """The gradient of a row is linear in the upstream gradient: project out ones and x_hat, then rescale."""
    d = x.shape[-1]
    flat = [a.astype(np.result_type(a, 1.0)).reshape(-1, d) for a in (grad_out, x)]

    def one_row(pair):
        grad, row = pair
        x_hat = standardise(row, eps)
        sigma = np.sqrt(row.var() + eps)
        g = grad * gamma
        return (g - g.mean() - x_hat * (g @ x_hat) / d) / sigma, grad * x_hat, grad

    grad_x, grad_gamma, grad_beta = zip(*map(one_row, zip(*flat)))
    return np.array(grad_x).reshape(x.shape), total(grad_gamma), total((np.zeros_like(grad_beta[0]), *grad_beta))
