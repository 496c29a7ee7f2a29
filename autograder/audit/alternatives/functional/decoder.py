"""Functional: positions by the angle-addition theorem as a running product, generation by recursion."""

from functools import reduce
from itertools import accumulate, repeat

import numpy as np


def positional_encoding(t, d_model):
    match d_model % 2:
        case 1:
            raise ValueError("sines and cosines come in pairs")
    angles = np.array([10000.0 ** (-i / d_model) for i in range(0, d_model, 2)])
    turn = np.cos(angles) + 1j * np.sin(angles)
    points = accumulate(repeat(turn, t - 1), np.multiply, initial=np.ones_like(turn))
    return np.array([[part for z in row for part in (z.imag, z.real)] for row in points])


def embed(tokens, table):
    def look_up(token):
        if token in range(len(table)):
            return table[token]
        raise ValueError(f"{token} is not a token")

    return np.stack(list(map(look_up, tokens.tolist())))


def decoder_logits(tokens, params, n_heads):
    from causal_mask import causal_mask
    from transformer_block import pre_norm_block

    mask = causal_mask(len(tokens))
    embedded = embed(tokens, params["embedding"])
    embedded = embedded.astype(np.result_type(embedded, 1.0))
    start = embedded + positional_encoding(*embedded.shape).astype(embedded.dtype)
    end = reduce(lambda x, block: pre_norm_block(x, block, n_heads, mask=mask), params["blocks"], start)
    return end @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    def log_prob(row, token):
        return float(row[token]) - float(reduce(np.logaddexp, row.astype(float)))

    return sum(map(log_prob, decoder_logits(tokens, params, n_heads), tokens.tolist()[1:]), start=0.0)


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    def extended(sequence, left):
        if left == 0:
            return sequence
        logits = decoder_logits(np.array(sequence), params, n_heads)[-1].tolist()
        token = logits.index(max(logits))
        return extended([*sequence, token], 0 if token == eos else left - 1)

    return np.array(extended(tokens.tolist(), max_new_tokens))
