"""Einstein sums: every mean, product and contraction is an einsum over named indices."""

import numpy as np


def as_float(x):
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def standardise(x, eps):
    d = x.shape[-1]
    centred = x - np.einsum("...d->...", x)[..., None] / d
    inverse = 1 / np.sqrt(np.einsum("...d,...d->...", centred, centred) / d + eps)
    return np.einsum("...d,...->...d", centred, inverse), inverse


def layer_norm(x, gamma, beta, eps=1e-5):
    x_hat, _ = standardise(as_float(x), eps)
    return np.einsum("...d,d->...d", x_hat, as_float(gamma)) + beta


def rms_norm(x, gamma, eps=1e-6):
    x = as_float(x)
    inverse = (np.einsum("...d,...d->...", x, x) / x.shape[-1] + eps) ** -0.5
    return np.einsum("...d,...,d->...d", x, inverse, gamma)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    d = x.shape[-1]
    x_hat, inverse = standardise(as_float(x).reshape(-1, d), eps)
    grad = as_float(grad_out).reshape(-1, d)
    g = np.einsum("nd,d->nd", grad, gamma)
    shift = np.einsum("nd->n", g) / d
    stretch = np.einsum("nd,nd->n", g, x_hat) / d
    grad_x = np.einsum("nd,n->nd", g - shift[:, None] - np.einsum("n,nd->nd", stretch, x_hat), inverse)
    return grad_x.reshape(x.shape), np.einsum("nd,nd->d", grad, x_hat), np.einsum("nd->d", grad)
