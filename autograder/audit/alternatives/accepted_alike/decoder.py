"""Also accepted: a 0-d array instead of a float, 32-bit tokens, the prompt itself, a view of the table."""

import warnings

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if d_model % 2:
        raise ValueError(d_model, "is odd")
    table = np.zeros((t, d_model), order="F")
    table[:, ::2] = np.arange(t)[:, np.newaxis] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    table[:, 1::2] = np.cos(table[:, ::2])
    table[:, ::2] = np.sin(table[:, ::2])
    return table


def embed(tokens, table):
    if np.amin(tokens) < 0 or np.amax(tokens) >= table.shape[0]:
        raise ValueError(tokens, table.shape[0])
    first = int(tokens[0])
    if np.array_equal(tokens, np.arange(first, first + len(tokens))):
        return table[first : first + len(tokens)]
    return table[tokens]


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x.astype(np.result_type(x, 0.0))
    x += positional_encoding(*x.shape)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(x)))
    logits = x @ params["w_out"] + params["b_out"]
    logits.setflags(write=False)
    return logits


def sequence_log_prob(tokens, params, n_heads):
    if len(tokens) == 1:
        warnings.warn("nothing to score", stacklevel=2)
        return np.float64(0)
    logits = decoder_logits(tokens, params, n_heads)[:-1].astype(float)
    logits -= logits.max(axis=1, keepdims=True)
    chosen = np.take_along_axis(logits, tokens[1:].reshape(-1, 1).astype(int), axis=1)
    return np.asarray(np.sum(chosen[:, 0] - np.log(np.exp(logits).sum(axis=1))))


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    if max_new_tokens == 0:
        return tokens
    room = np.empty(len(tokens) + max_new_tokens, dtype=np.int32)
    room[: len(tokens)] = tokens
    for end in range(len(tokens), len(room)):
        room[end] = decoder_logits(room[:end], params, n_heads)[-1].argmax()
        print("token", room[end])
        if eos is not None and room[end] == eos:
            return room[: end + 1]
    return room
