"""Self-contained: keys are visited one by one, and softmax keeps a running maximum and sum."""

from __future__ import annotations

import numpy as np


def softmax(scores, axis=-1):
    scores = np.moveaxis(scores * 1.0, axis, 0)
    highest = np.full(scores.shape[1:], np.finfo(scores.dtype).min, scores.dtype)
    total = np.zeros(scores.shape[1:], scores.dtype)
    for line in scores:
        new = np.maximum(highest, line)
        total = total * np.exp(highest - new) + np.exp(line - new)
        highest = new
    weights = np.exp(scores - highest) / np.where(total == 0, np.ones_like(total), total)
    return np.moveaxis(weights, 0, axis)


def scaled_dot_product_attention(q, k, v, mask=None):
    t_k = k.shape[-2]
    q = q * 1.0 / q.shape[-1] ** 0.5
    shape = (*q.shape[:-1], t_k)
    visible = np.broadcast_to(True if mask is None else mask, shape)
    scores = np.empty(shape, q.dtype)
    for key in range(t_k):
        score = (q * k[..., key : key + 1, :]).sum(axis=-1)
        scores[..., key] = np.where(visible[..., key], score, -np.inf)
    weights = softmax(scores)
    output = sum(weights[..., key, np.newaxis] * v[..., key : key + 1, :] for key in range(t_k))
    return output, weights


def split_heads(x, n_heads):
    *lead, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"d_model {d_model} has no {n_heads} equal parts")
    heads = np.empty((*lead, n_heads, t, d_model // n_heads), dtype=x.dtype)
    for head, part in enumerate(np.split(x, n_heads, axis=-1)):
        heads[..., head, :, :] = part
    return heads


def merge_heads(x):
    return np.dstack(list(np.moveaxis(x, -3, 0).reshape(x.shape[-3], -1, *x.shape[-2:]))).reshape(
        *x.shape[:-3], x.shape[-2], -1
    )


def multi_head_attention(x, params, n_heads, mask=None):
    q, k, v = (split_heads(np.dot(x * 1.0, params[f"w_{letter}"]), n_heads) for letter in "qkv")
    for_all_heads = mask if mask is None else mask.reshape(*mask.shape[:-2], 1, *mask.shape[-2:])
    return np.dot(merge_heads(scaled_dot_product_attention(q, k, v, for_all_heads)[0]), params["w_o"])
