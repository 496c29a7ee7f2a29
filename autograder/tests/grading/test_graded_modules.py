"""Modules as students submit them: the criteria they lose, the misconceptions that are named, and the messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from autograder.audit import cases
from autograder.shared.differences import VARIES
from autograder.tests.files import HOMEWORK

Alter = Callable[[str, str], dict[str, str]]
Grade = Callable[..., dict[str, Any]]
MODULES = tuple(name for name in HOMEWORK.rubric.modules if name != "concept_check")
PARTLY = "Your code gives the correct values in every call tried with {}, but not with {}."
EDIT = "An edit of line LINE makes every call of `{}` pass."


@dataclass(frozen=True)
class Case:
    """Source code that is appended to the reference of a module, and the feedback it should get.

    `lost` are the lost criteria (short names for this module, ids for the integration) and the other modules that lose
    points. `named` are the ids of the named misconceptions. `said` are texts that the messages contain, where LINE is
    the line with the comment `# here`; `unsaid` are texts that no message contains. `files` are further files (None
    removes one), or source code that is appended to the references of other modules. `groups` are graded as well.
    """

    module: str
    text: str
    lost: str = ""
    named: str = ""
    said: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    slow: bool = False


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
SQUEEZED = """
def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred**2).mean(axis=-1, keepdims=True)
    return np.squeeze(gamma * centred / np.sqrt(var + eps) + beta)
"""
# The example of docs/explanation/grading.md: two mistakes, and a second function with the correct formula.
BACKWARD = """
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    n = layer_norm(x, np.ones_like(gamma), np.zeros_like(gamma), eps)
    g = grad_out * gamma
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    along = n * (g * n).mean(axis=-1, keepdims=True)  # here
    axes = tuple(range(x.ndim - 1))
    return (g - g.mean(axis=-1, keepdims=True) - along) / s, (grad_out * n).sum(axis=axes), grad_out.sum(axis=axes)
"""
FOLLOWED = """
def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt((centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))
    return gamma * centred / (std + eps) + beta
"""
GENERATE = """
def generate(tokens, params, n_heads, max_new_tokens, eos=None):
    return np.append(tokens, {})
"""
RMS_NORM = """
_right = rms_norm
def rms_norm(x, gamma, eps=1e-6):
    {}
    return _right(x, gamma, eps)
"""
UNEXPLAINED = """
def layer_norm(x, gamma, beta, eps=1e-5, kept={{}}):
    mean = {}
    return gamma * np.tanh(x - mean) + beta * mean
"""


def styled(style: str, module: str, right: str, wrong: str) -> dict[str, str]:
    """The files of a correct solution in another style, with one edit in a module."""
    files = cases.submission(HOMEWORK, cases.Case("alternative", style)).files
    texts = {name: text.decode() for name, text in files.items()}
    assert right in texts[f"{module}.py"]
    return texts | {f"{module}.py": texts[f"{module}.py"].replace(right, wrong)}


UNLISTED = {
    # multi_head_attention has 3,758 edits; the one in the private function is not among the 1,500 smallest.
    "an edit in a private function of a long module": Case(
        "scaled_attention", "", "example softmax", slow=True,
        files=styled("loops", "scaled_attention", "math.exp(value - top)", "math.exp(value - value)"),
    ),
    "an edit that fixes every function of a class is a known mistake": Case(
        "layernorm", "", "example statistics", "layer_norm.no_keepdims", slow=True,
        files=styled("classes", "layernorm", "keepdims=True) + self.eps", ") + self.eps"),
    ),
    "a mistake in a private function that two functions share costs one criterion": Case(
        "layernorm", NORMED.format(axis=-1, root="(np.sqrt((centred**2).mean(-1, keepdims=True)) + eps)"),
        "example epsilon", "layer_norm.eps_outside_root", slow=True,
    ),
    "a known mistake in a private function that two functions share costs one criterion": Case("layernorm", """
def _mean_square(x):
    return np.sum(x * x, axis=-1, keepdims=True)


def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt(_mean_square(centred) + eps) + beta


