"""Self-contained: types, constants, a check at import and a script section, as in a small project."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LAYER_EPS: float = 1e-5
RMS_EPS: float = 1e-6

__all__ = ["layer_norm", "layer_norm_backward", "rms_norm"]


def _moments(x: npt.NDArray, /) -> tuple[npt.NDArray, npt.NDArray]:
    """Mean and variance by two passes; the second pass also corrects the mean of the first."""
    mean = x.mean(axis=-1, keepdims=True)
    rest = x - mean
    correction = rest.mean(axis=-1, keepdims=True)
    return mean + correction, (rest**2).mean(axis=-1, keepdims=True) - correction**2


def layer_norm(x: npt.NDArray, gamma: npt.NDArray, beta: npt.NDArray, eps: float = LAYER_EPS) -> npt.NDArray:
    mean, var = _moments(x)
    out: npt.NDArray = (x - mean) * (gamma / np.sqrt(var + eps)) + beta
    return out


def rms_norm(x: npt.NDArray, gamma: npt.NDArray, eps: float = RMS_EPS) -> npt.NDArray:
    square_of_rms = ((x * 1.0) ** 2).mean(axis=-1, keepdims=True)
    return x * gamma.astype(square_of_rms.dtype) * (square_of_rms + eps) ** -0.5


def layer_norm_backward(
    grad_out: npt.NDArray, x: npt.NDArray, gamma: npt.NDArray, eps: float = LAYER_EPS
) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    d = x.shape[-1]
    mean, var = _moments(x)
    inverse = 1 / np.sqrt(var + eps)
    centred = x - mean
    weighted = grad_out * (gamma * 1.0)
    projection = (weighted * centred).sum(axis=-1, keepdims=True) * inverse**2
    grad_x = inverse / d * (d * weighted - weighted.sum(axis=-1, keepdims=True) - centred * projection)
    rows = (grad_out * 1.0).reshape(-1, d)
    return grad_x, np.sum(rows * (centred * inverse).reshape(-1, d), axis=0), np.sum(rows, axis=0)


assert layer_norm(np.array([1.0, 3.0]), np.ones(2), np.zeros(2), eps=0.0).tolist() == [-1.0, 1.0]

if __name__ == "__main__":
    print(layer_norm(np.arange(6.0).reshape(2, 3), np.ones(3), np.zeros(3)))
