"""Self-contained: its own layer norm and attention, with all heads as one more axis of a matmul."""

from __future__ import annotations

import numpy as np


def _norm(x, p):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return p["gamma"] * (x - mean) / np.sqrt(var + 1e-5) + p["beta"]


def _attention(x, p, n_heads, mask):
    *lead, t, d = x.shape
    q, k, v = ((x * 1.0 @ p[w]).reshape(*lead, t, n_heads, -1).swapaxes(-3, -2) for w in ("w_q", "w_k", "w_v"))
    scores = q @ k.swapaxes(-2, -1) * (n_heads / d) ** 0.5
    if mask is not None:
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.maximum(top, -1e30))
    weights = e / np.maximum(e.sum(-1, keepdims=True), 1e-30)
    return (weights @ v).swapaxes(-3, -2).reshape(*lead, t, d) @ p["w_o"]


def feed_forward(x, params):
    hidden = x * 1.0 @ params["w_1"] + params["b_1"]
    return np.clip(hidden, 0, None) @ params["w_2"] + params["b_2"]


def residual(x, sublayer):
    return sublayer(x) + x * 1.0


def pre_norm_block(x, params, n_heads, mask=None):
    h = residual(x, lambda y: _attention(_norm(y, params["ln_1"]), params["attention"], n_heads, mask))
    return residual(h, lambda y: feed_forward(_norm(y, params["ln_2"]), params["ffn"]))


def post_norm_block(x, params, n_heads, mask=None):
    h = _norm(residual(x, lambda y: _attention(y, params["attention"], n_heads, mask)), params["ln_1"])
    return _norm(residual(h, lambda y: feed_forward(y, params["ffn"])), params["ln_2"])


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError(f"blocks of kind {norm!r} are not known")
    remaining = list(blocks)
    while remaining:
        params = remaining.pop(0)
        x = (pre_norm_block if norm == "pre" else post_norm_block)(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    jacobians = jacobians * 1.0
    if residual:
        jacobians = jacobians + np.identity(len(grad_out), jacobians.dtype)
    norms = np.zeros(len(jacobians) + 1, jacobians.dtype)
    grad = grad_out
    norms[-1] = np.linalg.norm(grad)
    for i, jacobian in enumerate(jacobians[::-1], start=2):
        grad = np.dot(grad, jacobian)
        norms[-i] = np.linalg.norm(grad)
    return norms