def rms_norm(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(_mean_square(x) + eps)
""",
        "example statistics", "layer_norm.sum_of_squares",
    ),
    "a known mistake in other words": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        mean = sum(row) / len(row)
        var = sum((entry - mean) ** 2 for entry in row) / (len(row) - 1)
        rows.append([(entry - mean) / (var + eps) ** 0.5 for entry in row])
    return gamma * np.array(rows, dtype=x.dtype).reshape(x.shape) + beta
""", "example statistics", "layer_norm.sample_variance", unsaid=("does not explain",)),
    "an unexplained mistake keeps the criteria whose relation it has": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    spread = x.max(axis=-1, keepdims=True) - x.min(axis=-1, keepdims=True)
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / (spread + eps) + beta
""", "example statistics epsilon", said=(
        "Awarded: the mistake in the failing calls is counted under `layernorm.statistics` or `layernorm.epsilon`.",
    )),
    "an unexplained mistake loses the criteria whose relation it breaks": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    spread = x.max(axis=-1, keepdims=True) - x.min(axis=-1, keepdims=True)
    return gamma**2 * (x - x.mean(axis=-1, keepdims=True)) / (spread + eps) + beta
""", "example statistics affine epsilon"),
    "an unlisted mistake costs the first criterion of its function": Case("layernorm", """
def rms_norm(x, gamma, eps=1e-6):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) + gamma  # here
""", "example rms", said=(EDIT.format("rms_norm"),)),
    "two mistakes on one line": Case(
        "layernorm",
        "_ln, _rms = layer_norm, rms_norm\n"
        "layer_norm = lambda x, gamma, beta, eps=1e-5: 3.5 * _ln(x, gamma, beta, eps);"
        "rms_norm = lambda x, gamma, eps=1e-6: 7.25 * _rms(x, gamma, eps)\n",
        "example statistics rms", slow=True,
    ),
    "an edit that leaves another mistake is no repair": Case(
        "layernorm", SQUEEZED.replace("eps)", "eps) * 1.25").replace("- x.mean", "- 1.5 * x.mean"),
        "example statistics affine epsilon stability", unsaid=("single edit",), slow=True,
    ),
    "nor is one that still changes an argument": Case(
        "layernorm", SQUEEZED.replace("    centred", "    x += 1.0\n    centred"),
        "statistics affine epsilon purity", "layer_norm.changes_x", unsaid=("single edit",), slow=True,
    ),
    "code that is correct for 2-D arrays only": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(axis=1).reshape(-1, 1), x.var(axis=1).reshape(-1, 1)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    std = np.sqrt(x.var(axis=1).reshape(-1, 1) + eps)
    n, g = (x - x.mean(axis=1).reshape(-1, 1)) / std, grad_out * gamma
    grad_x = (g - g.mean(1).reshape(-1, 1) - n * (g * n).mean(1).reshape(-1, 1)) / std
    return grad_x, (grad_out * n).sum(0), grad_out.sum(0)
""", "example statistics", "layer_norm.partly_right",
        (PARTLY.format("a 2-D `x`", "a 1-D, 3-D or 4-D `x`"),), slow=True),
    "code that is correct without a mask only": Case("scaled_attention", """
_right = scaled_dot_product_attention
def scaled_dot_product_attention(q, k, v, mask=None):
    if mask is None:
        return _right(q, k, v)
    out, weights = _right(q, k, v, mask)
    return np.tanh(out) + 0.3 * out * out, weights**2
""", "example mask", "scaled_dot_product_attention.partly_right", (PARTLY.format("no `mask`", "a `mask`"),), slow=True),
    "code that is correct for one head only": Case("scaled_attention", """
def multi_head_attention(x, params, n_heads, mask=None):
    q, k, v = x @ params["w_q"], x @ params["w_k"], x @ params["w_v"]
    heads = []
    for i in range(n_heads):
        mine = scaled_dot_product_attention(q[..., i::n_heads], k[..., i::n_heads], v[..., i::n_heads], mask)[0]
        heads.append(mine * 0.5**i)
    return np.concatenate(heads, axis=-1) @ params["w_o"]
""", "example multi_head", "multi_head_attention.partly_right", (PARTLY.format("`n_heads=1`", "`n_heads>1`"),), slow=True),
    "code that is correct for the default of an argument only": Case("batchnorm_comparison", """
def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    n, mean, var = len(x), running_mean, running_var
    if training:
        if n < 2:
            raise ValueError("too few examples")
        mean, var = x.mean(axis=0), x.var(axis=0)
        running_mean = 0.9 * running_mean + momentum * mean
        running_var = 0.9 * running_var + momentum * var * n / (n - 1)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, running_mean, running_var
""", "running", "batch_norm.partly_right", (PARTLY.format("the default `momentum`", "another `momentum`"),
        "Check where your code uses `momentum`, and where it should."), slow=True),
    "code that is correct for square arrays of two dimensions only": Case("layernorm", """
def rms_norm(x, gamma, eps=1e-6):
    n, d = x.shape
    return gamma * x / np.sqrt((x * x).sum(axis=1, keepdims=True) / n + eps)
""", "example rms rms_epsilon", slow=True),
    "booleans": Case("causal_mask", """
def dependency_matrix(f, x, delta=1e-3):
    t = len(x)
    base, found = np.array(f(x.copy())), np.zeros((t, t), dtype=bool)
    for j in range(t):
        for sign in (1, -1):
            moved = x.copy()
            moved[j] += sign * delta * np.cos(1 + 1.7 * np.arange(x.shape[1]))
            found[:, j] |= ((np.asarray(f(moved)) - base) ** 2).sum(axis=1) > 1e-8  # here
    return found
""", "dependency", said=(EDIT.format("dependency_matrix"),), slow=True),
    "one result for every call, because of one number": Case("causal_mask", """
def dependency_matrix(f, x, delta=1e-3):
    base, columns = f(x.copy()).copy(), []
    for j in range(len(x)):
        moved = x.copy()
        moved[j] += 1e-10 * np.arange(1, x.shape[1] + 1)  # here
        columns.append(np.abs(f(moved) - base).max(axis=1) > 1e-8)
    return np.stack(columns, axis=1)
""", "example dependency", said=(EDIT.format("dependency_matrix"),)),
    "an edit that never ends": Case("layernorm", """
def rms_norm(x, gamma, eps=1e-6):
    total, i = np.zeros(x.shape[:-1]), 0
    while i < x.shape[-1]:
        total = total + x[..., i] ** 2
        i += 1
    return np.squeeze(gamma * x / np.sqrt(total / x.shape[-1] + eps)[..., None]).astype(x.dtype)
