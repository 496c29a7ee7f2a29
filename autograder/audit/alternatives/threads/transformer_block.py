"""Threads: the sequences of a batch pass through a block in parallel threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from layernorm import layer_norm
from scaled_attention import multi_head_attention


def each_sequence(function, x, mask):
    """function(sequence, mask) for every sequence of the leading dimensions, by a few threads."""
    x = x * 1.0
    t = x.shape[-2]
    masks = np.broadcast_to(True if mask is None else mask, (*x.shape[:-1], t)).reshape(-1, t, t)
    with ThreadPoolExecutor(max_workers=3) as pool:
        return np.array(list(pool.map(function, x.reshape(-1, *x.shape[-2:]), masks))).reshape(x.shape)


def feed_forward(x, params):
    w_1 = params["w_1"] * 1.0

    def unit(number):
        return np.maximum(x @ w_1[:, number] + params["b_1"][number], 0)

    with ThreadPoolExecutor(max_workers=3) as pool:
        hidden = np.stack(list(pool.map(unit, range(w_1.shape[1]))), axis=-1)
    return hidden @ params["w_2"] + params["b_2"]


def residual(x, sublayer):
    with ThreadPoolExecutor(max_workers=1) as pool:
        branch = pool.submit(sublayer, x)
    return x * 1.0 + branch.result()


def pre_norm_block(x, params, n_heads, mask=None):
    def block(sequence, seen):
        normed = layer_norm(sequence, **params["ln_1"])
        h = sequence + multi_head_attention(normed, params["attention"], n_heads, seen)
        return h + feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"])

    return each_sequence(block, x, mask)


def post_norm_block(x, params, n_heads, mask=None):
    def block(sequence, seen):
        h = sequence + multi_head_attention(sequence, params["attention"], n_heads, seen)
        h = layer_norm(h, **params["ln_1"])
        return layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])

    return each_sequence(block, x, mask)


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError(f"there is no {norm!r}-norm")
    for params in blocks:
        x = (pre_norm_block if norm == "pre" else post_norm_block)(x, params, n_heads, mask)
    return x


def gradients(jacobians, grad, residual):
    yield grad
    for jacobian in reversed(jacobians):
        grad = grad @ jacobian + (grad if residual else 0)
        yield grad


def gradient_flow(jacobians, grad_out, residual=True):
    with ThreadPoolExecutor(max_workers=2) as pool:
        norms = list(pool.map(np.linalg.norm, gradients(jacobians, grad_out * 1.0, residual)))
    return np.array(norms[::-1])
