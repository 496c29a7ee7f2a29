"""Calls its dependencies with what takes very long: hundreds of blocks on long sequences."""

import numpy as np

import transformer_block

MODULE = "decoder"
D = 8


def ask():
    square, vector = np.ones((D, D)), np.ones(D)
    norm = {"gamma": vector, "beta": vector}
    attention = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), square)
    block = {"ln_1": norm, "ln_2": norm, "attention": attention, "ffn": {"w_1": square, "b_1": vector, "w_2": square, "b_2": vector}}
    for _ in range(100):
        try:
            transformer_block.transformer_stack(np.ones((400, D)), [block] * 200, D)
        except Exception:
            pass


def positional_encoding(t, d_model):
    ask()


embed = decoder_logits = sequence_log_prob = generate = positional_encoding
