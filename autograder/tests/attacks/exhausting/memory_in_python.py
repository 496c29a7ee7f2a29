"""Asks for a terabyte, then for as much as it gets, and doubles a list until it is stopped, MemoryError swallowed."""

import numpy as np

NEEDS = ("limits",)
HELD = [0]


def layer_norm(x, *_, **__):
    return np.ones((2**37,))


def rms_norm(x, *_, **__):
    size = 2**34
    while size > 2**12:
        try:
            HELD.append(np.ones(size // 8))
        except MemoryError:
            size //= 2
    return [bytearray(2**27) for _ in range(2**10)]


def layer_norm_backward(*_, **__):
    while True:
        try:
            HELD.extend(HELD)
        except MemoryError:
            HELD.append(0)
