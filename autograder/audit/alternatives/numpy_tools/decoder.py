"""Less common NumPy: np.ravel_multi_index rejects unknown tokens, np.lexsort breaks ties."""

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if np.bitwise_and(d_model, 1):
        raise ValueError(f"d_model: {d_model}")
    rates = np.geomspace(1, 10000 ** -(1 - 2 / d_model), d_model // 2) if d_model > 2 else np.ones(1)
    angles = np.kron(np.outer(np.arange(t), rates), [1, 1])
    return np.sin(angles, where=np.arange(d_model) % 2 == 0, out=np.cos(angles))


def embed(tokens, table):
    _, d = table.shape
    places = np.ravel_multi_index((tokens[:, np.newaxis].astype(np.intp), np.arange(d)), table.shape)
    return np.take(table, places)


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = np.add(x, positional_encoding(*x.shape), dtype=np.result_type(x, 0.0), casting="same_kind")
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(x)))
    return np.matmul(x, params["w_out"]) + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads)[:-1]
    centred = logits - np.amax(logits, axis=1, keepdims=True)
    surprise = np.log(np.exp(centred).sum(axis=1)) - centred[np.arange(len(centred)), tokens[1:]]
    return np.negative(surprise.sum())


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = tokens.astype(np.int64)
    for _ in range(max_new_tokens):
        last = decoder_logits(sequence, params, n_heads)[-1]
        best = np.lexsort((np.arange(len(last)), -last))[0]
        sequence = np.pad(sequence, (0, 1), constant_values=best)
        if best == eos:
            break
    return sequence
