"""Importing: helpers from the student's own utils.py, and a constant and a function that other modules import."""

import numpy as np
import utils
from utils import floats

EPS = 1e-5


def statistics(x, eps=EPS):
    """The mean and the inverse of the standard deviation of every row."""
    x = utils.floats(x)
    return x.mean(axis=-1, keepdims=True), np.reciprocal(np.sqrt(x.var(axis=-1, keepdims=True) + eps))


def layer_norm(x, gamma, beta, eps=EPS):
    mean, inverse = statistics(x, eps)
    return (x - mean) * inverse * gamma + beta


def rms_norm(x, gamma, eps=1e-6):
    x = floats(x)
    return gamma * (x / np.sqrt(np.einsum("...d,...d", x, x)[..., np.newaxis] / x.shape[-1] + eps))


def layer_norm_backward(grad_out, x, gamma, eps=EPS):
    grad_out = floats(grad_out)
    mean, inverse = statistics(x, eps)
    x_hat = (x - mean) * inverse
    grad_gamma, grad_beta = grad_out * x_hat, grad_out
    while grad_gamma.ndim > 1:
        grad_gamma, grad_beta = grad_gamma.sum(axis=0), grad_beta.sum(axis=0)
    g = grad_out * gamma
    inside = g - np.mean(g, axis=-1, keepdims=True) - x_hat * np.mean(g * x_hat, axis=-1, keepdims=True)
    return inside * inverse, grad_gamma, grad_beta
