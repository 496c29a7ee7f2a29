"""Classes: norms with a shared base class, behind a decorator that hides the signature (no functools.wraps)."""

import numpy as np


def to_float(value):
    return value.astype(float) if isinstance(value, np.ndarray) and value.dtype.kind in "iu" else value


def on_floats(function):
    def call(*args, **kwargs):
        return function(*map(to_float, args), **{name: to_float(value) for name, value in kwargs.items()})

    return call


class Norm:
    def __init__(self, gamma, beta=0.0, eps=0.0):
        self.gamma, self.beta, self.eps = gamma, beta, eps

    def centre(self, x):
        raise NotImplementedError

    def __call__(self, x):
        self.centred = self.centre(x)
        self.scale = np.sqrt(np.mean(self.centred**2, axis=-1, keepdims=True) + self.eps)
        self.normal = self.centred / self.scale
        return self.gamma * self.normal + self.beta

    def backward(self, grad_out):
        grad = grad_out * self.gamma
        return (self.centre(grad) - self.normal * np.mean(grad * self.normal, axis=-1, keepdims=True)) / self.scale


class LayerNorm(Norm):
    def centre(self, x):
        return x - np.mean(x, axis=-1, keepdims=True)


class RMSNorm(Norm):
    def centre(self, x):
        return x


@on_floats
def layer_norm(x, gamma, beta, eps=1e-5):
    return LayerNorm(gamma, beta, eps)(x)


@on_floats
def rms_norm(x, gamma, eps=1e-6):
    return RMSNorm(gamma, eps=eps)(x)


@on_floats
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    norm = LayerNorm(gamma, eps=eps)
    norm(x)
    leading = tuple(range(x.ndim - 1))
    return norm.backward(grad_out), np.sum(grad_out * norm.normal, axis=leading), np.sum(grad_out, axis=leading)
