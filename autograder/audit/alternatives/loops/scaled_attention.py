"""Pure Python loops: dot products by sum and zip, attention query by query, heads feature by feature."""

import math

import numpy as np


def float_type(x):
    return x.dtype if x.dtype.kind == "f" else np.float64


def softmax_list(values):
    top = max(values)
    if top == -math.inf:
        return [0.0] * len(values)
    e = [math.exp(value - top) for value in values]
    total = sum(e)
    return [value / total for value in e]


def matmul(a, b):
    columns = list(zip(*b))
    return [[sum(u * w for u, w in zip(row, column)) for column in columns] for row in a]


def attend(q, k, v, mask):
    output, weights = [], []
    for i, query in enumerate(q):
        scores = []
        for j, key in enumerate(k):
            dot = sum(a * b for a, b in zip(query, key))
            scores.append(dot / math.sqrt(len(query)) if mask[i][j] else -math.inf)
        weights.append(softmax_list(scores))
        output.append([sum(w * value[c] for w, value in zip(weights[-1], v)) for c in range(len(v[0]))])
    return output, weights


def softmax(scores, axis=-1):
    moved = np.moveaxis(scores, axis, -1)
    lists = [softmax_list(row) for row in moved.reshape(-1, moved.shape[-1]).tolist()]
    return np.moveaxis(np.array(lists, float_type(scores)).reshape(moved.shape), -1, axis)


def scaled_dot_product_attention(q, k, v, mask=None):
    leading, t_q, t_k = q.shape[:-2], q.shape[-2], k.shape[-2]
    visible = np.broadcast_to(True if mask is None else mask, (*leading, t_q, t_k))
    output = np.zeros((*leading, t_q, v.shape[-1]), float_type(q))
    weights = np.zeros((*leading, t_q, t_k), float_type(q))
    for index in np.ndindex(*leading):
        output[index], weights[index] = attend(*(a[index].tolist() for a in (q, k, v, visible)))
    return output, weights


def split_heads(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    d_head = d_model // n_heads
    out = np.zeros((*leading, n_heads, t, d_head), x.dtype)
    for feature in range(d_model):
        out[..., feature // d_head, :, feature % d_head] = x[..., feature]
    return out


def merge_heads(x):
    *leading, n_heads, t, d_head = x.shape
    out = np.zeros((*leading, t, n_heads * d_head), x.dtype)
    for head in range(n_heads):
        for feature in range(d_head):
            out[..., head * d_head + feature] = x[..., head, :, feature]
    return out


def multi_head_attention(x, params, n_heads, mask=None):
    *leading, t, d_model = x.shape
    d_head = d_model // n_heads
    w = {name: matrix.tolist() for name, matrix in params.items()}
    visible = np.broadcast_to(True if mask is None else mask, (*leading, t, t))
    out = np.zeros(x.shape, float_type(x))
    for index in np.ndindex(*leading):
        q, k, v = (matmul(x[index].tolist(), w[name]) for name in ("w_q", "w_k", "w_v"))
        merged = [[] for _ in range(t)]
        for start in range(0, d_model, d_head):
            head = [[row[start : start + d_head] for row in a] for a in (q, k, v)]
            for row, part in zip(merged, attend(*head, visible[index].tolist())[0]):
                row.extend(part)
        out[index] = matmul(merged, w["w_o"])
    return out
