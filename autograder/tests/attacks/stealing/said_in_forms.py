"""Spells hidden arguments in shapes, dtypes, lengths, keys and kinds of what it returns."""

import numpy as np

SILENT = True


def digits(x):
    return [int(d) + 1 for d in f"{abs(float(x.flat[0])):.4f}" if d.isdigit()]


def layer_norm(x, *_, **__):
    return np.zeros(digits(x)[:4], "int8")


def rms_norm(x, *_, **__):
    return {f"leak {x.flat[0]}": x, **{d: d for d in digits(x)}}


def layer_norm_backward(grad_out, x, *_, **__):
    return tuple([f"leak {x.flat[0]}"] * sum(digits(x)))
