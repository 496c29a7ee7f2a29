"""Einstein sums: feed-forward network and gradients by contraction, functions imported by name."""

import numpy as np

from layernorm import as_float, layer_norm
from scaled_attention import multi_head_attention


def feed_forward(x, params):
    hidden = np.einsum("...d,dh->...h", as_float(x), params["w_1"]) + params["b_1"]
    return np.einsum("...h,hd->...d", np.where(hidden > 0, hidden, 0), params["w_2"]) + params["b_2"]


def residual(x, sublayer):
    return as_float(x) + sublayer(x)


def normed(x, params):
    return layer_norm(x, params["gamma"], params["beta"])


def pre_norm_block(x, params, n_heads, mask=None):
    h = x + multi_head_attention(normed(x, params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(normed(h, params["ln_2"]), params["ffn"])


def post_norm_block(x, params, n_heads, mask=None):
    h = normed(x + multi_head_attention(x, params["attention"], n_heads, mask), params["ln_1"])
    return normed(h + feed_forward(h, params["ffn"]), params["ln_2"])


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm == "pre":
        block = pre_norm_block
    elif norm == "post":
        block = post_norm_block
    else:
        raise ValueError(f"unknown norm {norm!r}")
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    n_layers, d, _ = jacobians.shape
    steps = as_float(jacobians)
    if residual:
        steps = steps + np.eye(d, dtype=steps.dtype)
    grads = np.zeros((n_layers + 1, d), steps.dtype)
    grads[-1] = grad_out
    for layer in range(n_layers - 1, -1, -1):
        grads[layer] = np.einsum("i,ij->j", grads[layer + 1], steps[layer])
    return np.sqrt(np.einsum("ld,ld->l", grads, grads))
