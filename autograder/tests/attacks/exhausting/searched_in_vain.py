"""Is wrong in every function in a new way at each call, so that the grader tries every two known mistakes of each of them."""

import numpy as np

MODULES = ("layernorm", "scaled_attention", "causal_mask", "transformer_block")
REST = """
from layernorm import *

softmax = scaled_dot_product_attention = split_heads = merge_heads = multi_head_attention = layer_norm
causal_mask = padding_mask = apply_mask = dependency_matrix = is_autoregressive = layer_norm
feed_forward = residual = pre_norm_block = post_norm_block = transformer_stack = gradient_flow = layer_norm
"""
EXTRA = {f"{name}.py": REST for name in ("scaled_attention", "causal_mask", "transformer_block")}

CALLS = []


def layer_norm(*arguments, **_):
    CALLS.append(len(CALLS))
    return np.asarray(arguments[0], dtype=float) + CALLS[-1]
