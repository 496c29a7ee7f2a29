"""Exact: extended precision and math.fsum, one query at a time, over visible keys only."""

import math

import numpy as np


def rounded(value, like):
    return value.astype(like.dtype if like.dtype.kind == "f" else np.float64)


def softmax(scores, axis=-1):
    def one_slice(values):
        finite = np.flatnonzero(values > -np.inf)
        out = np.zeros(len(values), np.longdouble)
        if finite.size:
            e = np.exp(values[finite] - values[finite].max())
            out[finite] = e / math.fsum(e)
        return out

    return rounded(np.apply_along_axis(one_slice, axis, scores.astype(np.longdouble)), scores)


def scaled_dot_product_attention(q, k, v, mask=None):
    shape = (*q.shape[:-1], k.shape[-2])
    visible = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape)
    weights = np.zeros(shape, np.longdouble)
    output = np.zeros((*q.shape[:-1], v.shape[-1]), np.longdouble)
    for *lead, query in np.ndindex(*q.shape[:-1]):
        here = (*lead, query)
        keys = np.nonzero(visible[here])[0]
        if len(keys) == 0:
            continue
        scores = k[(*lead, keys)].astype(np.longdouble) @ q[here] / np.sqrt(np.longdouble(q.shape[-1]))
        e = np.exp(scores - scores.max())
        weights[(*here, keys)] = e / e.sum()
        output[here] = weights[(*here, keys)] @ v[(*lead, keys)]
    return rounded(output, v), rounded(weights, q)


def split_heads(x, n_heads):
    d_model = x.shape[-1]
    if math.gcd(d_model, n_heads) != n_heads:
        raise ValueError(f"{n_heads} is not a divisor of {d_model}")
    heads = np.array_split(x, n_heads, axis=-1)
    return np.concatenate([head[..., np.newaxis, :, :] for head in heads], axis=-3)


def merge_heads(x):
    n = x.ndim
    order = [*range(n - 3), n - 2, n - 3, n - 1]
    return x.transpose(order).reshape(*x.shape[:-3], x.shape[-2], -1)


def multi_head_attention(x, params, n_heads, mask=None):
    wide = {name: matrix.astype(np.longdouble) for name, matrix in params.items()}
    q, k, v = (split_heads(x @ wide[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    spread = None if mask is None else mask.reshape(*mask.shape[:-2], 1, *mask.shape[-2:])
    heads, _ = scaled_dot_product_attention(q, k, v, spread)
    return rounded(merge_heads(heads) @ wide["w_o"], x)
