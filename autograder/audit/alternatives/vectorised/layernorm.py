"""Compact broadcasting: one line of NumPy for each line of the formula; `* 1.0` makes integers floats."""

import numpy as np


def standardise(x, eps):
    centred = x - x.mean(-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    return centred / sigma, sigma


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * standardise(x, eps)[0] + beta


def rms_norm(x, gamma, eps=1e-6):
    x = x * 1.0
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    grad_out = grad_out * 1.0
    x_hat, sigma = standardise(x, eps)
    leading = tuple(range(x.ndim - 1))
    g = grad_out * gamma
    grad_x = (g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True)) / sigma
    return grad_x, (grad_out * x_hat).sum(leading), grad_out.sum(leading)
