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
TORCH, ARGUMENT = "`{}` is PyTorch; NumPy has `{}`.", "`{}` is PyTorch's argument; NumPy's is `{}`."
FUNCTION, OWN = "`{}` is PyTorch's function; NumPy's is `np.{}`.", "`{}` is PyTorch's argument; that of `{}` is `{}`."
INDICES = "PyTorch's `{0}` also returns indices; NumPy's returns the {0}imum alone."
SECOND = "PyTorch takes `keepdim` as second argument; NumPy needs `keepdims=True`."
NO_NAME, NO_NUMPY = "`{}` is not defined; did you mean `{}`?", "NumPy has no `{}`; did you mean `np.{}`?"
NO_ATTRIBUTE, NO_ARGUMENT = (
    "Arrays have no attribute `{}`; did you mean `{}`?",
    "`{}` has no argument `{}`; did you mean `{}`?",
)
NO_KEY = 'There is no key "{}"; did you mean "{}"?'
# An expression with slips, the same one without them, and the sentence for each slip.
SLIPS = [
    ("x.mean(axis=-1, keepdim=True)", "x.mean(axis=-1, keepdims=True)", [ARGUMENT.format("keepdim", "keepdims")]),
    ("x.sum(dim=0, keepdim=True)", "x.sum(axis=0, keepdims=True)",
     [ARGUMENT.format("dim", "axis"), ARGUMENT.format("keepdim", "keepdims")]),
    ("x.var(-1, unbiased=False)", "x.var(-1, ddof=0)", [ARGUMENT.format("unbiased", "ddof")]),
    ("x.var(-1, unbiased=x)", "x.var(-1, ddof=x)", [ARGUMENT.format("unbiased", "ddof")]),
    ("x.mean(-1, True)", "x.mean(-1, keepdims=True)", [SECOND]),
    ("x.max(dim=-1)[0]", "x.max(axis=-1)", [ARGUMENT.format("dim", "axis"), INDICES.format("max")]),
    ("np.min(x, keepdim=True).values", "np.min(x, keepdims=True)", [ARGUMENT.format("keepdim", "keepdims"), INDICES.format("min")]),
    ("x.sum(dim=0)[0]", "x.sum(axis=0)[0]", [ARGUMENT.format("dim", "axis")]),
    ("x.max(dim=0)[1]", "x.max(axis=0)[1]", [ARGUMENT.format("dim", "axis")]),
    ("x.transpose(-2, -1)", "np.swapaxes(x, -2, -1)", [TORCH.format("x.transpose(a, b)", "np.swapaxes(x, a, b)")]),
    ("x / x.size(-1)", "x / x.shape[-1]", [TORCH.format("x.size(a)", "x.shape[a]")]),
    ("x.view(2, n_heads, -1)", "x.reshape(*(2, n_heads, -1))", [TORCH.format("x.view(...)", "x.reshape(...)")]),
    ("x.expand((2, 3)) + x.expand(2)", "np.broadcast_to(x, (2, 3)) + np.broadcast_to(x, (2,))",
     [TORCH.format("x.expand(...)", "np.broadcast_to(x, (...))")]),
    ("x.unsqueeze(0).pow(2)", "np.expand_dims(x, 0) ** 2",
     [TORCH.format("x.unsqueeze(a)", "np.expand_dims(x, a)"), TORCH.format("x.pow(a)", "x ** a")]),
    ("x.masked_fill(x > 0, -np.inf)", "np.where(x > 0, -np.inf, x)", [TORCH.format("x.masked_fill(a, b)", "np.where(a, b, x)")]),
    ("np.masked_fill(x, x > 0, 1)", "np.where(x > 0, 1, x)", [TORCH.format("masked_fill(x, a, b)", "np.where(a, b, x)")]),
    ("x.norm(2, keepdim=True)", "np.linalg.norm(x, *(2,), keepdims=True)",
     [ARGUMENT.format("keepdim", "keepdims"), TORCH.format("x.norm(...)", "np.linalg.norm(x, ...)")]),
    ("np.relu(x)", "np.maximum(x, 0)", [TORCH.format("relu(x)", "np.maximum(x, 0)")]),
    ("np.cat([x, x], dim=-1)", "np.concatenate([x, x], axis=-1)",
     [FUNCTION.format("cat", "concatenate"), ARGUMENT.format("dim", "axis")]),
    ("np.cat([x], zz=1)", "np.concatenate([x], zz=1)", [FUNCTION.format("cat", "concatenate")]),
    ("softmax(x, dim=-1)", "softmax(x, axis=-1)", [OWN.format("dim", "softmax", "axis")]),
    ("params(x, dim=-1)", "params(x, axis=-1)", [OWN.format("dim", "params", "axis")]),  # a variable may contain any function
    ("softmax(x, axsi=-1)", "softmax(x, axis=-1)", [NO_ARGUMENT.format("softmax", "axsi", "axis")]),
    ("x - np.Inf", "x - np.inf", ["NumPy 2 has no `np.Inf`; use `np.inf`."]),
    ("x / n_head", "x / n_heads", [NO_NAME.format("n_head", "n_heads")]), ("Len(x)", "len(x)", [NO_NAME.format("Len", "len")]),
    ("softmx(x)", "softmax(x)", [NO_NAME.format("softmx", "softmax")]),
    ("np.sqaure(x)", "np.square(x)", [NO_NUMPY.format("sqaure", "square")]),
    ("x.shpae", "x.shape", [NO_ATTRIBUTE.format("shpae", "shape")]),
    ("np.sum(x, axs=0)", "np.sum(x, axis=0)", [NO_ARGUMENT.format("sum", "axs", "axis")]),
    ('params["wq"]', "params['w_q']", [NO_KEY.format("wq", "w_q")]),
    ('params["wo"]', "params['w_o']", [NO_KEY.format("wo", "w_o")]),  # a key of the reference
]  # fmt: skip
CORRECT = (
    "softmax(x, axis=0) @ np.swapaxes(x, -1, -2)",
    "[row for row in x if row.all()] + [params['w_q'], params['w_k']]",
    "max(x, key=lambda row: row.sum(axis=0, keepdims=True))",
    "np.linalg.norm(x, 2) + math.sqrt(2) + math.sqr(2) + other(x, axs=0)[0]",
    "x.transpose(1, 0, 2) + x.sum(0, x) + x.max(axis=0)[0] + params['a b'] + params[x]",
    "zz + __name__ + [a for a in x].sum() + x.sum(True) + softmax(**params) + foo(zz=1)",
)


