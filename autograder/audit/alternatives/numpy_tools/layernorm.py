"""Less common NumPy: np.vectorize with a signature, masked arrays, np.apply_along_axis, np.linalg.norm."""

import numpy as np


def floats(x):
    return x.astype(np.promote_types(x.dtype, np.float32) if x.dtype.kind == "f" else np.float64)


def layer_norm(x, gamma, beta, eps=1e-5):
    def one_row(row, gamma, beta):
        centred = row - np.median(row)
        centred = centred - np.average(centred)
        return gamma * centred / np.sqrt(np.dot(centred, centred) / row.size + eps) + beta

    x = floats(x)
    rows = np.vectorize(one_row, signature="(d),(d),(d)->(d)", otypes=[x.dtype])
    return rows(x, gamma, beta)


def rms_norm(x, gamma, eps=1e-6):
    def one_row(row):
        return row / np.sqrt(np.linalg.norm(row) ** 2 / row.size + eps)

    return np.multiply(np.apply_along_axis(one_row, -1, floats(x)), gamma, dtype=floats(x).dtype)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    x = np.ma.masked_array(np.atleast_2d(floats(x)))
    grad = np.atleast_2d(floats(grad_out))
    sigma = np.ma.sqrt(x.var(axis=-1, keepdims=True) + x.dtype.type(eps))
    x_hat = x.anom(axis=-1) / sigma
    g = np.ma.masked_array(grad * gamma)
    slope = np.ma.getdata(g * x_hat).mean(axis=-1, keepdims=True)  # a masked mean would be float64
    grad_x = (g.anom(axis=-1) - x_hat * slope) / sigma
    leading = tuple(range(grad.ndim - 1))
    results = (grad_x.reshape(grad_out.shape), np.ma.sum(grad * x_hat, axis=leading), grad.sum(axis=leading))
    return tuple(np.ma.getdata(result) for result in results)
