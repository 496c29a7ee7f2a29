"""Importing: a module and its function of the same name, other modules' helpers, imports with a fallback."""

import numpy as np
import utils

import causal_mask as masks
import transformer_block
from scaled_attention import scaled_dot_product_attention
from transformer_block import transformer_stack as stack

try:
    from fast_embedding import embed as look_up
except ImportError:
    look_up = None


def positional_encoding(t, d_model):
    if d_model % 2:
        raise ValueError("d_model odd")
    angles = np.outer(np.arange(t), 1 / np.power(10000, 2 * np.arange(d_model // 2) / d_model))
    return np.concatenate([np.sin(angles)[..., None], np.cos(angles)[..., None]], axis=2).reshape(t, -1)


def embed(tokens, table):
    if np.setdiff1d(tokens, np.arange(len(table))).size:
        raise ValueError("token not in the vocabulary")
    return look_up(tokens, table) if look_up else table.take(tokens.astype(int), axis=0)


def decoder_logits(tokens, params, n_heads):
    x = utils.floats(embed(tokens, params["embedding"]))
    x = transformer_block.residual(x, lambda y: positional_encoding(*y.shape).astype(y.dtype))
    x = stack(x, params["blocks"], n_heads, norm="pre", mask=masks.causal_mask(len(x)))
    return x @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    """Attention with one-hot values reads a probability out of a softmax: output = weights @ values."""
    if len(tokens) == 1:
        return 0.0
    logits = decoder_logits(tokens, params, n_heads)[:-1]
    next_token = np.eye(logits.shape[1], dtype=logits.dtype)[tokens[1:].astype(int)]
    scores = logits[:, :, np.newaxis]
    nothing = np.ones_like(scores[:, :1])
    output, _ = scaled_dot_product_attention(nothing, scores, next_token[:, :, np.newaxis])
    return float(np.log(output.astype(float)).sum())


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    for _ in range(max_new_tokens):
        best = np.argmax(decoder_logits(tokens, params, n_heads)[-1])
        tokens = np.r_[tokens.astype(int), best]
        if best == eos:
            return tokens
    return tokens
