"""Passes its dependencies functions that call them again, that raise, end the process or return another shape each time."""

import itertools
import os

import numpy as np

from causal_mask import dependency_matrix, is_autoregressive
from transformer_block import residual

MODULE = "decoder"
SHAPES = itertools.cycle([(1, 128, 1, 128), (128, 1, 128, 1), (512, 1), (1, 512), (0, 0), ()])


def nested(x):
    return dependency_matrix(nested, x).astype(float)


def odd(x):
    return np.ones(next(SHAPES))


def embed(tokens, table):
    for ask in (
        lambda: dependency_matrix(nested, np.ones((30, 4))),
        lambda: dependency_matrix(odd, np.ones((512, 4))),
        lambda: is_autoregressive(lambda x: None, np.ones((4, 4))),
        lambda: residual(np.ones((128, 1, 128, 1)), lambda x: np.ones((1, 128, 1, 128))),
        lambda: residual(np.ones(3), residual),
    ):
        try:
            ask()
        except Exception:
            pass
    return table[tokens]


def positional_encoding(t, d_model):
    dependency_matrix(lambda x: os._exit(1), np.ones((4, 4)))


def decoder_logits(*_, **__):
    return is_autoregressive(lambda x: dependency_matrix(lambda y: (_ for _ in ()).throw(SystemExit), x), np.ones((9, 9)))


sequence_log_prob = generate = decoder_logits
