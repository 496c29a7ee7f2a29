"""Asks its neighbours with small arrays whose axes stand crosswise: broadcast, they would fill the grader's memory."""

import numpy as np

import layernorm
import scaled_attention

MODULE = "transformer_block"


def crosswise():
    a, b = np.ones((64, 1, 128, 1)), np.ones((1, 64, 1, 128))
    q, k = np.ones((90, 1, 90, 1)), np.ones((1, 90, 90, 1))
    for ask in (
        lambda: layernorm.layer_norm(a, b, b),
        lambda: layernorm.rms_norm(a, b),
        lambda: layernorm.layer_norm_backward(a, b, b),
        lambda: scaled_attention.scaled_dot_product_attention(q, k, k),
        lambda: scaled_attention.scaled_dot_product_attention(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), a > b[..., :1]),
        lambda: scaled_attention.multi_head_attention(a, {n: b for n in ("w_q", "w_k", "w_v", "w_o")}, 1),
        lambda: scaled_attention.softmax(np.ones((1,) * 15 + (512,)), axis=2**40),
        lambda: scaled_attention.split_heads(np.ones((8, 512)), 10**9),
        lambda: scaled_attention.split_heads(np.ones((0, 512)), 0),
        lambda: scaled_attention.softmax(np.full((3, 3), 2**63, np.uint64)),
        lambda: scaled_attention.softmax([[["x"] * 9] * 9] * 9),
        lambda: scaled_attention.softmax({"a": {}}),
        lambda: scaled_attention.softmax(scores=scaled_attention.softmax),
        lambda: scaled_attention.softmax(np.ones(3), *[1] * 400),
        lambda: scaled_attention.softmax(**{f"x{i}": 1 for i in range(400)}),
    ):
        try:
            result = ask()
        except Exception:
            continue
        if np.size(result) > 10**6:
            raise RuntimeError(f"SUCCEEDED: {np.shape(result)}")


def feed_forward(x, params):
    crosswise()
    return x


residual = pre_norm_block = post_norm_block = transformer_stack = gradient_flow = feed_forward
