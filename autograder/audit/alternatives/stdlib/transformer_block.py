"""Standard library: operator and functools with functions of other modules, gradients with math.dist and fsum."""

import importlib
import math
from operator import add, methodcaller

import numpy as np

layernorm = importlib.import_module("layernorm")
attention = importlib.import_module("scaled_attention")


def float_type(x):
    return np.float32 if x.dtype == np.float32 else np.float64


def dense(rows, w, b):
    columns = list(zip(*w.tolist()))
    return [
        [math.fsum([u * v for u, v in zip(row, c)] + [bias]) for c, bias in zip(columns, b.tolist())] for row in rows
    ]


def feed_forward(x, params):
    rows = x.reshape(-1, x.shape[-1]).tolist()
    hidden = [[max(value, 0.0) for value in row] for row in dense(rows, params["w_1"], params["b_1"])]
    return np.array(dense(hidden, params["w_2"], params["b_2"]), float_type(x)).reshape(x.shape)


def residual(x, sublayer):
    to_float = methodcaller("astype", float_type(x))
    return add(*map(to_float, (x, sublayer(x))))


def pre_norm_block(x, params, n_heads, mask=None):
    normed = layernorm.layer_norm(x, params["ln_1"]["gamma"], params["ln_1"]["beta"])
    h = add(x, attention.multi_head_attention(normed, params["attention"], n_heads, mask=mask))
    normed = layernorm.layer_norm(h, params["ln_2"]["gamma"], params["ln_2"]["beta"])
    return add(h, feed_forward(normed, params["ffn"]))


def post_norm_block(x, params, n_heads, mask=None):
    h = add(x, attention.multi_head_attention(x, params["attention"], n_heads, mask=mask))
    h = layernorm.layer_norm(h, params["ln_1"]["gamma"], params["ln_1"]["beta"])
    h = add(h, feed_forward(h, params["ffn"]))
    return layernorm.layer_norm(h, params["ln_2"]["gamma"], params["ln_2"]["beta"])


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    try:
        block = {"pre": pre_norm_block, "post": post_norm_block}[norm]
    except KeyError:
        raise ValueError(f"{norm!r} is not 'pre' or 'post'") from None
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    grad = grad_out.tolist()
    origin = [0.0] * len(grad)
    norms = [math.dist(grad, origin)]
    for jacobian in reversed(jacobians.tolist()):
        columns = zip(*jacobian)
        through = [math.fsum(slope * g for slope, g in zip(column, grad)) for column in columns]
        grad = [a + b for a, b in zip(grad, through)] if residual else through
        norms.append(math.dist(grad, origin))
    return np.array(norms[::-1], float_type(grad_out))
