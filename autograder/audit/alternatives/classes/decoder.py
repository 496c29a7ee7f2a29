"""Classes: a Decoder object with a cached read-only position table, and a class from another module."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from causal_mask import causal_mask
from transformer_block import PreNorm


@cache
def positional_encoding(t, d_model):
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}, an odd number")
    table = np.zeros((t, d_model))
    for i in range(0, d_model, 2):
        angle = np.arange(t) / 10000 ** (i / d_model)
        table[:, i], table[:, i + 1] = np.sin(angle), np.cos(angle)
    table.setflags(write=False)
    return table


def embed(tokens, table):
    outside = [token for token in tokens if not 0 <= token < len(table)]
    if outside:
        raise ValueError(f"not in the vocabulary: {outside}")
    return table[tokens, :]


@dataclass
class Decoder:
    embedding: np.ndarray
    blocks: list
    w_out: np.ndarray
    b_out: np.ndarray
    n_heads: int

    def logits(self, tokens):
        x = embed(tokens, self.embedding) * 1.0
        x += positional_encoding(*x.shape)
        for params in self.blocks:
            x = PreNorm(params, self.n_heads, causal_mask(len(tokens)))(x)
        return x @ self.w_out + self.b_out

    def log_probabilities(self, tokens):
        logits = self.logits(tokens)
        logits = logits - logits.max(axis=1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    def continuation(self, tokens, eos):
        tokens = [int(token) for token in tokens]
        while True:
            tokens.append(int(self.logits(np.array(tokens))[-1].argmax()))
            yield tokens[-1]
            if tokens[-1] == eos:
                return


def decoder_logits(tokens, params, n_heads):
    return Decoder(**params, n_heads=n_heads).logits(tokens)


def sequence_log_prob(tokens, params, n_heads):
    scored = Decoder(**params, n_heads=n_heads).log_probabilities(tokens)
    return sum((float(row[token]) for row, token in zip(scored, tokens[1:])), 0.0)


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    new = Decoder(**params, n_heads=n_heads).continuation(tokens, eos)
    return np.array([*map(int, tokens), *(token for _, token in zip(range(max_new_tokens), new))])
