"""Modules beside those that they depend on: references while they are graded, the submission's own where values are shown."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.feedback import results
from autograder.grading.grader import open_grader
from autograder.submissions.submission import Submission

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
def test_a_dependency_is_what_it_is_at_home(grade: Grade, alter: Alter, source: str) -> None:
    assert lost(grade(alter("batchnorm_comparison", source), ("batchnorm_comparison",))) == []


def test_a_callback_may_be_called_often(grade: Grade, alter: Alter) -> None:
    assert lost(grade(alter("causal_mask", DEPENDENCY.format(draws=200)), ("causal_mask",))) == []


@pytest.mark.slow
def test_a_callback_may_be_called_very_often(alter: Alter) -> None:
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


def test_a_dependency_may_be_called_often(grade: Grade, alter: Alter) -> None:
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


def test_a_dependency_may_be_called_with_large_arguments(grade: Grade, alter: Alter) -> None:
    assert lost(grade(alter("decoder", STACKED), ("decoder",))) == []


WRONG_NORM = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return gamma * x + beta"
WRONG_BLOCK = "def pre_norm_block(x, params, n_heads, mask=None):\n    return 2 * x + feed_forward(x, params['ffn'])"
MODULES = ("layernorm", "transformer_block")


def entry(document: dict[str, Any], criterion: str) -> dict[str, Any]:
    return next(test for test in document["tests"] if test["extra_data"]["criterion"] == criterion)


@pytest.mark.slow
def test_a_wrong_dependency_costs_a_visible_criterion_nothing(grade: Grade, alter: Alter) -> None:
    document = grade(alter("layernorm", WRONG_NORM), MODULES)
    assert entry(document, "layernorm.example")["status"] == "failed"
    assert {t["status"] for t in document["tests"] if t["name"].startswith("transformer_block")} <= {"passed"}
    assert entry(document, "transformer_block.example")["status"] == "passed"


@pytest.mark.slow
def test_an_example_beside_a_wrong_dependency_says_which_module_to_fix_first(grade: Grade, alter: Alter) -> None:
    document = grade(alter("layernorm", WRONG_NORM) | alter("transformer_block", WRONG_BLOCK), MODULES)
    example = entry(document, "transformer_block.example")
    assert example["status"] == "failed"
    assert (
        "`transformer_block.py` uses `layernorm.py`, which is wrong or missing: fix `layernorm.py` first."
        in example["output"]
    )
    missing = grade({"layernorm.py": None} | alter("transformer_block", WRONG_BLOCK), ("transformer_block",))
    assert "fix `layernorm.py` first" in entry(missing, "transformer_block.example")["output"]
    alone = grade(alter("transformer_block", WRONG_BLOCK), ("transformer_block",))
    assert "first." not in entry(alone, "transformer_block.example")["output"]


@pytest.mark.slow
def test_a_visible_criterion_that_passes_with_the_submissions_own_modules_passes(grade: Grade, alter: Alter) -> None:
    doubled = "_right = layer_norm\n\n\ndef layer_norm(*args, **named):\n    return 2 * _right(*args, **named)"
    halving = (
        "import layernorm as own\n\n\ndef layer_norm(*args, **named):\n    return own.layer_norm(*args, **named) / 2"
    )
    document = grade(alter("layernorm", doubled) | alter("transformer_block", halving), MODULES)
    assert entry(document, "transformer_block.example")["status"] == "passed"
    assert entry(document, "transformer_block.pre_norm")["status"] == "failed"


TELLING = """
import layernorm


def pre_norm_block(x, params, n_heads, mask=None):
    code = layernorm.layer_norm.__code__
    raise ValueError("TOLD" if code.co_filename != layernorm.__file__ else "own")
"""


@pytest.mark.parametrize("norm", ["", WRONG_NORM])
def test_what_is_shown_at_once_was_said_without_a_reference_in_the_process(
    grade: Grade, alter: Alter, norm: str
) -> None:
    document = grade(alter("layernorm", norm) | alter("transformer_block", TELLING), MODULES)
    example = entry(document, "transformer_block.example")
    assert example["status"] == "failed" and "TOLD" not in example["output"] + document["output"]


@pytest.mark.slow
def test_an_import_that_fails_beside_references_tells_nothing_of_them_at_once(grade: Grade, alter: Alter) -> None:
    telling = "import layernorm\nassert layernorm.layer_norm.__code__.co_filename == layernorm.__file__, 'TOLD'"
    document = grade(alter("transformer_block", telling), ("transformer_block",))
    assert [t["name"] for t in document["tests"] if t["score"]] == [
        entry(document, "transformer_block.example")["name"]
    ]
    assert "TOLD" not in document["output"] + "".join(test["output"] for test in document["tests"])