def slips(body: str, source: str = SOURCE) -> dict[str, str]:
    """The returned expression after each edit of a slip, with the sentence."""
    text = Text(source.replace("{body}", f"return {body}").encode(), "f", ("softmax",), 'It is x @ params["w_o"].')
    found = {}
    for edit in text.edits:
        if edit.size == 0:
            with edit.applied():
                found[ast.unparse(edit.unit).splitlines()[-1].strip().removeprefix("return ")] = edit.sentence
    return found


@pytest.mark.parametrize(("wrong", "right", "sentences"), SLIPS)
def test_slip_is_replaced_and_named(wrong: str, right: str, sentences: list[str]) -> None:
    found = slips(wrong)
    assert found.pop(right) == " ".join(sentences)
    assert list(found.values()) == (sentences if len(sentences) > 1 else [])


@pytest.mark.parametrize(("length", "is_named"), [(57, True), (58, False)])
def test_long_names_are_not_shown(length: int, is_named: bool) -> None:
    assert bool(slips(f"{length * 'n'}x", SOURCE.replace("n_heads", length * "n"))) is is_named


@pytest.mark.parametrize(("imports", "body", "right"), [
    ("import numpy", "numpy.sqaure(x) - numpy.masked_fill(x, x, 1)", "numpy.square(x) - numpy.where(x, 1, x)"),
    ("from numpy import *", "xx", ""),
    ("import math as numpy", "np.sqaure(x)", "np.square(x)"), ("import math", "math.sqr(x)", ""),
])  # fmt: skip
def test_names_depend_on_the_imports(imports: str, body: str, right: str) -> None:
    assert [*slips(body, SOURCE.replace("import numpy as np", imports))][-1:] == [right][: bool(right)]
    handler = "    try: pass\n    except ValueError as problem: pass\n    {body}"
    assert slips("prblem", SOURCE.replace("    {body}", handler)) == {"problem": NO_NAME.format("prblem", "problem")}


@pytest.mark.parametrize("body", CORRECT)
def test_names_that_exist_are_no_slips(body: str) -> None:
    assert slips(body) == {}
