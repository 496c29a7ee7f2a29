"""Float64 inside: blocks convert all their parameters, so other modules see only float64."""

import numpy as np
from my_helpers import in_float64

from layernorm import layer_norm
from scaled_attention import multi_head_attention


@in_float64
def feed_forward(x, params):
    hidden = np.dot(x.astype(np.float64), params["w_1"]) + params["b_1"]
    hidden[hidden < 0] = 0
    return np.dot(hidden, params["w_2"]) + params["b_2"]


def residual(x, sublayer):
    total = np.add(x, sublayer(x), dtype=np.float64)
    return total.astype(x.dtype) if x.dtype.kind == "f" else total


@in_float64
def pre_norm_block(x, params, n_heads, mask=None):
    h = residual(x, lambda y: multi_head_attention(layer_norm(y, **params["ln_1"]), params["attention"], n_heads, mask))
    return residual(h, lambda y: feed_forward(layer_norm(y, **params["ln_2"]), params["ffn"]))


@in_float64
def post_norm_block(x, params, n_heads, mask=None):
    h = residual(x, lambda y: multi_head_attention(y, params["attention"], n_heads, mask))
    h = layer_norm(h, **params["ln_1"])
    h = residual(h, lambda y: feed_forward(y, params["ffn"]))
    return layer_norm(h, **params["ln_2"])


@in_float64
def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm == "pre":
        for params in blocks:
            x = pre_norm_block(x, params, n_heads, mask)
    elif norm == "post":
        for params in blocks:
            x = post_norm_block(x, params, n_heads, mask)
    else:
        raise ValueError(f"norm can be 'pre' or 'post', but it is {norm!r}")
    return x


@in_float64
def gradient_flow(jacobians, grad_out, residual=True):
    grad = grad_out.astype(np.float64)
    norms = np.zeros(len(jacobians) + 1)
    norms[-1] = np.sqrt(np.dot(grad, grad))
    for layer in reversed(range(len(jacobians))):
        through = jacobians[layer].T @ grad
        grad = grad + through if residual else through
        norms[layer] = np.sqrt(np.dot(grad, grad))
    return norms