""", "rms", unsaid=("took too long", "was skipped"), slow=True),
    "10 MB": Case("layernorm", f"{SQUEEZED}\n# {'x' * 10_000_000}\n", "statistics affine epsilon"),
    "a long table": Case("layernorm", f"{SQUEEZED}\nTABLE = [{'0, ' * 100_000}]\n", "statistics affine epsilon"),
    "a nested table": Case(
        "layernorm", f"{SQUEEZED}\nTABLE = {'[' * 90}{']' * 90} + {'-' * 900}1 * [0]\n", "statistics"
    ),
    "misspelt keys": Case("scaled_attention", "", "example multi_head", said=('There is no key "wq"; did you mean "w_q"?',),
        slow=True, files=styled("accepted_alike", "scaled_attention", 'params["w_', 'params["w')),
    "an argument of PyTorch for a function in a variable": Case("transformer_block", """
def transformer_stack(x, blocks, n_heads, norm="pre", mask=None):
    if norm not in ("pre", "post"):
        raise ValueError("norm")
    block = pre_norm_block if norm == "pre" else post_norm_block
    for params in blocks:
        x = block(x, params, n_heads, attn_mask=mask)
    return x
""", "example stack", said=("`attn_mask` is PyTorch's argument; that of `block` is `mask`.",), slow=True),
    "a mask that is used, but not as it should be": Case("causal_mask", """
def apply_mask(scores, mask):
    hidden = np.broadcast_to(mask, scores.shape).copy()
    hidden[..., 0] = False
    return np.where(hidden, np.full_like(scores, -np.inf), scores)
""", "example apply dtype", unsaid=("does not use the mask", "there should be 1."), slow=True),
    "a known mistake beside an unlisted one": Case("scaled_attention", """
def split_heads(x, n_heads):
    d_head = x.shape[-1] // n_heads
    return x[..., : d_head * n_heads].reshape(*x.shape[:-2], n_heads, x.shape[-2], d_head)
""", "example split_heads", "split_heads.reshape_only split_heads.rest_dropped",
        ("**Probably (this does not explain every wrong result):**",), ("single edit",), slow=True),
    "a known mistake that only a few calls show": Case("transformer_block", """
def gradient_flow(jacobians, grad_out, residual=True):
    through, out = grad_out, [np.sum(grad_out**2)]
    for jacobian in jacobians[::-1]:
        through = jacobian.T @ through
        out.insert(0, np.sum((through + grad_out if residual else through) ** 2))
    return np.array(out)
""", "example gradient_flow", "gradient_flow.squared",
        ("**Probably (this does not explain every wrong result):** Your code returns squared norms, so vanishing and "
         "exploding gradients look more extreme than they are.",),
        ("A failing call is shown under",), slow=True),  # that example contradicts the name
    "a known mistake that explains one criterion of two": Case("layernorm", """
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    s = np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    n, g = centred / s, grad_out * gamma
    flat = grad_out.reshape(-1, x.shape[-1])
    beta = flat[:-1].sum(0) + flat[0] if len(flat) > 1 else flat[0]
    return (g - n * (g * n).mean(-1, keepdims=True)) / s, (grad_out * n).reshape(-1, x.shape[-1]).sum(0), beta
""", "example backward_x backward_parameters", "layer_norm_backward.no_mean_term",
        ("**Probably (this does not explain every wrong result):** Your grad_x lacks the term - mean(g)",), slow=True),
    "a known mistake in a few calls, and errors in others": Case("scaled_attention", """
def multi_head_attention(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    if mask is not None:
        mask = mask.reshape(-1, x.shape[-2], x.shape[-2])[0]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]
""", "multi_head_mask", unsaid=("Probably",)),
    "a known mistake that passing calls rule out": Case("scaled_attention", """
