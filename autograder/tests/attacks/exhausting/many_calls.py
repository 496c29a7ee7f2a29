"""Calls its dependency, and a callback argument, for ever."""

import numpy as np

from layernorm import layer_norm

MODULE = "transformer_block"


def feed_forward(x, params):
    number = 0
    while True:
        number += 1
        try:
            layer_norm(np.full((16, 16), number), np.ones(16), np.ones(16))
        except Exception:
            pass


def residual(x, sublayer):
    while True:
        sublayer(x)


pre_norm_block = post_norm_block = transformer_stack = gradient_flow = lambda *_, **__: None
