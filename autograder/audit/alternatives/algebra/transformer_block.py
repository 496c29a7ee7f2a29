"""Other algebra: biases as an extra row of the weight matrix, gradients by cumulative products of Jacobians."""

import numpy as np


def in_floats(x):
    return x.astype(np.result_type(x, 1.0))


def affine(x, w, b):
    ones = np.ones_like(x[..., :1])
    return np.concatenate([x, ones], axis=-1) @ np.vstack([w, b])


def feed_forward(x, params):
    hidden = affine(in_floats(x), params["w_1"], params["b_1"])
    return affine((hidden + np.abs(hidden)) / 2, params["w_2"], params["b_2"])


def residual(x, sublayer):
    return np.sum([in_floats(x), in_floats(sublayer(x))], axis=0)


def norm(x, params):
    d = x.shape[-1]
    centred = x - x @ np.full((d, d), 1 / d, x.dtype)
    return centred * (np.square(centred).mean(axis=-1, keepdims=True) + 1e-5) ** -0.5 * params["gamma"] + params["beta"]


def attention(x, params, n_heads, mask):
    """Scores of a head are x @ (w_q w_k^T) @ x^T; its values reach the output through w_v w_o."""
    w = {name: in_floats(matrix) for name, matrix in params.items()}
    columns = np.split(np.arange(x.shape[-1]), n_heads)
    hidden = 0 if mask is None else np.where(mask, 0, np.finfo(x.dtype).min / 4).astype(x.dtype)
    seen = 1 if mask is None else np.any(mask, axis=-1, keepdims=True).astype(x.dtype)
    total = np.zeros_like(x)
    for c in columns:
        scores = x @ (w["w_q"][:, c] @ w["w_k"][:, c].T) @ np.swapaxes(x, -1, -2) / len(c) ** 0.5 + hidden
        e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * seen
        weights = e / np.maximum(e.sum(axis=-1, keepdims=True), 1 - seen)
        total = total + weights @ x @ (w["w_v"][:, c] @ w["w_o"][c])
    return total


def pre_norm_block(x, params, n_heads, mask=None):
    x = in_floats(x)
    h = x + attention(norm(x, params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(norm(h, params["ln_2"]), params["ffn"])


def post_norm_block(x, params, n_heads, mask=None):
    x = in_floats(x)
    h = norm(x + attention(x, params["attention"], n_heads, mask), params["ln_1"])
    return norm(h + feed_forward(h, params["ffn"]), params["ln_2"])


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm != "pre" and norm != "post":
        raise ValueError("the norm is neither pre nor post")
    layer = [post_norm_block, pre_norm_block][norm == "pre"]
    for params in blocks:
        x = layer(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    jacobians = in_floats(jacobians)
    d = jacobians.shape[-1]
    products = [np.eye(d, dtype=jacobians.dtype)]
    for jacobian in jacobians[::-1]:
        products.insert(0, products[0] @ (jacobian + residual * np.eye(d, dtype=jacobian.dtype)))
    return np.linalg.norm(grad_out @ np.array(products), axis=-1)
