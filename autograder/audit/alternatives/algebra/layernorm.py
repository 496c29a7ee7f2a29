"""Other algebra: a centring matrix removes the mean, and the gradient is a product with each row's Jacobian."""

import numpy as np


def centring_matrix(d, dtype):
    return np.eye(d, dtype=dtype) - np.full((d, d), 1 / d, dtype=dtype)


def in_floats(x):
    return x.astype(np.result_type(x, 1.0))


def layer_norm(x, gamma, beta, eps=1e-5):
    x = in_floats(x)
    d = x.shape[-1]
    near = x - x[..., :1]
    centred = near @ centring_matrix(d, x.dtype)
    return centred / np.hypot(np.linalg.norm(centred, axis=-1, keepdims=True) / d**0.5, eps**0.5) * gamma + beta


def rms_norm(x, gamma, eps=1e-6):
    x = in_floats(x)
    d = x.shape[-1]
    padded = np.concatenate([x, np.full_like(x[..., :1], (d * eps) ** 0.5)], axis=-1)
    return x @ np.diag(gamma) * (d**0.5 / np.linalg.norm(padded, axis=-1, keepdims=True))


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    grad_out, x = in_floats(grad_out), in_floats(x)
    d = x.shape[-1]
    centring = centring_matrix(d, x.dtype)
    centred = (x @ centring).reshape(-1, d)
    inverse = 1 / np.sqrt((centred * centred) @ np.full((d, 1), 1 / d, x.dtype) + eps)
    x_hat = centred * inverse
    jacobians = inverse[:, :, None] * (centring - x_hat[:, :, None] * x_hat[:, None, :] / d)
    rows = grad_out.reshape(-1, 1, d)
    grad_x = (rows * gamma) @ jacobians
    ones = np.ones(len(x_hat), x.dtype)
    return grad_x.reshape(x.shape), np.diagonal(rows[:, 0].T @ x_hat), ones @ rows[:, 0]
