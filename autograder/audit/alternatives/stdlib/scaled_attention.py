"""Standard library: itertools, operator and math on nested lists, with recursion over the axes."""

import math
from itertools import chain
from operator import mul

import numpy as np


def float_type(x):
    return np.float32 if x.dtype == np.float32 else np.float64


def dot(a, b):
    return math.fsum(map(mul, a, b))


def transpose(matrix):
    return list(zip(*matrix))


def matmul(a, b):
    columns = transpose(b)
    return [[dot(row, column) for column in columns] for row in a]


def soft(values):
    top = max(values)
    if math.isinf(top):
        return [0.0 for _ in values]
    e = [math.exp(value - top) for value in values]
    return [value / math.fsum(e) for value in e]


def attend(q, k, v, seen):
    scale = 1 / math.sqrt(len(q[0]))
    scores = [[s * scale if m else -math.inf for s, m in zip(*line)] for line in zip(matmul(q, transpose(k)), seen)]
    weights = list(map(soft, scores))
    return matmul(weights, v), weights


def softmax(scores, axis=-1):
    last = scores.swapaxes(axis, -1)
    flat = last.astype(float).reshape(-1, last.shape[-1]).tolist()
    values = np.fromiter(chain.from_iterable(map(soft, flat)), float_type(scores))
    return values.reshape(last.shape).swapaxes(axis, -1)


def scaled_dot_product_attention(q, k, v, mask=None):
    seen = np.broadcast_to(np.array(True) if mask is None else mask, (*q.shape[:-1], k.shape[-2]))

    def deep(q, k, v, seen, depth):
        if depth == 0:
            return attend(q, k, v, seen)
        return transpose([deep(*parts, depth - 1) for parts in zip(q, k, v, seen)])

    result = deep(q.tolist(), k.tolist(), v.tolist(), seen.tolist(), q.ndim - 2)
    return tuple(np.array(part, float_type(q)) for part in result)


def split_heads(x, n_heads):
    d_head = math.floor(x.shape[-1] / n_heads)
    if d_head * n_heads != x.shape[-1]:
        raise ValueError(f"{x.shape[-1]} / {n_heads} is not a whole number")
    starts = [head * d_head for head in range(n_heads)]

    def deep(values, depth):
        if depth == 0:
            return [[row[start : start + d_head] for row in values] for start in starts]
        return [deep(value, depth - 1) for value in values]

    return np.array(deep(x.tolist(), x.ndim - 2), x.dtype)


def merge_heads(x):
    def deep(values, depth):
        if depth == 0:
            return [list(chain(*parts)) for parts in zip(*values)]
        return [deep(value, depth - 1) for value in values]

    return np.array(deep(x.tolist(), x.ndim - 3), x.dtype)


def multi_head_attention(x, params, n_heads, mask=None):
    t, d_model = x.shape[-2:]
    seen = np.broadcast_to(np.array(True) if mask is None else mask, (*x.shape[:-1], t))
    d_head = d_model // n_heads
    w_q, w_k, w_v, w_o = (params[name].tolist() for name in ("w_q", "w_k", "w_v", "w_o"))

    def deep(values, seen, depth):
        if depth:
            return [deep(*parts, depth - 1) for parts in zip(values, seen)]
        heads = []
        for columns in (slice(start, start + d_head) for start in range(0, d_model, d_head)):
            q, k, v = (matmul(values, [row[columns] for row in w]) for w in (w_q, w_k, w_v))
            heads.append(attend(q, k, v, seen)[0])
        return matmul([list(chain(*parts)) for parts in zip(*heads)], w_o)

    return np.array(deep(x.tolist(), seen.tolist(), x.ndim - 2), float_type(x))
