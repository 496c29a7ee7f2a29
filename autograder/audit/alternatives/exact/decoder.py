"""Exact: positions and logits in extended precision, log-probabilities summed by math.fsum."""

import math

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if d_model % 2 != 0:
        raise ValueError(f"every sine needs its cosine, but d_model is {d_model}")
    pairs = np.arange(d_model // 2, dtype=np.longdouble)
    angles = np.arange(t)[:, None] * np.longdouble(10000) ** (-2 * pairs / d_model)
    table = np.empty((t, d_model // 2, 2), dtype=np.longdouble)
    np.sin(angles, out=table[..., 0])
    np.cos(angles, out=table[..., 1])
    return table.reshape(t, d_model).astype(np.float64)


def embed(tokens, table):
    if not set(tokens.tolist()) <= set(range(len(table))):
        raise ValueError("a token lies outside the vocabulary")
    rows = np.empty((len(tokens), table.shape[1]), dtype=table.dtype)
    np.take(table, tokens.astype(np.intp), axis=0, out=rows)
    return rows


def decoder_logits(tokens, params, n_heads):
    rows = embed(tokens, params["embedding"])
    dtype = rows.dtype if rows.dtype.kind == "f" else np.float64
    x = (rows + positional_encoding(*rows.shape)).astype(dtype)
    x = transformer_stack(x, params["blocks"], n_heads, "pre", causal_mask(len(tokens)))
    return (x.astype(np.longdouble) @ params["w_out"] + params["b_out"]).astype(dtype)


def sequence_log_prob(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads).tolist()
    terms = []
    for row, token in zip(logits, tokens[1:].tolist()):
        terms.append(-math.log(math.fsum(math.exp(logit - row[token]) for logit in row)))
    return math.fsum(terms)


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = [int(token) for token in tokens]
    for _ in range(max_new_tokens):
        last = decoder_logits(np.array(sequence), params, n_heads)[-1]
        sequence.append(max(range(len(last)), key=lambda token: (last[token], -token)))
        if sequence[-1] == eos:
            break
    return np.array(sequence, dtype=np.int64)
