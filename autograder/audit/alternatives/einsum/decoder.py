"""Einstein sums: embedding by one-hot contraction, probabilities looked up by one-hot contraction."""

import numpy as np

from causal_mask import causal_mask
from scaled_attention import softmax
from transformer_block import transformer_stack


def positional_encoding(t, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model is odd")
    frequency = 10000.0 ** (-np.arange(d_model // 2) * 2 / d_model)
    angle = np.einsum("p,i->pi", np.arange(t), frequency)
    table = np.empty((t, d_model))
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    return table


def embed(tokens, table):
    vocab = table.shape[0]
    if np.any(tokens < 0) or np.any(tokens >= vocab):
        raise ValueError(f"a token is outside 0..{vocab - 1}")
    one_hot = (tokens[:, None] == np.arange(vocab)).astype(table.dtype)
    return np.einsum("tv,vd->td", one_hot, table)


def decoder_logits(tokens, params, n_heads):
    x = embed(tokens, params["embedding"])
    x = x.astype(np.result_type(x, 0.0))
    x = x + positional_encoding(*x.shape).astype(x.dtype)
    x = transformer_stack(x, params["blocks"], n_heads, "pre", causal_mask(len(tokens)))
    return np.einsum("td,dv->tv", x, params["w_out"]) + params["b_out"]


def sequence_log_prob(tokens, params, n_heads):
    probabilities = softmax(decoder_logits(tokens, params, n_heads))
    one_hot = np.eye(probabilities.shape[1])[tokens[1:]]
    return float(np.sum(np.log(np.einsum("tv,tv->t", probabilities[:-1], one_hot))))


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    sequence = list(map(int, tokens))
    while max_new_tokens > 0:
        sequence.append(int(np.argmax(decoder_logits(np.array(sequence), params, n_heads)[-1])))
        max_new_tokens = 0 if sequence[-1] == eos else max_new_tokens - 1
    return np.array(sequence)
