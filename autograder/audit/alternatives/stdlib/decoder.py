"""Standard library: cmath for the positions, heapq for the greedy choice, a deque for the sequence."""

import cmath
import heapq
import math
from collections import deque

import numpy as np

from causal_mask import causal_mask
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    pairs, odd = divmod(d_model, 2)
    if odd:
        raise ValueError(f"d_model = {d_model} leaves a sine without its cosine")
    table = []
    for position in range(t):
        points = (cmath.rect(1, position * math.exp(-math.log(10000) * 2 * i / d_model)) for i in range(pairs))
        table.append([part for point in points for part in (point.imag, point.real)])
    return np.array(table)


def embed(tokens, table):
    rows = dict(enumerate(table))
    try:
        return np.array([rows[token] for token in tokens.tolist()])
    except KeyError as missing:
        raise ValueError(f"token {missing} is not in the vocabulary") from missing


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    x = x.astype(dtype) + positional_encoding(*x.shape).astype(dtype)
    x = transformer_stack(x, params["blocks"], n_heads, mask=causal_mask(len(x)))
    return np.add(x @ params["w_out"], params["b_out"])


def sequence_log_prob(tokens, params, n_heads):
    rows = decoder_logits(tokens, params, n_heads).tolist()

    def log_sum_exp(row):
        top = max(row)
        return top + math.log(math.fsum(math.exp(logit - top) for logit in row))

    return math.fsum(row[token] - log_sum_exp(row) for row, token in zip(rows, tokens.tolist()[1:]))


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = deque(tokens.tolist())
    for _ in range(max_new_tokens):
        last = decoder_logits(np.array(sequence), params, n_heads)[-1]
        _, token = heapq.nsmallest(1, ((-logit, token) for token, logit in enumerate(last.tolist())))[0]
        sequence.append(token)
        if token == eos:
            break
    return np.array(sequence)
