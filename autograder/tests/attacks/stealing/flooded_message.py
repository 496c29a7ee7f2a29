"""Returns values on the public examples whose display would be megabytes long."""

import numpy as np

LONGEST = 20_000


def layer_norm(x, *_, **__):
    return np.full((2,) * 14, 1234.56789)


def rms_norm(x, *_, **__):
    return [[[np.arange(60.0) + i for i in range(8)]] * 8] * 4


def layer_norm_backward(grad_out, x, gamma, *_, **__):
    raise RuntimeError("x" * 10**7)
