"""Right, but a thread writes into the arguments when the call is over."""

import threading
import time

import numpy as np

EARNS = 19  # all but the purity of the arguments


SPOILED = []


def run():
    while True:
        for array in SPOILED:
            array += 1
        time.sleep(0.0001)


threading.Thread(target=run, daemon=True).start()


def spoil(*arrays):
    if all(a.dtype == np.float64 for a in arrays):
        SPOILED.extend(arrays)


def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    y = gamma * (centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)) + beta
    spoil(x)
    return y


def rms_norm(x, gamma, eps=1e-6):
    y = gamma * (x / np.sqrt(np.square(1.0 * x).mean(axis=-1, keepdims=True) + eps))
    spoil(x)
    return y


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    normed = centred / std
    g = 1.0 * grad_out * gamma
    grad_x = (g - g.mean(axis=-1, keepdims=True) - normed * (g * normed).mean(axis=-1, keepdims=True)) / std
    d = x.shape[-1]
    parts = (grad_out * normed).reshape(-1, d).sum(axis=0), (1.0 * grad_out).reshape(-1, d).sum(axis=0)
    spoil(x, grad_out)
    return grad_x, *parts
