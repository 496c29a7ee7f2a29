"""Calls its dependencies with what takes far more memory than the arguments: many heads, crossed axes, long sequences."""

import numpy as np

import scaled_attention

MODULE = "transformer_block"


def ask():
    wide = {name: np.ones((64, 64)) for name in ("w_q", "w_k", "w_v", "w_o")}
    for attempt in (
        lambda: scaled_attention.multi_head_attention(np.ones((1024, 64)), wide, 64),
        lambda: scaled_attention.scaled_dot_product_attention(*[np.ones((900, 1, 90, 1)), np.ones((1, 900, 90, 1))] * 2),
        lambda: scaled_attention.scaled_dot_product_attention(*[np.ones((30_000, 1))] * 3),
        lambda: scaled_attention.softmax(np.ones((1, 100_000)) * np.ones((1, 1))),
    ):
        for _ in range(3):
            try:
                attempt()
            except Exception:
                pass


def feed_forward(x, params):
    ask()
    return x


residual = pre_norm_block = post_norm_block = transformer_stack = gradient_flow = feed_forward
