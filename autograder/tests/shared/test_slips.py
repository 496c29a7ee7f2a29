"""Names that do not exist: which are found, and what replaces them."""

import ast

import pytest

from autograder.shared.edits import Text

SOURCE = '''import numpy as np


def softmax(scores, axis=-1):
    return scores


def f(x, params, n_heads=2):
    """Use the keys "w_q" and "w_k"."""
    {body}
'''
# A line with slips, the same line without them, and a part of the sentence.
SLIPS = {
    "keyword": ("x.mean(axis=-1, keepdim=True)", "x.mean(axis=-1, keepdims=True)", "NumPy's is `keepdims`"),
    "two keywords": ("x.sum(dim=0, keepdim=True)", "x.sum(axis=0, keepdims=True)", "`dim` is PyTorch's argument"),
    "unbiased": ("x.var(-1, unbiased=False)", "x.var(-1, ddof=0)", "`ddof`"),
    "second argument": ("x.mean(-1, True)", "x.mean(-1, keepdims=True)", "keepdims=True"),
    "maximum": ("x.max(dim=-1)[0]", "x.max(axis=-1)", "the maximum alone"),
    "two axes": ("x.transpose(-2, -1)", "np.swapaxes(x, -2, -1)", "`np.swapaxes(x, a, b)`"),
    "size": ("x / x.size(-1)", "x / x.shape[-1]", "`x.shape[a]`"),
    "view": ("x.view(2, n_heads, -1)", "x.reshape(*(2, n_heads, -1))", "`x.reshape(...)`"),
    "nested": ("x.unsqueeze(0).pow(2)", "np.expand_dims(x, 0) ** 2", "`np.expand_dims(x, a)`"),
    "masked_fill": ("x.masked_fill(x > 0, -np.inf)", "np.where(x > 0, -np.inf, x)", "`np.where(a, b, x)`"),
    "function": ("np.cat([x, x], dim=-1)", "np.concatenate([x, x], axis=-1)", "`np.concatenate`"),
    "another function": ("softmax(x, dim=-1)", "softmax(x, axis=-1)", "that of `softmax` is `axis`"),
    "function in a variable": ("params(x, dim=-1)", "params(x, axis=-1)", "that of `params` is `axis`"),
    "removed": ("x - np.Inf", "x - np.inf", "NumPy 2 has no `np.Inf`"),
    "variable": ("x / n_head", "x / n_heads", "`n_head` is not defined"),
    "misspelt function": ("np.sqaure(x)", "np.square(x)", "did you mean `np.square`?"),
    "misspelt attribute": ("x.shpae", "x.shape", "did you mean `shape`?"),
    "misspelt argument": ("np.sum(x, axs=0)", "np.sum(x, axis=0)", "did you mean `axis`?"),
    "key": ('params["wq"]', "params['w_q']", 'did you mean "w_q"?'),
    "key of the reference": ('params["wo"]', "params['w_o']", 'did you mean "w_o"?'),
}  # fmt: skip
CORRECT = (
    "softmax(x, axis=0) @ np.swapaxes(x, -1, -2)",
    "[row for row in x if row.all()] + [params['w_q'], params['w_k']]",
    "max(x, key=lambda row: row.sum(axis=0, keepdims=True))",
)


def slips(body: str) -> dict[str, str]:
    """The last line of the function after each edit of a slip, with the sentence."""
    text = Text(
        SOURCE.replace("{body}", f"return {body}").encode(), "f", ("softmax",), 'The result is x @ params["w_o"].'
    )
    found = {}
    for edit in text.edits:
        if edit.size == 0:
            with edit.applied():
                found[ast.unparse(edit.unit).splitlines()[-1].strip()] = edit.sentence
    return found


@pytest.mark.parametrize("kind", SLIPS)
def test_slip_is_replaced_and_named(kind: str) -> None:
    wrong, right, sentence = SLIPS[kind]
    assert sentence in slips(wrong)[f"return {right}"]


@pytest.mark.parametrize("body", CORRECT)
def test_names_that_exist_are_no_slips(body: str) -> None:
    assert slips(body) == {}
