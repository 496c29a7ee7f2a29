"""Also accepted: x changed in place and restored, read-only results, a named tuple, prints, np.seterr at import."""

from typing import NamedTuple

import numpy as np

np.seterr(all="ignore")


class Gradients(NamedTuple):
    x: np.ndarray
    gamma: np.ndarray
    beta: np.ndarray


def read_only(array):
    array.flags.writeable = False
    return array


def layer_norm(x, gamma, beta, eps=1e-5):
    if x.dtype.kind != "f":
        return layer_norm(x.astype(float), gamma, beta, eps)
    saved = x.copy()
    try:
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps)
        return read_only(x * gamma + beta)
    finally:
        x[...] = saved


def rms_norm(x, gamma, eps=1e-6):
    print("rms_norm of", x.shape)
    x = x.astype(np.result_type(x, 0.0), order="F")
    return read_only(gamma * (x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + eps)))


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    print("layer_norm_backward of", x.shape)
    x = x.astype(np.result_type(x, 0.0)).reshape(-1, x.shape[-1]).T
    grad = grad_out.astype(x.dtype).reshape(-1, len(x)).T
    centred = x - x.mean(axis=0)
    sigma = np.sqrt(np.square(centred).mean(axis=0) + eps)
    x_hat = centred / sigma
    g = grad * gamma.reshape(-1, 1)
    grad_x = (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) / sigma
    return Gradients(grad_x.T.reshape(grad_out.shape), (grad * x_hat).sum(axis=1), read_only(grad.sum(axis=1)))
