"""Float64 inside: the dtype is remembered, everything is computed in float64, and the last line casts back."""

import numpy as np
from my_helpers import in_float64


@in_float64
def softmax(scores, axis=-1):
    scores = np.asarray(scores, dtype=np.float64)
    top = np.max(scores, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    e = np.exp(scores - top)
    total = np.sum(e, axis=axis, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


@in_float64
def scaled_dot_product_attention(q, k, v, mask=None):
    scale = np.sqrt(np.float64(q.shape[-1]))
    scores = np.matmul(q / scale, np.moveaxis(k, -1, -2))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return np.matmul(weights, v), weights


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads != 0:
        raise ValueError(f"{x.shape[-1]} features do not fall into {n_heads} equal heads")
    return np.stack(np.split(x, n_heads, axis=-1), axis=-3)


def merge_heads(x):
    return np.concatenate(np.moveaxis(x, -3, 0), axis=-1)


@in_float64
def multi_head_attention(x, params, n_heads, mask=None):
    x = x.astype(np.float64)
    projected = [split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v")]
    if mask is not None and mask.ndim > 2:
        mask = np.expand_dims(mask, axis=-3)
    output, _ = scaled_dot_product_attention(*projected, mask=mask)
    return merge_heads(output) @ params["w_o"]
