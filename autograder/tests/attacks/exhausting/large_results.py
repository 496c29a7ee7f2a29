"""Returns an array as large as a message may be, from every call, and hides memory in it."""

import numpy as np


def layer_norm(x, *_, **__):
    return np.zeros(60_000)


def rms_norm(x, *_, **__):
    return [[float(i)] * 100 for i in range(4000)]


def layer_norm_backward(*_, **__):
    return np.zeros(10**7), {str(i): i for i in range(10**5)}, [[]] * 10**6
