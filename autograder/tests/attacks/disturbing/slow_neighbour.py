"""Is right, but takes its time, so that who uses it has none left."""

import time

import numpy as np

MODULES = ("layernorm", "transformer_block")
EXTRA_REFERENCE = ("scaled_attention", "transformer_block")
EARNS = 23  # transformer_block is right, and its neighbours are too, but for functions that it does not use


def layer_norm(x, gamma, beta, eps=1e-5):
    end = time.process_time() + 0.03
    while time.process_time() < end:
        pass
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + beta
