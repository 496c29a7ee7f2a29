"""Einstein sums: heads are an index of the weights, so multi-head attention neither splits nor merges anything."""

import numpy as np


def as_float(x):
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def softmax(scores, axis=-1):
    scores = np.moveaxis(as_float(scores), axis, -1)
    highest = scores.max(axis=-1, keepdims=True)
    highest[np.isneginf(highest)] = 0
    e = np.exp(scores - highest)
    total = np.einsum("...k->...", e)
    inverse = np.divide(1, total, out=np.zeros_like(total), where=total > 0)
    return np.moveaxis(np.einsum("...k,...->...k", e, inverse), -1, axis)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = np.einsum("...qc,...kc->...qk", as_float(q), as_float(k)) * q.shape[-1] ** -0.5
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    weights = softmax(scores)
    return np.einsum("...qk,...kc->...qc", weights, v), weights


def split_heads(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
    return np.einsum("...thc->...htc", x.reshape(*leading, t, n_heads, d_model // n_heads))


def merge_heads(x):
    *leading, n_heads, t, d_head = x.shape
    return np.einsum("...htc->...thc", x).reshape(*leading, t, n_heads * d_head)


def multi_head_attention(x, params, n_heads, mask=None):
    x = as_float(x)
    d = x.shape[-1]
    per_head = (d, n_heads, d // n_heads)
    q, k, v = (np.einsum("...td,dhc->...htc", x, params[w].reshape(per_head)) for w in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else np.expand_dims(mask, -3)
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return np.einsum("...htc,hcd->...td", heads, params["w_o"].reshape(n_heads, d // n_heads, d))
