"""Less common NumPy: ufunc.accumulate over an object array of matrices, np.apply_along_axis for the network."""

import numpy as np

from layernorm import layer_norm
from scaled_attention import multi_head_attention


def floats(x):
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)


def feed_forward(x, params):
    def one_token(token):
        hidden = np.fmax(np.dot(token, params["w_1"]) + params["b_1"], 0)
        return np.dot(hidden, params["w_2"]) + params["b_2"]

    return np.apply_along_axis(one_token, -1, floats(x))


def residual(x, sublayer):
    return np.add.reduce([floats(x), floats(sublayer(x))])


def pre_norm_block(x, params, n_heads, mask=None):
    h = residual(x, lambda y: multi_head_attention(layer_norm(y, **params["ln_1"]), params["attention"], n_heads, mask))
    np.add(h, feed_forward(layer_norm(h, **params["ln_2"]), params["ffn"]), out=h)
    return h


def post_norm_block(x, params, n_heads, mask=None):
    h = floats(x).copy()
    h += multi_head_attention(x, params["attention"], n_heads, mask)
    h[...] = layer_norm(h, **params["ln_1"])
    h += feed_forward(h, params["ffn"])
    h[...] = layer_norm(h, **params["ln_2"])
    return h


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    choice = np.flatnonzero([norm == "pre", norm == "post"])
    if choice.size == 0:
        raise ValueError(f"norm: {norm}")
    for params in blocks:
        x = (pre_norm_block, post_norm_block)[choice[0]](x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    n_layers = jacobians.shape[0]
    steps = floats(jacobians).copy()
    if residual:
        np.einsum("lii->li", steps)[...] += 1
    chain = np.empty(n_layers + 1, dtype=object)
    chain[0] = floats(grad_out)[np.newaxis]
    chain[1:] = list(steps[::-1])
    grads = np.frompyfunc(np.matmul, 2, 1).accumulate(chain)
    return np.linalg.norm(np.vstack(grads), axis=1)[::-1]
