"""Pure Python loops without other modules: token by token, feature by feature."""

import math

import numpy as np


def float_type(x):
    return x.dtype if x.dtype.kind == "f" else np.float64


def norm_rows(rows, params):
    gamma, beta = params["gamma"].tolist(), params["beta"].tolist()
    result = []
    for row in rows:
        mean = sum(row) / len(row)
        sigma = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + 1e-5)
        result.append([g * (value - mean) / sigma + b for value, g, b in zip(row, gamma, beta)])
    return result


def times(row, matrix):
    out = [0.0] * len(matrix[0])
    for value, weights in zip(row, matrix):
        for k, weight in enumerate(weights):
            out[k] += value * weight
    return out


def add(a, b):
    return [[u + v for u, v in zip(p, q)] for p, q in zip(a, b)]


def ffn_rows(rows, params):
    w_1, b_1, w_2, b_2 = (params[name].tolist() for name in ("w_1", "b_1", "w_2", "b_2"))
    result = []
    for row in rows:
        hidden = [max(0.0, h + b) for h, b in zip(times(row, w_1), b_1)]
        result.append([o + b for o, b in zip(times(hidden, w_2), b_2)])
    return result


def attention_rows(rows, params, n_heads, visible):
    w = {name: matrix.tolist() for name, matrix in params.items()}
    q, k, v = ([times(row, w[name]) for row in rows] for name in ("w_q", "w_k", "w_v"))
    d_head = len(rows[0]) // n_heads
    result = []
    for i in range(len(rows)):
        merged = []
        for start in range(0, n_heads * d_head, d_head):
            seen = [j for j in range(len(rows)) if visible[i][j]]
            features = range(start, start + d_head)
            scores = [sum(q[i][c] * k[j][c] for c in features) / math.sqrt(d_head) for j in seen]
            e = [math.exp(score - max(scores)) for score in scores]
            merged += [sum(p * v[j][c] for p, j in zip(e, seen)) / sum(e) if seen else 0.0 for c in features]
        result.append(times(merged, w["w_o"]))
    return result


def each_sequence(function, x, mask):
    *leading, t, _ = x.shape
    visible = np.broadcast_to(True if mask is None else mask, (*leading, t, t))
    out = np.zeros(x.shape, float_type(x))
    for index in np.ndindex(*leading):
        out[index] = function(x[index].tolist(), visible[index].tolist())
    return out


def feed_forward(x, params):
    return np.array(ffn_rows(x.reshape(-1, x.shape[-1]).tolist(), params), float_type(x)).reshape(x.shape)


def residual(x, sublayer):
    branch = sublayer(x)
    out = np.zeros(x.shape, float_type(x))
    for index in np.ndindex(*x.shape):
        out[index] = float(x[index]) + float(branch[index])
    return out


def pre_norm_block(x, params, n_heads, mask=None):
    def block(rows, visible):
        h = add(rows, attention_rows(norm_rows(rows, params["ln_1"]), params["attention"], n_heads, visible))
        return add(h, ffn_rows(norm_rows(h, params["ln_2"]), params["ffn"]))

    return each_sequence(block, x, mask)


def post_norm_block(x, params, n_heads, mask=None):
    def block(rows, visible):
        h = norm_rows(add(rows, attention_rows(rows, params["attention"], n_heads, visible)), params["ln_1"])
        return norm_rows(add(h, ffn_rows(h, params["ffn"])), params["ln_2"])

    return each_sequence(block, x, mask)


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ["pre", "post"]:
        raise ValueError("norm must be pre or post")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    grad = grad_out.tolist()
    norms = [math.sqrt(sum(g * g for g in grad))]
    for jacobian in reversed(jacobians.tolist()):
        before = list(grad) if residual else [0.0] * len(grad)
        for i, row in enumerate(jacobian):
            for j, slope in enumerate(row):
                before[j] += slope * grad[i]
        grad = before
        norms.append(math.sqrt(sum(g * g for g in grad)))
    norms.reverse()
    return np.array(norms, float_type(jacobians))
