"""Also accepted: the argument returned for an empty stack, a reversed read-only view of the norms, prints."""

import sys

import numpy as np

import layernorm as norms
import scaled_attention as sa


def feed_forward(x, params):
    print("feed_forward of", x.shape, file=sys.stderr)
    h = x * 1.0 @ params["w_1"]
    h += params["b_1"]
    h[h < 0] = 0
    y = h @ params["w_2"]
    y += params["b_2"]
    return y


def residual(x, sublayer):
    y = sublayer(x)
    return np.add(x, y, dtype=np.result_type(x, y, 0.0))


def pre_norm_block(x, params, n_heads, mask=None):
    y = norms.layer_norm(x=x, **params["ln_1"])
    h = x + sa.multi_head_attention(x=y, params=params["attention"], n_heads=n_heads, mask=mask)
    y = norms.layer_norm(x=h, **params["ln_2"])
    return h + feed_forward(y, params["ffn"])


def post_norm_block(x, params, n_heads, mask=None):
    y = sa.multi_head_attention(x=x, params=params["attention"], n_heads=n_heads, mask=mask)
    h = norms.layer_norm(x=x + y, **params["ln_1"])
    return norms.layer_norm(x=h + feed_forward(h, params["ffn"]), **params["ln_2"])


def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    print("stack of", len(blocks), "blocks")
    if norm not in ("pre", "post"):
        raise ValueError(norm, "is not known")
    block = {"pre": pre_norm_block, "post": post_norm_block}[norm]
    for params in blocks:
        x = block(x, params, n_heads, mask)
    return x


def gradient_flow(jacobians, grad_out, residual=True):
    grad = grad_out * 1.0
    grads = [grad]
    for matrix in jacobians[::-1]:
        grad = np.array(matrix.T @ grad if not residual else matrix.T @ grad + grad)
        grads.append(grad)
    norms_from_the_output = np.linalg.norm(grads, axis=1)
    norms_from_the_output.setflags(write=False)
    return norms_from_the_output[::-1]
