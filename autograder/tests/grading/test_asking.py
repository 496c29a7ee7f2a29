"""Right code that asks: what it may ask for, how often, and that its neighbours answer as they do at home."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.feedback import results
from autograder.grading.grader import open_grader
from autograder.intake.submission import Submission

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
DEPENDENCY = """
def dependency_matrix(f, x, delta=1e-3):
    found, base, rng = np.zeros((len(x), len(x)), bool), np.array(f(x)), np.random.default_rng(0)
    for row in range(len(x)):
        for _ in range({draws}):
            changed = x.copy()
            changed[row] += delta * rng.uniform(-1, 1, x.shape[1])
            found[:, row] |= (np.abs(f(changed) - base) > 1e-8).any(axis=1)
    return found
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


def test_a_lent_function_may_be_called_often(grade: Grade, alter: Alter) -> None:
    assert lost(grade(alter("causal_mask", DEPENDENCY.format(draws=200)), ("causal_mask",))) == []


@pytest.mark.slow
def test_a_lent_function_may_be_called_very_often(alter: Alter) -> None:
    files = {name: text.encode() for name, text in alter("causal_mask", DEPENDENCY.format(draws=2000)).items()}
    with open_grader() as grader:  # with the limits of the rubric, since nearly all of its functions are slow
        document = results.gradescope(grader.grade(Submission("thorough", files), ("causal_mask",)))
    assert lost(document) == []


INFLUENCE = """
from layernorm import layer_norm

def influence(x, kind, eps=1e-5):
    if kind not in ("layer", "batch_train", "batch_eval"):
        raise ValueError
    if kind != "layer":
        return np.full((len(x), len(x)), True) if kind == "batch_train" else np.eye(len(x), dtype=bool)
    rng, one, zero = np.random.default_rng(0), np.ones(x.shape[1]), np.zeros(x.shape[1])
    base, found = layer_norm(x, one, zero, eps), np.zeros((len(x), len(x)), bool)
    for row in range(len(x)):
        for _ in range(1000 // len(x)):
            changed = x.copy()
            changed[row] += rng.normal(size=x.shape[1])
            found[:, row] |= (layer_norm(changed, one, zero, eps) != base).any(axis=1)
    return found
"""


@pytest.mark.slow
def test_a_neighbour_may_be_called_often(grade: Grade, alter: Alter) -> None:
    assert lost(grade(alter("batchnorm_comparison", INFLUENCE), ("batchnorm_comparison",))) == []


STACKED = """
from transformer_block import transformer_stack
from causal_mask import causal_mask

def sequence_log_prob(tokens, params, n_heads):
    n = len(tokens) - 1
    if n == 0:
        return 0.0
    x = embed(tokens[:-1], params["embedding"])
    x = x + positional_encoding(n, x.shape[-1])
    x = np.broadcast_to(x, (n, *x.shape)).copy()  # one row of the batch for each prefix
    seen = np.tri(n, dtype=bool)[:, np.newaxis, :] & causal_mask(n)
    h = transformer_stack(x, params["blocks"], n_heads, mask=seen)
    logits = h[np.arange(n), np.arange(n)] @ params["w_out"] + params["b_out"]
    logits = logits - logits.max(axis=-1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return float(log_p[np.arange(n), tokens[1:]].sum())
"""


def test_a_question_may_be_as_large_as_the_arguments_allow(grade: Grade, alter: Alter) -> None:
    assert lost(grade(alter("decoder", STACKED), ("decoder",))) == []
