"""Importing: module aliases, getattr, functools.partial on an imported function, an imported constant."""

from functools import partial

import numpy as np
from utils import choose, floats

import layernorm as ln
import scaled_attention as sa

attend = sa.multi_head_attention


def normed(params, which):
    return partial(ln.layer_norm, **params[which], eps=ln.EPS)


def feed_forward(x, params):
    hidden = np.matmul(floats(x), params["w_1"]) + params["b_1"]
    return np.matmul(np.maximum(hidden, np.zeros_like(hidden)), params["w_2"]) + params["b_2"]


def residual(x, sublayer):
    return floats(x) + floats(sublayer(x))


def pre_norm_block(x, params, n_heads, mask=None):
    attention = partial(attend, params=params["attention"], n_heads=n_heads, mask=mask)
    h = residual(x, lambda y: attention(normed(params, "ln_1")(y)))
    return residual(h, lambda y: feed_forward(normed(params, "ln_2")(y), params["ffn"]))


def post_norm_block(x, params, n_heads, mask=None):
    attention = getattr(sa, "multi_head_attention")  # noqa: B009
    h = normed(params, "ln_1")(residual(x, lambda y: attention(y, params["attention"], n_heads, mask)))
    return normed(params, "ln_2")(residual(h, partial(feed_forward, params=params["ffn"])))


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    block = choose(norm, {"pre": pre_norm_block, "post": post_norm_block})
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    grads = np.empty((len(jacobians) + 1, len(grad_out)), floats(jacobians).dtype)
    grads[-1] = grad_out
    for layer in range(len(jacobians))[::-1]:
        np.matmul(jacobians[layer].T, grads[layer + 1], out=grads[layer])
        if residual:
            grads[layer] += grads[layer + 1]
    return np.sum(grads**2, axis=1) ** 0.5
