"""Leaves thousands of folders behind in each of many processes, which somebody must remove."""

import os

MODULES = ("layernorm", "scaled_attention", "causal_mask")
REST = """
from layernorm import *

softmax = scaled_dot_product_attention = split_heads = merge_heads = multi_head_attention = causal_mask = layer_norm
padding_mask = apply_mask = dependency_matrix = is_autoregressive = layer_norm
"""
EXTRA = {f"{name}.py": REST for name in ("scaled_attention", "causal_mask")}

try:
    for number in range(3_900):
        os.mkdir(str(number))
except OSError:
    pass


def layer_norm(*_, **__):
    os._exit(1)
