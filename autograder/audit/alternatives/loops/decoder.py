"""Pure Python loops over positions and the vocabulary; the blocks come from transformer_block."""

import math

import numpy as np

from causal_mask import causal_mask
from transformer_block import pre_norm_block


def positional_encoding(t, d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")
    table = []
    for position in range(t):
        row = []
        for i in range(d_model // 2):
            angle = position / 10000 ** (2 * i / d_model)
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        table.append(row)
    return np.array(table)


def embed(tokens, table):
    rows = []
    for token in tokens:
        if token < 0 or token >= len(table):
            raise ValueError(f"token {token} is not in the vocabulary")
        rows.append(table[token])
    return np.array(rows)


def decoder_logits(tokens, params, n_heads):
    table = params["embedding"]
    x = np.zeros((len(tokens), table.shape[1]), table.dtype if table.dtype.kind == "f" else float)
    positions = positional_encoding(*x.shape)
    for p, row in enumerate(embed(tokens, table)):
        for k in range(len(row)):
            x[p, k] = row[k] + positions[p, k]
    for block in params["blocks"]:
        x = pre_norm_block(x, block, n_heads, causal_mask(len(tokens)))
    return x @ params["w_out"] + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    total = 0.0
    for i in range(1, len(tokens)):
        logits = decoder_logits(tokens[:i], params, n_heads)[-1].tolist()
        top = max(logits)
        total += logits[tokens[i]] - top - math.log(sum(math.exp(z - top) for z in logits))
    return total


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = tokens.tolist()
    for _ in range(max_new_tokens):
        logits = decoder_logits(np.array(sequence), params, n_heads)[-1]
        best = 0
        for token in range(1, len(logits)):
            if logits[token] > logits[best]:
                best = token
        sequence.append(best)
        if eos is not None and best == eos:
            break
    return np.array(sequence)
