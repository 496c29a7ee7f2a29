"""Right code that asks: what it may ask for, how often, and that its neighbours answer as they do at home."""

from collections.abc import Callable
from typing import Any

import pytest

Grade = Callable[..., dict[str, Any]]
Alter = Callable[[str, str], dict[str, str]]

PYTHON_NUMBERS = """
from layernorm import layer_norm

def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var
    n = len(x)
    if n < 2:
        raise ValueError
    y = gamma * layer_norm(x.T, 1.0, 0, eps).T + beta
    new_mean = (1 - momentum) * running_mean + momentum * x.mean(axis=0)
    return y, new_mean, (1 - momentum) * running_var + momentum * x.var(axis=0) * n / (n - 1)
"""
SIGNATURES = """
import inspect
import layernorm

assert inspect.signature(layernorm.layer_norm).parameters["eps"].default == 1e-5
assert layernorm.rms_norm.__defaults__ == (1e-6,) and layernorm.rms_norm.__name__ == "rms_norm"
"""


def lost(document: dict[str, Any]) -> list[str]:
    return [test["output"] for test in document["tests"] if test["score"] < test["max_score"]]


@pytest.mark.parametrize("source", [PYTHON_NUMBERS, SIGNATURES])
def test_a_neighbour_is_what_it_is_at_home(grade: Grade, alter: Alter, source: str) -> None:
    assert lost(grade(alter("batchnorm_comparison", source), ("batchnorm_comparison",))) == []
