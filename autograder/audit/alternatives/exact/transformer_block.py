"""Exact: whole blocks in extended precision without other modules, rounded once at the end."""

import numpy as np


def extended(value):
    if isinstance(value, dict):
        return {name: extended(entry) for name, entry in value.items()}
    return value.astype(np.longdouble)


def rounded(value, like):
    return value.astype(like.dtype if like.dtype.kind == "f" else np.float64)


def norm(x, gamma, beta):
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.longdouble(1e-5)) + beta


def attention(x, params, n_heads, mask):
    d_head = x.shape[-1] // n_heads
    q, k, v = x @ params["w_q"], x @ params["w_k"], x @ params["w_v"]
    heads = []
    for head in range(n_heads):
        part = np.s_[..., head * d_head : (head + 1) * d_head]
        scores = q[part] @ np.swapaxes(k[part], -1, -2) / np.sqrt(np.longdouble(d_head))
        seen = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
        highest = scores.max(axis=-1, keepdims=True, where=seen, initial=-np.inf)
        e = np.exp(scores - highest, where=seen, out=np.zeros_like(scores))
        weights = np.divide(e, e.sum(axis=-1, keepdims=True), where=seen, out=np.zeros_like(e))
        heads.append(weights @ v[part])
    return np.concatenate(heads, axis=-1) @ params["w_o"]


def ffn(x, params):
    hidden = x @ params["w_1"] + params["b_1"]
    return np.where(hidden < 0, np.longdouble(0), hidden) @ params["w_2"] + params["b_2"]


def pre(x, p, n_heads, mask):
    h = x + attention(norm(x, **p["ln_1"]), p["attention"], n_heads, mask)
    return h + ffn(norm(h, **p["ln_2"]), p["ffn"])


def post(x, p, n_heads, mask):
    h = norm(x + attention(x, p["attention"], n_heads, mask), **p["ln_1"])
    return norm(h + ffn(h, p["ffn"]), **p["ln_2"])


def feed_forward(x, params):
    return rounded(ffn(extended(x), extended(params)), x)


def residual(x, sublayer):
    return rounded(extended(x) + extended(sublayer(x.copy())), x)


def pre_norm_block(x, params, n_heads, mask=None):
    return rounded(pre(extended(x), extended(params), n_heads, mask), x)


def post_norm_block(x, params, n_heads, mask=None):
    return rounded(post(extended(x), extended(params), n_heads, mask), x)


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm == "pre":
        block = pre
    elif norm == "post":
        block = post
    else:
        raise ValueError(f"a norm that is {norm!r} does not exist")
    h = extended(x)
    for params in blocks:
        h = block(h, extended(params), n_heads, mask)
    return rounded(h, x)


def gradient_flow(jacobians, grad_out, residual=True):
    """Reverse accumulation: row l of the result is the norm of (I + J_l)^T ... (I + J_L)^T grad_out."""
    skip = np.longdouble(residual)
    norms = np.empty(len(jacobians) + 1, np.longdouble)
    grad = extended(grad_out)
    for layer in range(len(jacobians), 0, -1):
        norms[layer] = np.sqrt(np.sum(grad * grad))
        grad = skip * grad + np.sum(extended(jacobians[layer - 1]) * grad[:, np.newaxis], axis=0)
    norms[0] = np.sqrt(np.sum(grad * grad))
    return rounded(norms, grad_out)
