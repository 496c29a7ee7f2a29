"""Float64 inside: a decorator from the student's own my_helpers.py casts arguments and results."""

import numpy as np
from my_helpers import in_float64


@in_float64
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True, dtype=np.float64)
    var = np.var(x, axis=-1, keepdims=True, dtype=np.float64)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


@in_float64
def rms_norm(x, gamma, eps=1e-6):
    rms = np.sqrt(np.mean(np.square(x, dtype=np.float64), axis=-1, keepdims=True) + eps)
    return x / rms * gamma


@in_float64
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    d = x.shape[-1]
    mean = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    centred = x - mean
    inv_std = 1.0 / np.sqrt(var + eps)

    grad_x_hat = np.multiply(grad_out, gamma, dtype=np.float64)
    grad_var = np.sum(grad_x_hat * centred, axis=-1, keepdims=True) * -0.5 * inv_std**3
    grad_mean = -np.sum(grad_x_hat * inv_std, axis=-1, keepdims=True)
    grad_x = grad_x_hat * inv_std + grad_var * 2.0 * centred / d + grad_mean / d

    grad_gamma = np.sum((grad_out * centred * inv_std).reshape(-1, d), axis=0)
    grad_beta = np.sum(grad_out.reshape(-1, d), axis=0, dtype=np.float64)
    return grad_x, grad_gamma, grad_beta
