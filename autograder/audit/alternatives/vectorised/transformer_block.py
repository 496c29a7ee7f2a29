"""Compact broadcasting: `import layernorm as ln`, a star import, and a block as two residual steps."""

# ruff: noqa: F403, F405
import numpy as np

import layernorm as ln
from scaled_attention import *


def feed_forward(x, params):
    return np.maximum(x * 1.0 @ params["w_1"] + params["b_1"], 0) @ params["w_2"] + params["b_2"]


def residual(x, sublayer):
    return x * 1.0 + sublayer(x)


def pre_norm_block(x, params, n_heads, mask=None):
    h = x + multi_head_attention(ln.layer_norm(x, **params["ln_1"]), params["attention"], n_heads, mask)
    return h + feed_forward(ln.layer_norm(h, **params["ln_2"]), params["ffn"])


def post_norm_block(x, params, n_heads, mask=None):
    h = ln.layer_norm(x + multi_head_attention(x, params["attention"], n_heads, mask), **params["ln_1"])
    return ln.layer_norm(h + feed_forward(h, params["ffn"]), **params["ln_2"])


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError(f"norm is 'pre' or 'post', not {norm!r}")
    for params in blocks:
        x = pre_norm_block(x, params, n_heads, mask) if norm == "pre" else post_norm_block(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    grads = [grad_out * 1.0]
    for jacobian in jacobians[::-1]:
        grads.append(grads[-1] @ jacobian + residual * grads[-1])
    return np.sqrt(np.square(grads[::-1]).sum(1))
