"""Compact broadcasting: star imports, and the log-probabilities of all positions at once."""

# ruff: noqa: F403, F405
import numpy as np

from causal_mask import *
from transformer_block import *


def positional_encoding(t, d_model):
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    angles = np.arange(t)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(t, d_model)


def embed(tokens, table):
    if tokens.min() < 0 or tokens.max() >= len(table):
        raise ValueError(f"tokens must lie between 0 and {len(table) - 1}")
    return table[tokens]


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"]) * 1.0
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(x)))
    return x @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    z = decoder_logits(tokens, params, n_heads)[:-1]
    z = z - z.max(-1, keepdims=True)
    return float((z[np.arange(len(z)), tokens[1:]] - np.log(np.exp(z).sum(-1))).sum())


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        new = decoder_logits(tokens, params, n_heads)[-1].argmax()
        tokens = np.append(tokens.astype(int), new)
        if new == eos:
            break
    return tokens
