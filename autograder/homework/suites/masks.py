"""Attention masks for the hidden tests."""

import numpy as np


def random_mask(rng, *shape):
    """Return a mask in which every query attends to some keys and, if there are several, not to all."""
    order = rng.random(shape)
    mask = order < 0.5
    np.put_along_axis(mask, order.argmax(axis=-1, keepdims=True), False, axis=-1)
    np.put_along_axis(mask, order.argmin(axis=-1, keepdims=True), True, axis=-1)
    return mask


def masked_tokens(rng):
    """Return masks for four tokens, each with the axes before the tokens, in every shape and with every way to hide keys.

    The most diverse masks come first.
    """
    past, nothing = np.tri(4, dtype=bool), np.zeros((4, 4), dtype=bool)
    blind = past & np.array([[False], [True], [False], [True]])  # two queries attend to nothing
    lengths = np.arange(4) < np.array([4, 1, 3])[:, np.newaxis, np.newaxis]
    return [
        ((), past),
        ((3,), np.stack([past, nothing, past])),
        ((2, 3), lengths),
        ((2, 3), random_mask(rng, 2, 1, 4, 4)),
        ((3,), np.array([[False, True, False, False]])),
        ((2, 3), past.T),
        ((2, 3), random_mask(rng, 2, 3, 4, 4)),
        ((2,), np.zeros((1, 1), dtype=bool)),
        ((2,), ~nothing),
        ((), np.array([[True, True, False, True]])),
        ((2, 3), random_mask(rng, 3, 4, 4)),
        ((2, 3), random_mask(rng, 2, 1, 1, 4)),
        ((2, 3), random_mask(rng, 1, 4)),
        ((2, 3), random_mask(rng, 1, 3, 4, 4)),
        ((3,), random_mask(rng, 1, 4, 4)),
        ((4,), blind[:, :1] | past[:, 1:2]),
        ((3,), lengths.swapaxes(1, 2)[:, [0, 2, 3, 1]]),
    ]
