"""Is as large as an upload may be, and has processes started: a copy for each would fill a small file system in the memory."""

import os

MODULES = ("layernorm", "transformer_block", "decoder")
REST = """
from layernorm import *

feed_forward = residual = pre_norm_block = post_norm_block = transformer_stack = gradient_flow = embed = layer_norm
positional_encoding = decoder_logits = sequence_log_prob = generate = layer_norm
"""
EXTRA = {"transformer_block.py": REST, "decoder.py": REST, "table.csv": "0" * 19_800_000}

calls = 0


def layer_norm(*_, **__):
    global calls
    calls += 1
    if calls % 10 == 0:
        os._exit(1)
    return 0


rms_norm = layer_norm_backward = layer_norm
