"""Submissions that were scored or explained wrongly once: what each loses, what is named, and what the messages say."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

Alter = Callable[[str, str], dict[str, str]]
Grade = Callable[..., dict[str, Any]]

NORMED = """
def _normed(x, eps):
    centred = x - x.mean(axis={axis}, keepdims=True)
    return centred / {root}


def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * _normed(x, eps) + beta


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    n, g, axes = _normed(x, eps), grad_out * gamma, tuple(range(x.ndim - 1))
    away = g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)
    std = np.sqrt(x.var(-1, keepdims=True) + eps)
    return away / std, (grad_out * n).sum(axis=axes), grad_out.sum(axis=axes)
"""


@dataclass(frozen=True)
class Case:
    """A function written over the reference of a module: the criteria it loses but `example`, the names, and the texts."""

    module: str
    text: str
    lost: str
    named: set[str] = field(default_factory=set)
    said: str = ""
    unsaid: str = ""


CASES = {
    "a mistake in a shared helper costs its own criterion": Case(
        "layernorm", NORMED.format(axis=-1, root="(np.sqrt((centred**2).mean(-1, keepdims=True)) + eps)"),
        "epsilon", {"layer_norm.eps_outside_root"},
    ),
    "a helper that two functions share is wrong once": Case(
        "layernorm", NORMED.format(axis=1, root="np.sqrt((centred**2).mean(1, keepdims=True) + eps)"),
        "statistics", {"layer_norm.axis_one"},
    ),
    "Python raises an error where NumPy gives nan": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        mean = sum(row) / len(row)
        var = sum((entry - mean) ** 2 for entry in row) / (len(row) - 1)
        rows.append([(entry - mean) / (var + eps) ** 0.5 for entry in row])
    return gamma * np.array(rows, dtype=x.dtype).reshape(x.shape) + beta
""", "statistics", {"layer_norm.sample_variance"}, unsaid="does not explain"),
    "an unlisted mistake costs the first criterion of its function": Case("layernorm", """
def rms_norm(x, gamma, eps=1e-6):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) + gamma
""", "rms", said="makes every call of `rms_norm` pass"),
    "a fixed number in place of an argument": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 3e-7) + beta
""", "epsilon", said="makes every call of `layer_norm` pass", unsaid="default of eps"),
    "the example is not that of another mistake": Case("scaled_attention", """
def softmax(scores, axis=-1):
    s = np.moveaxis(scores, axis, -1)
    if s.ndim > 2:
        return scores
    s = np.exp(s - s.max(-1, keepdims=True))
    return np.moveaxis(s / s.sum(-1, keepdims=True), -1, axis)
""", "softmax softmax_stability", {"softmax.nan_for_an_empty_slice"}),
    "an error of a helper is no mistake of its caller": Case("scaled_attention", """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores[~mask] = -np.inf
    weights = softmax(scores)
    return weights @ v, weights

def multi_head_attention(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    if mask is not None and mask.ndim > 2:
        mask = np.expand_dims(mask, -3)
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heads) @ params["w_o"]
""", "mask", {"scaled_dot_product_attention.mask_as_index"}),
    "what several misconceptions do alike is located": Case("transformer_block", """
def _add_and_norm(x, update, params):
    return layer_norm(x + update, params["gamma"], params["beta"], eps=1e-12)

def post_norm_block(x, params, n_heads, mask=None):
    h = _add_and_norm(x, multi_head_attention(x, params["attention"], n_heads, mask), params["ln_1"])
    return _add_and_norm(h, feed_forward(h, params["ffn"]), params["ln_2"])
""", "post_norm", said="A single edit on line"),
    "nothing is said of calls after a result was written into": Case("causal_mask", """
_masks = {}

def causal_mask(t):
    if t not in _masks:
        _masks[t] = np.tri(t, dtype=bool)
    return _masks[t]
""", "causal", {"causal_mask.overwrites_result"}, unsaid="In another call"),
    "a mistake in another contract function that is used": Case("causal_mask", """
def causal_mask(t):
    return np.tri(t, k=-1, dtype=bool)

def is_autoregressive(f, x):
    return not bool((dependency_matrix(f, x) & ~causal_mask(len(x))).any())
""", "causal", {"causal_mask.strict"}),
    "a result that is remembered": Case("layernorm", """
_known = {}
_norm = layer_norm

def layer_norm(x, gamma, beta, eps=1e-5):
    _known.setdefault(id(x), (x, _norm(x, np.ones_like(gamma), np.zeros_like(beta), eps)))
    return gamma * _known[id(x)][1] + beta
""", "purity"),
}  # fmt: skip
QUICK = {
    "Python raises an error where NumPy gives nan",
    "an unlisted mistake costs the first criterion of its function",
    "nothing is said of calls after a result was written into",
    "a mistake in another contract function that is used",
    "a result that is remembered",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in CASES])
def test_what_is_lost_named_and_said(grade: Grade, alter: Alter, name: str) -> None:
    case = CASES[name]
    tests = grade(alter(case.module, case.text), (case.module,))["tests"]
    failed = [test for test in tests if test["status"] == "failed"]
    assert {test["extra_data"]["criterion"].partition(".")[2] for test in failed} - {"example"} == {*case.lost.split()}
    assert {name for test in failed for name in test["extra_data"]["misconceptions"]} == case.named
    said = "\n".join(test["output"] for test in failed)
    assert case.said in said
    assert not case.unsaid or case.unsaid not in said


def test_the_integration_survives_two_wrong_functions_of_one_module(grade: Grade, alter: Alter) -> None:
    text = (
        "def layer_norm(x, gamma, beta, eps=1e-5):\n    c = x - x.mean()\n    return gamma * c / np.sqrt((c**2).mean() + eps)\n\n\n"
        "def layer_norm_backward(grad_out, x, gamma, eps=1e-5):\n    return 0 * x, 0 * gamma, 0 * gamma\n"
    )
    tests = {test["extra_data"]["criterion"]: test for test in grade(alter("layernorm", text))["tests"]}
    assert tests["layernorm.rms"]["status"] == "passed" and tests["layernorm.backward_x"]["status"] == "failed"
    for name in ("integration.norms", "integration.decoder"):
        assert tests[name]["status"] == "passed" and "`layernorm.py`" in tests[name]["output"]


def test_the_integration_survives_a_half_finished_module(grade: Grade, alter: Alter) -> None:
    text = "def transformer_stack(x, blocks, n_heads, norm='pre', mask=None):\n    raise NotImplementedError\n"
    text += "def pre_norm_block(x, params, n_heads, mask=None):\n    raise NotImplementedError\n"
    tests = {t["extra_data"]["criterion"]: t for t in grade(alter("transformer_block", text))["tests"]}
    assert tests["integration.decoder"]["status"] == "passed"


@pytest.mark.slow
def test_a_returned_tuple_with_a_wrong_part_names_the_part(grade: Grade, alter: Alter) -> None:
    text = """
_backward = layer_norm_backward


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    grad_x, grad_gamma, grad_beta = _backward(grad_out, x, gamma, eps)
    return grad_x, float(grad_gamma.sum()), grad_beta
"""
    tests = grade(alter("layernorm", text), ("layernorm",))["tests"]
    [output] = [t["output"] for t in tests if t["extra_data"]["criterion"] == "layernorm.backward_parameters"]
    assert "wrong type for `grad_gamma`" in output
