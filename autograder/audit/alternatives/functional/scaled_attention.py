"""Functional: attention by recursion over leading dimensions, heads by map, softmax from ratios of exponentials."""

import math

import numpy as np


def floats(x):
    return x.astype(np.result_type(x, 1.0))


def softmax(scores, axis=-1):
    """1 / sum over j of exp(s_j - s_i), which needs no maximum; overflow to infinity gives the right zero."""
    s = np.moveaxis(floats(scores), axis, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        ratios = np.exp(s[..., np.newaxis, :] - s[..., :, np.newaxis])
    result = np.where(np.isneginf(s), 0.0, 1 / np.sum(np.where(np.isnan(ratios), 0.0, ratios), axis=-1).clip(min=1))
    return np.moveaxis(result, -1, axis)


def scaled_dot_product_attention(q, k, v, mask=None):
    visible = np.broadcast_to(True if mask is None else mask, (*q.shape[:-1], k.shape[-2]))

    def attend(q, k, v, visible):
        if q.ndim > 2:
            outputs, weights = zip(*map(attend, q, k, v, visible))
            return np.stack(outputs), np.stack(weights)
        scores = np.where(visible, q @ k.T / math.sqrt(k.shape[1]), -math.inf)
        weights = softmax(scores)
        return weights @ v, weights

    return attend(floats(q), floats(k), floats(v), visible)


def split_heads(x, n_heads):
    match divmod(x.shape[-1], n_heads):
        case d_head, 0:
            return np.stack([x[..., start : start + d_head] for start in range(0, x.shape[-1], d_head)], axis=-3)
        case _:
            raise ValueError("the features cannot be shared out evenly")


def merge_heads(x):
    return np.concatenate([np.take(x, head, axis=-3) for head in range(x.shape[-3])], axis=-1)


def multi_head_attention(x, params, n_heads, mask=None):
    x = floats(x)
    heads = zip(*(np.split(x @ params[name], n_heads, axis=-1) for name in ("w_q", "w_k", "w_v")))
    outputs = map(lambda head: scaled_dot_product_attention(*head, mask)[0], heads)
    return sum(map(np.matmul, outputs, np.split(params["w_o"], n_heads)))
