"""Classes: frozen running statistics, kinds as an Enum, influence by numbers that record their examples."""

from dataclasses import dataclass
from enum import Enum

import numpy as np


@dataclass(frozen=True)
class Statistics:
    mean: np.ndarray
    var: np.ndarray

    @classmethod
    def of(cls, x, axis, ddof=0):
        return cls(x.mean(axis=axis, keepdims=True), x.var(axis=axis, ddof=ddof, keepdims=True))

    def towards(self, other, share):
        return Statistics(
            *((1 - share) * a + share * b[0] for a, b in ((self.mean, other.mean), (self.var, other.var)))
        )

    def normalise(self, x, eps):
        return (x - self.mean) / np.sqrt(self.var + eps)


class Moments(Enum):
    LAYER = "layer"
    BATCH = "batch"

    @property
    def axis(self):
        return 1 if self is Moments.LAYER else 0


class Kind(Enum):
    LAYER = "layer"
    BATCH_TRAIN = "batch_train"
    BATCH_EVAL = "batch_eval"


class Traced:
    """A number that records only the examples from which it was computed."""

    def __init__(self, *sources):
        self.sources = frozenset(sources)

    def joined(self, other):
        return Traced(*self.sources, *getattr(other, "sources", ()))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __truediv__ = joined

    def sqrt(self):
        return self


def standardised(values, eps):
    mean = sum(values) / len(values)
    var = sum((value - mean) * (value - mean) for value in values) / len(values)
    return [(value - mean) / (var + eps).sqrt() for value in values]


def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    running = Statistics(running_mean, running_var)
    used = Statistics(running_mean * 1.0, running_var)
    if training:
        if len(x) < 2:
            raise ValueError(f"{len(x)} example is not enough for a batch variance")
        used = Statistics.of(x, axis=0)
        running = running.towards(Statistics.of(x, axis=0, ddof=1), momentum)
    return gamma * used.normalise(x, eps) + beta, running.mean, running.var


def norm_moments(x, kind):
    moments = Statistics.of(x, axis=Moments(kind).axis)
    return moments.mean, moments.var


def influence(x, kind, eps=1e-5):
    kind = Kind(kind)
    n, d = x.shape
    traced = [[Traced(i) for _ in range(d)] for i in range(n)]
    if kind is Kind.LAYER:
        rows = [standardised(row, eps) for row in traced]
    elif kind is Kind.BATCH_TRAIN:
        rows = list(zip(*(standardised(column, eps) for column in zip(*traced))))
    else:
        constant = Traced()
        rows = [[(value - constant) / constant for value in row] for row in traced]
    return np.array([[any(j in value.sources for value in row) for j in range(n)] for row in rows])
