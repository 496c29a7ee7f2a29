"""Classes: an attention object that is created, called once and discarded; the heads are a named tuple."""

from collections import namedtuple

import numpy as np

Projections = namedtuple("Projections", "queries keys values")


class Scores:
    def __init__(self, values):
        self.values = values * 1.0

    @classmethod
    def between(cls, q, k):
        return cls(q * 1.0 @ np.swapaxes(k, -2, -1)) / float(np.sqrt(q.shape[-1]))

    def __truediv__(self, number):
        return Scores(self.values / number)

    def hide(self, mask):
        if mask is not None:
            self.values[~np.broadcast_to(mask, self.values.shape)] = -np.inf
        return self

    def softmax(self, axis):
        top = np.max(self.values, axis=axis, keepdims=True)
        empty = np.isneginf(top)
        e = np.exp(self.values - np.where(empty, np.zeros_like(top), top))
        return e / np.where(empty, np.ones_like(top), np.sum(e, axis=axis, keepdims=True))


class MultiHead:
    def __init__(self, params, n_heads):
        self.w_out = params["w_o"]
        self.w_in = Projections(params["w_q"], params["w_k"], params["w_v"])
        self.n_heads = n_heads

    def __call__(self, x, mask):
        projected = Projections._make(split_heads(x * 1.0 @ w, self.n_heads) for w in self.w_in)
        weights = Scores.between(projected.queries, projected.keys).hide(mask).softmax(axis=-1)
        return merge_heads(weights @ projected.values) @ self.w_out


def softmax(scores, axis=-1):
    return Scores(scores).softmax(axis)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = Scores.between(q, k).hide(mask).softmax(axis=-1)
    return weights @ v, weights


def split_heads(x, n_heads):
    d_head, rest = divmod(x.shape[-1], n_heads)
    if rest:
        raise ValueError(f"{rest} features are left over when {x.shape[-1]} are dealt to {n_heads} heads")
    return np.moveaxis(x.reshape(*x.shape[:-1], n_heads, d_head), -2, -3)


def merge_heads(x):
    merged = np.moveaxis(x, -3, -2)
    return merged.reshape(*merged.shape[:-2], merged.shape[-2] * merged.shape[-1])


def multi_head_attention(x, params, n_heads, mask=None):
    every_head = None if mask is None else np.expand_dims(mask, -3)
    return MultiHead(params, n_heads)(x, every_head)
