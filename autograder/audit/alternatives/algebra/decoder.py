"""Other algebra: positions as points on the complex unit circle, embedding by one-hot product, argmax by sorting."""

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if d_model != 2 * (d_model // 2):
        raise ValueError("d_model has to be even")
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    sine_and_cosine = 1j * np.exp(-1j * np.outer(np.arange(t), rates))
    return sine_and_cosine.view(np.float64)


def embed(tokens, table):
    one_hot = tokens[:, np.newaxis] == np.arange(len(table))
    if one_hot.sum() < len(tokens):
        raise ValueError("some token has no row in the table")
    return one_hot.astype(table.dtype) @ table


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x.astype(np.result_type(x, 1.0))
    x += positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, "pre", causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)[:-1].astype(np.float64)
    chosen = np.take_along_axis(logits, tokens[1:, np.newaxis].astype(int), axis=-1)
    return float(-np.logaddexp.reduce(logits - chosen, axis=-1).sum())


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = np.array(tokens, dtype=int)
    for _ in range(max_new_tokens):
        last = decoder_logits(sequence, params, n_heads)[-1]
        ranking = np.argsort(-last, kind="stable")
        sequence = np.hstack([sequence, ranking[:1]])
        if eos is not None and ranking[0] == eos:
            return sequence
    return sequence
