"""Float64 inside: logits in float64 whatever the parameters, cast back once at the end."""

import numpy as np
from my_helpers import in_float64

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if d_model & 1:
        raise ValueError(f"an even d_model is needed, not {d_model}")
    column = np.arange(d_model)
    angle = np.arange(t)[:, np.newaxis] / np.power(10000.0, (column - column % 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def embed(tokens, table):
    tokens = np.asarray(tokens, dtype=np.int64)
    if np.min(tokens) < 0 or np.max(tokens) > len(table) - 1:
        raise ValueError("a token is not in the vocabulary")
    return np.take(table, tokens, axis=0)


@in_float64
def decoder_logits(tokens, params, n_heads):
    t = len(tokens)
    x = embed(tokens, params["embedding"]) + positional_encoding(t, params["embedding"].shape[1])
    x = transformer_stack(x, params["blocks"], n_heads, norm="pre", mask=causal_mask(t))
    return x @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads).astype(np.float64)
    total = 0.0
    for row, token in zip(logits, tokens[1:]):
        top = np.max(row)
        total += row[token] - (top + np.log(np.sum(np.exp(row - top))))
    return float(total)


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = np.asarray(tokens, dtype=np.int64)
    limit = len(sequence) + max_new_tokens
    finished = False
    while len(sequence) < limit and not finished:
        logits = decoder_logits(sequence, params, n_heads)
        token = int(np.flatnonzero(logits[-1] == np.max(logits[-1]))[0])
        sequence = np.concatenate([sequence, [token]])
        finished = token == eos
    return sequence
