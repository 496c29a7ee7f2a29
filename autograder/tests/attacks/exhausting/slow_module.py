"""Is wrong, and takes its time, so that none is left for another module."""

import time

MODULES = ("layernorm", "causal_mask")
EXTRA_REFERENCE = ("causal_mask",)
EARNS = 14  # causal_mask is right


def layer_norm(x, *_, **__):
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    return x