def split_heads(x, n_heads):
    t, d = x.shape[-2:]
    if d % n_heads:
        raise ValueError("not divisible")
    return np.swapaxes(x, -1, -2).reshape(x.shape[:-2] + (n_heads, t, d // n_heads))
""", "example split_heads"),
    "no mistake explains it": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    return np.sin(x) * gamma + beta + eps
""", "example statistics affine epsilon stability", slow=True),
    "an error that has one sign is not rounding": Case("scaled_attention", """
def softmax(scores, axis=-1):
    largest = scores.max(axis=axis, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(largest), 0.0, largest).astype(scores.dtype))
    total = weights.sum(axis=axis, keepdims=True)
    return weights / np.where(total == 0, 1.0, total * (1 + 1e-7)).astype(scores.dtype)
""", "softmax", slow=True),
    "other parts than the reference": Case("layernorm", """
_right = layer_norm_backward


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    if x.ndim == 1:
        return grad_out * 0.5, grad_out.copy() * 0.25, grad_out * 0.125
    return _right(grad_out, x, gamma, eps)[0]
""", "example backward_x backward_parameters", "layer_norm_backward.only_x", slow=True),
    "the example is not that of another mistake": Case("scaled_attention", """
def softmax(scores, axis=-1):
    s = np.moveaxis(scores, axis, -1)
    if s.ndim > 2:
        return scores
    s = np.exp(s - s.max(-1, keepdims=True))
    return np.moveaxis(s / s.sum(-1, keepdims=True), -1, axis)
""", "example softmax softmax_stability", "softmax.nan_for_an_empty_slice", slow=True),
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
""", "example mask", "scaled_dot_product_attention.mask_as_index", slow=True),
    "an error that a misconception raises for the same reason": Case("transformer_block", """
def feed_forward(x, params):
    hidden = np.maximum(x @ params["w_1"].T + params["b_1"], 0)
    return hidden @ params["w_2"].T + params["b_2"]
""", "example feed_forward", "feed_forward.transposed_weights"),
    "an error of another operation": Case("transformer_block", """
def feed_forward(x, params):
    return (x * params["w_1"] + params["b_1"]) @ params["w_2"].T + params["b_2"]
""", "example feed_forward", slow=True),
    "names of PyTorch cost one criterion": Case("layernorm", """
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    return gamma * (x - mean) / (var + eps).sqrt() + beta
""", "example statistics", said=("`keepdim` is PyTorch's argument; NumPy's is `keepdims`.", "An edit of lines")),
    "a misspelt name costs one criterion": Case("scaled_attention", """
def split_heads(x, n_heads):
    *lead, t, d = x.shape
    if d % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(*lead, t, n_head, d // n_head).swapaxes(-3, -2)
""", "example split_heads", said=("`n_head` is not defined; did you mean `n_heads`?",)),
    "a name of PyTorch hides a wrong dtype": Case("scaled_attention", """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / np.sqrt(q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    return weights @ v, weights
""", "example attention dtype", said=("NumPy has `np.swapaxes(x, a, b)`", "a dtype or a side effect stays wrong")),
    "what several misconceptions do alike is located": Case("transformer_block", """
def _add_and_norm(x, update, params):
    return layer_norm(x + update, params["gamma"], params["beta"], eps=1e-12)

def post_norm_block(x, params, n_heads, mask=None):
    h = _add_and_norm(x, multi_head_attention(x, params["attention"], n_heads, mask), params["ln_1"])
    return _add_and_norm(h, feed_forward(h, params["ffn"]), params["ln_2"])
""", "post_norm", said=("An edit of line",), slow=True),
    "a mistake in another contract function that is used": Case("causal_mask", """
def causal_mask(t):
    return np.tri(t, k=-1, dtype=bool)

def is_autoregressive(f, x):
    return not bool((dependency_matrix(f, x) & ~causal_mask(len(x))).any())
""", "example causal", "causal_mask.strict"),
    "two mistakes, and a function that calls the wrong one": Case(
        "layernorm", FOLLOWED + BACKWARD, "example statistics epsilon",
        "layer_norm.sample_variance layer_norm.eps_outside_root", slow=True,
    ),
}  # fmt: skip
SIDE_EFFECTS = {
    "an argument that is changed and restored": Case(
        "layernorm", RMS_NORM.format("gamma *= 1.5; gamma = gamma / 1.5"), "purity", "rms_norm.changes_gamma",
        said=("Your code changes the argument `gamma`: values in `gamma` were overwritten.",),
    ),
    "a changed argument and a wrong value": Case(
        "layernorm", RMS_NORM.format("x += 1.0; x = x - 1.0; eps = 1e-6"),
        "rms_epsilon purity", "rms_norm.changes_x rms_norm.eps_hard_coded",
    ),
    "an error after a change": Case(
        "layernorm", RMS_NORM.format("gamma *= 1.5; raise RuntimeError"),
        "example rms rms_epsilon purity", "rms_norm.changes_gamma_later",
    ),
    "another dtype": Case(
        "layernorm", RMS_NORM.format("x = x.astype(np.float64)"), "dtype", "rms_norm.float64_result",
        said=("Your result is float64 for float32 arguments.",)
    ),
    "a result that is always float32": Case("layernorm", """
_right = layer_norm
def layer_norm(x, gamma, beta, eps=1e-5):
    return _right(x, gamma, beta, eps).astype(np.float32)
""", "dtype", "layer_norm.float32_result", said=("Your result is float32 for float64 arguments.",)),
    "another dtype than that of the docstring, without float arguments": Case("decoder", """
_right = positional_encoding
def positional_encoding(t, d_model):
    return _right(t, d_model).astype(np.float32)
""", "dtype", "positional_encoding.float32_result", said=("Your result is float32 instead of float64.", "Return float64.")),
    "wrong values that a changed argument would explain, but none was changed": Case("layernorm", """
_right = layer_norm_backward
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    return _right(grad_out * gamma, x, np.ones_like(gamma), eps)
""", "example backward_parameters", "layer_norm_backward.gamma_of_scaled_gradient layer_norm_backward.beta_scaled"),
    "nothing is said of calls after a result was written into": Case("causal_mask", """
_masks = {}

def causal_mask(t):
    if t not in _masks:
        _masks[t] = np.tri(t, dtype=bool)
    return _masks[t]
""", "causal", "causal_mask.overwrites_result"),
    "state kept beside an unlisted mistake": Case(
        "layernorm", UNEXPLAINED.format("kept.setdefault((x.shape, x.dtype), x.mean(axis=-1, keepdims=True))"),
        "example statistics affine epsilon purity", "layer_norm.remembers",
    ),
    "the same mistake without state": Case(
        "layernorm", UNEXPLAINED.format("x.mean(axis=-1, keepdims=True)"), "example statistics affine epsilon",
    ),
    "a gradient of the values that the last call kept": Case("layernorm", """
_right, _last = layer_norm_backward, []
def layer_norm(x, gamma, beta, eps=1e-5):
    _last[:] = [x]
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + beta

def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    return _right(grad_out, _last[0], gamma, eps)
""", "example purity"),
    "a gradient of several values that the last call kept": Case("layernorm", """
_last = {}

def layer_norm(x, gamma, beta, eps=1e-5):
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    _last.update(n=(x - x.mean(axis=-1, keepdims=True)) / std, std=std)
    return gamma * _last["n"] + beta

def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    n, std, g, axes = _last["n"], _last["std"], grad_out * gamma, tuple(range(x.ndim - 1))
    away = g - g.mean(axis=-1, keepdims=True) - n * (g * n).mean(axis=-1, keepdims=True)
    return away / std, (grad_out * n).sum(axis=axes), grad_out.sum(axis=axes)
""", "example backward_x backward_parameters purity", "layer_norm_backward.remembers", (VARIES, "KeyError: 'n'"),
        ("# yours:    ValueError", "when this was the first call")),
    "a result that is correct in the first call only": Case(
        "layernorm", RMS_NORM.format("gamma = gamma * vars(_right).setdefault('scale', 1); _right.scale += 1"),
        "example rms rms_epsilon purity", "rms_norm.remembers", (VARIES,),
    ),
    "a result that is remembered": Case("layernorm", """
_known = {}
_norm = layer_norm

def layer_norm(x, gamma, beta, eps=1e-5):
    _known.setdefault(id(x), (x, _norm(x, np.ones_like(gamma), np.zeros_like(beta), eps)))
    return gamma * _known[id(x)][1] + beta
""", "purity"),
    "random results": Case(
        "decoder", GENERATE.format("np.random.randint(10**9, size=max_new_tokens)"), "example generate stopping",
        said=(VARIES,), unsaid=("The same call is right", "The call has"), slow=True,
    ),
    "results that are not random": Case(
        "decoder", GENERATE.format("np.ones(max_new_tokens, int)"), "example generate stopping",
        unsaid=(VARIES,), slow=True,
    ),
}  # fmt: skip

SOFTMAX = "def softmax(scores, axis=-1):\n    {}\n"
NORM_AND_BACKWARD = """
def layer_norm(x, gamma, beta, eps=1e-5):
    c = x - x.mean()
    return gamma * c / np.sqrt((c**2).mean() + eps)


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    return 0 * x, 0 * gamma, 0 * gamma
"""
EMBED = """
def embed(tokens, table):
    if ((tokens < 0) | (tokens >= len(table))).any():
        raise ValueError
    return table[tokens]
"""
FAILURES = {  # the body of a function, whose message has these words
    "a list": ("return x.tolist()", "a list"),
    "a subclass of arrays": ("return x.view(type('Own', (np.ndarray,), {}))", "an ndarray subclass"),
    "complex numbers": ("return x.astype(complex)", "a complex array"),
    "another shape": ("return x[..., :1]", "wrong shape"),
    "undefined numbers": ("return x * np.nan", "nan"),
    "10 GB of numbers": ("return np.broadcast_to(x, (10**7, *x.shape))", "too large"),
    "a missing key": ("return x / {}['gamma']", "raised KeyError on line"),
    "an exit": ("raise SystemExit(0)", "SystemExit"),
    "a stopped process": ("import os; os._exit(0)", "Python itself stopped"),
    "an endless loop": ("while True: pass", "took too long"),
    "a function that waits": ("import time; time.sleep(60)", "was stopped, since it waited for seconds"),
}
UNWRITTEN = {
    **{
        name: Case(
            "layernorm", f"def rms_norm(x, gamma, eps=1e-6):\n    {body}", "example rms rms_epsilon", said=(words,),
            groups=("batchnorm_comparison",), slow=number > 4,
        )
        for number, (name, (body, words)) in enumerate(FAILURES.items())
    },
    **{
        f"softmax: {body}": Case(
            "scaled_attention", SOFTMAX.format(body), "example softmax softmax_stability",
            unsaid=unsaid, slow=bool(unsaid),
        )
        for body, unsaid in {
            "raise NotImplementedError": (), "return None": (),
            "return {}[0]": ("not written",), "while True: pass": ("not written",),
        }.items()
    },
    "a function that needs an unwritten one": Case(
        "scaled_attention",
        "def _inner(scores):\n    return softmax(scores)\n" + SOFTMAX.format("raise NotImplementedError"),
        "example softmax softmax_stability",
        said=("Awarded: `scaled_dot_product_attention` needs `softmax`, which is not written yet; with",
              "`softmax` is not written yet. `softmax` is defined"),
    ),
    "a function that needs a missing one": Case(
        "scaled_attention", "soft_max = softmax\ndel softmax",
        "example softmax softmax_stability attention mask fully_masked",
        said=("needs `softmax`, which `scaled_attention.py` does not have.",),
    ),
    "a mistake beside an unwritten function": Case("scaled_attention", """
def softmax(scores, axis=-1):
    raise NotImplementedError
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights
""", "example softmax softmax_stability attention", "scaled_dot_product_attention.no_scaling"),
    "helpers are no oracle for the function under test": Case(
        "scaled_attention", SOFTMAX.format("return scaled_dot_product_attention(scores, np.eye(3), np.eye(3))[1]"),
        "example softmax softmax_stability",
    ),
    "what is wrong beside a correct helper": Case("scaled_attention", """
def softmax(scores, axis=-1):
    raise KeyError("softmax")
def scaled_dot_product_attention(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
    return weights @ v + (0.1 if q.shape[-2] > 2 else 0.0), weights
""", "example softmax softmax_stability attention mask fully_masked", "scaled_dot_product_attention.mask_ignored",
        said=("This was tested with a correct `softmax` in place of yours.",),
        unsaid=("depends on earlier calls",), slow=True),
    "a process that ends in hidden calls alone": Case("layernorm", """
_right = rms_norm
def rms_norm(x, gamma, eps=1e-6):
    import os
    return _right(x, gamma, eps) if x.size < 9 else os._exit(0)
""", "rms rms_epsilon", said=("Python itself stopped",)),
    "two wrong functions of one module": Case(
        "layernorm", NORM_AND_BACKWARD, "example statistics affine backward_x backward_parameters",
        "layer_norm.no_beta layer_norm.whole_array", groups=("integration",),
        said=("replaced by the reference",),
    ),
    "a half-finished module": Case("transformer_block", """
def transformer_stack(x, blocks, n_heads, norm='pre', mask=None):
    raise NotImplementedError
def pre_norm_block(x, params, n_heads, mask=None):
    raise NotImplementedError
""", "example pre_norm stack norm_names", groups=("integration",)),
    "one function of the decoder": Case(
        "decoder", "", "example positions logits log_prob generate stopping dtype", files={"decoder.py": EMBED},
        groups=("integration",),
    ),
    "nothing right in the decoder": Case(
        "decoder", "", "example positions embed logits log_prob generate stopping dtype integration.decoder",
        files={"decoder.py": "def embed(tokens, table):\n    return table"}, groups=("integration",),
    ),
}  # fmt: skip

ADD_LIB = "import sys, os; sys.path.insert(0, os.path.dirname(__file__) + '/lib')"
LAZY = f"""
_logits = decoder_logits


def decoder_logits(tokens, params, n_heads):
    {ADD_LIB}
    from lazy_helper import stack
    return stack(_logits, tokens, params, n_heads)
"""
STACK = """from transformer_block import transformer_stack

def stack(f, *args):
    return f(*args)
"""
CORRECT = {
    "data beside the modules": Case("layernorm", "assert open('eps.txt').read() == '1e-5'", files={"eps.txt": "1e-5"}),
    "helpers imported late from a folder": Case(
        "decoder", LAZY, files={"lib/lazy_helper.py": STACK}, groups=("integration",)
    ),
    "signatures of a dependency": Case("batchnorm_comparison", """
import inspect
import layernorm

assert inspect.signature(layernorm.layer_norm).parameters["eps"].default == 1e-5
assert layernorm.rms_norm.__defaults__ == (1e-6,) and layernorm.rms_norm.__name__ == "rms_norm"
"""),
    "a callback called often": Case("causal_mask", """
def dependency_matrix(f, x, delta=1e-3):
    found, base, rng = np.zeros((len(x), len(x)), bool), np.array(f(x)), np.random.default_rng(0)
    for row in range(len(x)):
        for _ in range(200):
            changed = x.copy()
            changed[row] += delta * rng.uniform(-1, 1, x.shape[1])
            found[:, row] |= (np.abs(f(changed) - base) > 1e-8).any(axis=1)
    return found
"""),
    "other names of a wrong dependency": Case(
        "transformer_block", "from layernorm import EXTRA\nfrom my_helpers import double\nassert EXTRA == double(21)\n",
        files={
            "layernorm.py": "EXTRA = 42\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    raise RuntimeError\n",
            "my_helpers.py": "def double(x):\n    return 2 * x\n",
        },
    ),
    "a large table in every module": Case(
        "causal_mask", "from tables import TABLE\n\n\ndef causal_mask(t):\n    return (np.tril(TABLE) > 0)[:t, :t]\n",
        files={"tables.py": "import numpy as np\nTABLE = np.ones((2000, 2000))\n"}
        | {name: "import tables" for name in MODULES if name != "causal_mask"},
        groups=(*MODULES, "integration"), slow=True,
    ),
}  # fmt: skip

SHORT = "_right = {0}\n\n\ndef {0}({1}):\n    return _right({2})\n"
SIGNATURES = {  # calls that a signature refuses are adapted to it, so it costs points once
    "no default": Case(
        "layernorm", SHORT.format("layer_norm", "x, gamma, beta, eps", "x, gamma, beta, eps"), "example statistics",
        "layer_norm.signature", ("Your function has no default for `eps`.", "**Fix:** Write `eps=1e-5`."), ("Try other",),
    ),
    "another name of an optional argument": Case(
        "layernorm", SHORT.format("rms_norm", "a, b, epsilon=1e-6", "a, b, epsilon"), "rms_epsilon", "rms_norm.signature",
        ("Your function does not accept `eps` by name.", "**Fix:** Write `eps=1e-6`."), ("Try other",),
    ),
    "no optional argument": Case(
        "batchnorm_comparison", SHORT.format("influence", "x, kind", "x, kind"), "influence", "influence.signature",
    ),
    "keyword-only arguments in calls that are looked at again": Case(
        "layernorm", SHORT.format("rms_norm", "x, *, gamma, eps=1e-6", "x, gamma, eps"), "example rms",
        "rms_norm.signature", ("Your function does not accept its 2 required arguments by position.",),
    ),
    "two functions of a module": Case(
        "scaled_attention",
        SHORT.format("scaled_dot_product_attention", "q, k, v, mask", "q, k, v, mask")
        + SHORT.replace("_right", "_other").format("multi_head_attention", "x, params, n, mask", "x, params, n, mask"),
        "example attention", "scaled_dot_product_attention.signature multi_head_attention.signature",
    ),
    "a further mistake": Case(
        "layernorm", SHORT.format("rms_norm", "x, gamma, eps", "x, gamma, eps")
        + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    centred = x - x.mean(-1, keepdims=True)\n"
        "    return gamma * centred / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) + beta\n",
        "example statistics rms", "rms_norm.signature layer_norm.sample_variance",
    ),
    "an argument that is lacking": Case(
        "scaled_attention", "def split_heads(x):\n    return x\n", "example split_heads", "split_heads.signature",
        ("takes 1 positional argument but 2 were given",), ("Try other",),
    ),
}  # fmt: skip

# Styles in which correct functions lost points while tests passed arguments otherwise than the contract says.
STYLES = {
    "other names": "def {0}({1}, eps=1e-5):\n    return _right_{0}({1}, eps=eps)",
    "keyword-only options": "def {0}({1}, *, eps=1e-5):\n    return _right_{0}({1}, eps=eps)",
    "positional-only arguments": "def {0}({1}, /, eps=1e-5, axis=-1):\n    return _right_{0}({1}, eps=eps)",
    "any arguments": "def {0}(*args, eps=1e-5, **rest):\n    return _right_{0}(*args, eps=eps)",
    "a decorator": "def _d(f):\n    return lambda first, *args, **named: f(first, *args, **named)\n{0} = _d(_right_{0})",
    "a partial": "import functools\n{0} = functools.partial(lambda k, {1}, eps=1e-5: _right_{0}({1}, eps=eps), 0)",
    "an instance": "class C:\n    def __call__(self, {1}, eps=1e-5):\n        return _right_{0}({1}, eps=eps)\n{0} = C()",
    "a static method": "class C:\n    @staticmethod\n    def f({1}, eps=1e-5):\n        return _right_{0}({1}, eps=eps)\n{0} = C.f",
}
OWN_NAMES = """
def pre_norm_block(x, params, n_heads, mask=None):
    one, two = params["ln_1"], params["ln_2"]
    x = x + multi_head_attention(layer_norm(a=x, c=one["beta"], b=one["gamma"]), params["attention"], n_heads, mask=mask)
    return x + feed_forward(layer_norm(x, b=two["gamma"], c=two["beta"]), params["ffn"])
"""
NORMS = {"layer_norm": "a, b, c", "layer_norm_backward": "a, b, c"}
STYLED = {
    name: Case("layernorm", "\n\n".join(f"_right_{f} = {f}\n\n\n" + text.format(f, args) for f, args in NORMS.items()))
    for name, text in STYLES.items()
} | {
    f"a dependency called by its own names: {name}": Case(
        "transformer_block", OWN_NAMES,
        files={"layernorm.py": "_right_layer_norm = None\n" + STYLES[name].format("layer_norm", "a, b, c")},
    )
    for name in ("other names", "keyword-only options", "an instance", "a static method")
}  # fmt: skip

WRONG_NORM = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return gamma * x + beta"
DOUBLED = "_right = layer_norm\ndef layer_norm(*args, **named):\n    return 2 * _right(*args, **named)"
WRONG_BLOCK = "def pre_norm_block(x, params, n_heads, mask=None):\n    return 2 * x + feed_forward(x, params['ffn'])"
NAMES = "pre_norm_block.no_attention pre_norm_block.no_second_norm pre_norm_block.x_added_again"
TELLING = """
import layernorm

def pre_norm_block(x, params, n_heads, mask=None):
    code = layernorm.layer_norm.__code__
    raise ValueError("TOLD" if code.co_filename != layernorm.__file__ else "own")
"""
SOFTER = "_right = softmax\n\n\ndef softmax(scores, axis=-1):\n    return 1.01 * _right(scores, axis) + 0.001\n"
DEPENDENT = {
    "a wrong dependency costs nothing": Case(
        "transformer_block", "", "layernorm", files={"layernorm": WRONG_NORM}, groups=("layernorm",), slow=True
    ),
    "a wrong dependency is to be fixed first": Case(
        "transformer_block", WRONG_BLOCK.replace("(x, params['ffn'])", "(layer_norm(x, **params['ln_2']), params['ffn'])"),
        "example pre_norm layernorm", "pre_norm_block.no_attention pre_norm_block.x_added_again", groups=("layernorm",),
        files={"layernorm": WRONG_NORM}, slow=True,
        said=("`transformer_block.py` imports `layernorm.py`, which fails a public check: fix `layernorm.py` first.",),
    ),
    "so is a missing one": Case(
        "transformer_block", WRONG_BLOCK, "example pre_norm", NAMES, files={"layernorm.py": None},
        said=("imports `layernorm.py`, which this upload lacks",),
    ),
    "a correct one is not": Case(
        "transformer_block", WRONG_BLOCK, "example pre_norm", NAMES, unsaid=("first.",), slow=True,
    ),
    "an example that passes with the submission's own modules": Case(
        "transformer_block",
        "import layernorm as own\n\n\ndef layer_norm(*args, **named):\n    return own.layer_norm(*args, **named) / 2",
        "pre_norm layernorm", groups=("layernorm",), slow=True,
        files={"layernorm": DOUBLED},
    ),
    "no text from a process with references": Case("transformer_block", TELLING, "example pre_norm"),
    "nor beside a wrong dependency": Case(
        "transformer_block", TELLING, "example pre_norm layernorm", groups=("layernorm",),
        files={"layernorm": WRONG_NORM},
    ),
    "nor from an import": Case(
        "transformer_block",
        "import layernorm\nassert layernorm.layer_norm.__code__.co_filename == layernorm.__file__, 'TOLD'",
        "feed_forward residual pre_norm post_norm stack norm_names gradient_flow purity dtype", slow=True,
    ),
    "a function that is wrong only beside a dependent module": Case("layernorm", """
import sys
_right = layer_norm
def layer_norm(*args, **kwargs):
    return _right(*args, **kwargs) + ('transformer_block' in sys.modules)
""", "integration.decoder", groups=(*MODULES, "integration")),
    "a path that another module adds": Case(
        "decoder", ADD_LIB, "layernorm", groups=("layernorm",),
        files={"layernorm": "import only_in_lib", "lib/only_in_lib.py": ""},
    ),
    "a builtin that another module adds": Case(
        "decoder", "import builtins\nbuiltins.borrowed = 1", "layernorm", groups=("layernorm",),
        files={"layernorm": "borrowed"},
    ),
    "a wrong function in a file of its own": Case(
        "scaled_attention", "", "example softmax softmax_stability", slow=True,
        files={
            "scaled_attention.py": "from nn.attn import *\n", "nn/__init__.py": "",
            "nn/attn.py": HOMEWORK.files["scaled_attention.py"].decode() + SOFTER,
        },
    ),
}  # fmt: skip
CASES = UNLISTED | SIDE_EFFECTS | UNWRITTEN | CORRECT | STYLED | SIGNATURES | DEPENDENT


# Library misconceptions in one submission, and the criteria they cost. The audit grades each of them alone.
MISTAKES = {
    "layer_norm.one_pass_variance": "stability",  # recognised by the size of its rounding errors
    "layer_norm.statistics_kept": "purity",  # recognised by the state left by earlier calls
    "layer_norm.sample_variance layer_norm.eps_outside_root": "example statistics epsilon",
    "layer_norm.eps_hard_coded layer_norm.one_pass_variance": "epsilon stability",
    "layer_norm_backward.no_gamma layer_norm_backward.axes_kept": "example backward_x backward_parameters",
    "layer_norm.no_root rms_norm.no_root": "example statistics",  # the same mistake twice
    "layer_norm.no_beta rms_norm.no_root layer_norm_backward.averaged": "example affine rms backward_parameters",
    "layer_norm.sample_variance layer_norm.eps_outside_root layer_norm.no_beta": "example statistics affine epsilon",
    "layer_norm.gamma_beta_swapped layer_norm_backward.gamma_beta_swapped": "example affine backward_parameters",
    "norm_moments.no_keepdims norm_moments.float64_result": "example moments dtype",
    "norm_moments.no_value_error batch_norm.no_value_error": "moments evaluation",
    "batch_norm.population_running_var batch_norm.changes_running_mean": "example running purity",
    "dependency_matrix.transposed": "example dependency",  # is_autoregressive calls it
    "dependency_matrix.transposed is_autoregressive.negated": "example dependency autoregressive",
    "pre_norm_block.norms_swapped transformer_stack.norms_swapped": "example pre_norm stack",
    "residual.averaged gradient_flow.averaged": "example residual gradient_flow",
    "transformer_stack.reversed transformer_stack.unknown_norm_accepted": "example stack norm_names",
    "batch_norm.training_reversed batch_norm.results_swapped": "example training running",  # they interact
    "batch_norm.momentum_default batch_norm.remembers": "example running purity",
}


@pytest.mark.parametrize("ids", MISTAKES)
def test_misconceptions_are_named_and_cost_their_own_criteria(grade: Grade, alter: Alter, ids: str) -> None:
    found = [misconception for misconception in map(HOMEWORK.misconception, ids.split()) if misconception is not None]
    module, functions = found[0].module, dict.fromkeys(misconception.function for misconception in found)
    made = [HOMEWORK.version(module, name, tuple(m for m in found if m.function == name)) for name in functions]
    tests = grade(alter(module, "".join(version.source for version in made if version)), (module,))["tests"]
    lost = [test for test in tests if test["score"] < test["max_score"]]
    assert {short(test, module) for test in lost} == {*MISTAKES[ids].split()}
    # The same misconception in a second function costs nothing more.
    first = {misconception.same: misconception.id for misconception in reversed(found)}
    assert {name for test in lost for name in test["extra_data"]["misconceptions"]} == {*first.values()}


@pytest.mark.parametrize("case", [
    pytest.param(case, id=name, marks=[pytest.mark.slow] * case.slow) for name, case in CASES.items()
])  # fmt: skip
def test_lost_criteria_named_misconceptions_and_messages(grade: Grade, alter: Alter, case: Case) -> None:
    own = alter(case.module, case.text)
    files: dict[str, str | None] = {**own}
    line = own[f"{case.module}.py"].partition("# here")[0].count("\n") + 1
    for name, text in case.files.items():
        files |= alter(name, text or "") if name in MODULES else {name: text}
    document = grade(files, (case.module, *case.groups))
    failed = [test for test in document["tests"] if test["score"] < test["max_score"]]
    assert {short(test, case.module) for test in failed} == {*case.lost.split()}
    assert {name for test in failed for name in test["extra_data"]["misconceptions"]} == {*case.named.split()}
    assert "TOLD" not in document["output"] + "".join(
        t["output"] for t in document["tests"] if t["visibility"] == "visible"
    )
    output = document["output"] + "".join(test["output"] for test in document["tests"])
    assert [text for text in case.said if text.replace("LINE", str(line)) not in output] == []
    assert [text for text in case.unsaid if text in output] == []


def short(test: dict[str, Any], own: str) -> str:
    module, _, name = str(test["extra_data"]["criterion"]).partition(".")
    return name if module == own else f"{module}.{name}" if module == "integration" else module
