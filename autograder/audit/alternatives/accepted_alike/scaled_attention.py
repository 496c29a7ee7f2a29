"""Also accepted: named tuples, views of an argument, transposed and read-only results, NumPy's warnings."""

from collections import namedtuple

import numpy as np

Attention = namedtuple("Attention", ["output", "weights"])


def softmax(scores, axis=-1):
    """An empty slice gives 0 / 0 and so NaN, with a warning; NaN is replaced afterwards."""
    last = np.swapaxes(scores, axis, -1) * 1.0
    e = np.exp(last - last.max(axis=-1, keepdims=True))
    weights = np.nan_to_num(e / e.sum(axis=-1, keepdims=True), copy=False, nan=0.0)
    weights.setflags(write=False)
    return np.swapaxes(weights, axis, -1)


def scaled_dot_product_attention(q, k, v, mask=None):
    transposed = np.swapaxes(k * 1.0 @ np.swapaxes(q, -1, -2), -1, -2)
    scores = transposed / np.sqrt(q.shape[-1]).astype(transposed.dtype)
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type("-inf"))
    weights = softmax(scores)
    return Attention(weights=weights, output=weights @ v)


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads > 0:
        raise ValueError(n_heads, x.shape[-1])
    view = x.view()
    view.shape = (*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return np.rollaxis(view, -2, -3)


def merge_heads(x):
    view = np.swapaxes(x, -2, -3)
    return np.reshape(view, (*view.shape[:-2], -1))


def multi_head_attention(x, params, n_heads, mask=None):
    print("attention with", n_heads, "heads")
    w_qkv = np.concatenate([params["w_q"], params["w_k"], params["w_v"]], axis=1)
    q, k, v = np.split(x * 1.0 @ w_qkv, 3, axis=-1)
    if mask is not None:
        mask = mask[..., np.newaxis, :, :]
    attention = scaled_dot_product_attention(*(split_heads(part.copy(), n_heads) for part in (q, k, v)), mask)
    return merge_heads(attention.output) @ params["w_o"]
