"""Other algebra: softmax as exp of a log-softmax, masks as added logarithms, heads as selection matrices."""

import numpy as np


def in_floats(x):
    return x.astype(np.result_type(x, 1.0))


def log_softmax(scores, axis):
    scores = in_floats(scores)
    top = scores.max(axis=axis, keepdims=True)
    near = np.where(scores == top, 0, scores - np.where(np.isneginf(top), 0, top))
    result = near - np.logaddexp.reduce(near, axis=axis, keepdims=True)
    return np.where(np.isneginf(scores), scores, result)


def softmax(scores, axis=-1):
    return np.exp(log_softmax(scores, axis))


def scaled_dot_product_attention(q, k, v, mask=None):
    q = in_floats(q)
    scores = q @ np.swapaxes(k, -1, -2) * (1 / q.shape[-1] ** 0.5)
    if mask is not None:
        with np.errstate(divide="ignore"):
            scores = scores + np.log(mask.astype(scores.dtype))
    weights = softmax(scores)
    return weights @ v, weights


def selections(d_model, n_heads, dtype):
    """(n_heads, d_model, d_head): x @ selections[h] are the features of head h."""
    return np.swapaxes(np.eye(d_model, dtype=dtype).reshape(n_heads, d_model // n_heads, d_model), 1, 2)


def split_heads(x, n_heads):
    d_model = x.shape[-1]
    if d_model // n_heads * n_heads != d_model:
        raise ValueError("d_model is not a multiple of n_heads")
    return x[..., None, :, :] @ selections(d_model, n_heads, x.dtype)


def merge_heads(x):
    n_heads, _, d_head = x.shape[-3:]
    return (x @ np.swapaxes(selections(n_heads * d_head, n_heads, x.dtype), 1, 2)).sum(axis=-3, dtype=x.dtype)


def multi_head_attention(x, params, n_heads, mask=None):
    x = in_floats(x)
    total = np.zeros_like(x)
    for chosen in selections(x.shape[-1], n_heads, x.dtype):
        q, k, v = (x @ (params[name] @ chosen) for name in ("w_q", "w_k", "w_v"))
        total = total + scaled_dot_product_attention(q, k, v, mask)[0] @ (chosen.T @ params["w_o"])
    return total
