"""Self-contained: token by token with cached keys and values; `generate` computes nothing twice."""

from __future__ import annotations

import numpy as np


def _floats(x):
    return x * 1.0


def _norm(x, p):
    centred = x - x.mean()
    return p["gamma"] * centred / np.sqrt((centred @ centred) / len(x) + 1e-5) + p["beta"]


class _Cache:
    """The decoder after some tokens: for each block the keys and values of all of them."""

    def __init__(self, params, n_heads):
        self.params, self.n_heads = params, n_heads
        self.length = 0
        self.keys = [[] for _ in params["blocks"]]
        self.values = [[] for _ in params["blocks"]]

    def _attention(self, x, p, number):
        keys, values = self.keys[number], self.values[number]
        keys.append((x @ p["w_k"]).reshape(self.n_heads, -1))
        values.append((x @ p["w_v"]).reshape(self.n_heads, -1))
        q = (x @ p["w_q"]).reshape(self.n_heads, -1)
        scores = np.einsum("hc,khc->hk", q, np.array(keys)) / q.shape[1] ** 0.5
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights = e / e.sum(axis=1, keepdims=True)
        return np.einsum("hk,khc->hc", weights, np.array(values)).reshape(-1) @ p["w_o"]

    def next_logits(self, token):
        """Read one more token; the logits of the one after it."""
        table = self.params["embedding"]
        x = _floats(embed(np.array([token]), table)[0])
        x = x + positional_encoding(self.length + 1, len(x))[-1].astype(x.dtype)
        self.length += 1
        for number, block in enumerate(self.params["blocks"]):
            x = x + self._attention(_norm(x, block["ln_1"]), block["attention"], number)
            ffn = block["ffn"]
            hidden = np.maximum(_norm(x, block["ln_2"]) @ ffn["w_1"] + ffn["b_1"], 0)
            x = x + (hidden @ ffn["w_2"] + ffn["b_2"])
        return x @ self.params["w_out"] + self.params["b_out"]


def positional_encoding(t, d_model):
    if d_model % 2:
        raise ValueError(f"d_model is odd: {d_model}")
    position, column = np.indices((t, d_model))
    angle = position / 10000 ** (column // 2 * 2 / d_model)
    return np.sin(angle + np.pi / 2 * (column % 2))


def embed(tokens, table):
    if not np.isin(tokens, np.arange(len(table))).all():
        raise ValueError("only 0, ..., vocab - 1 are tokens")
    return np.array([table[int(token)] for token in tokens])


def decoder_logits(tokens, params, n_heads):
    cache = _Cache(params, n_heads)
    return np.array([cache.next_logits(token) for token in tokens])


def sequence_log_prob(tokens, params, n_heads):
    logits = decoder_logits(tokens, params, n_heads).astype(np.float64)
    total = 0.0
    for i in range(len(tokens) - 1):
        others = logits[i] - logits[i, tokens[i + 1]]
        top = others.max()
        total -= float(top + np.log(np.exp(others - top).sum()))
    return total


def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    cache = _Cache(params, n_heads)
    logits = [cache.next_logits(token) for token in tokens][-1]
    out = tokens.tolist()
    for _ in range(max_new_tokens):
        out.append(int(logits.argmax()))
        if out[-1] == eos:
            break
        logits = cache.next_logits(out[-1])
    return np.array(out)
