"""Input classes for the functions of scaled_attention.py."""

import numpy as np

from autograder.homework.factors import (
    count,
    dtypes,
    factor,
    hidden,
    inputs,
    layout,
    leading,
    length,
    masks,
    numbers,
    order,
)

AXES = {
    "the last (negative index)": lambda axis: axis == -1,
    "the last (positive index)": lambda scores, axis: axis == scores.ndim - 1,
    "the first (positive index)": lambda scores, axis: axis == 0 and scores.ndim > 1,
    "the first (negative index)": lambda scores, axis: axis == -scores.ndim and scores.ndim > 1,
    "a middle one (positive index)": lambda scores, axis: 0 < axis < scores.ndim - 1,
    "a middle one (negative index)": lambda scores, axis: -scores.ndim < axis < -1,
}
MIDDLE = [words for words in AXES if "middle" in words]
FIRST = [words for words in AXES if "first" in words]


def slices(condition):
    """A condition on the slices of the scores along axis."""
    return lambda scores, axis: condition(np.moveaxis(scores, axis, -1)).any()


SOFTMAX = inputs(
    factor("dimensions", "softmax", {str(n): lambda scores, n=n: scores.ndim == n for n in (1, 2, 3, 4)}),
    factor("axis", "softmax", AXES),
    factor("last axis", "softmax", length("scores", -1)),
    factor("scores", "softmax", numbers("scores")),
    factor("shape", "softmax", {
        "all axes of equal length": lambda scores: scores.ndim > 1 and len(set(scores.shape)) == 1,
        "an axis of length 1": lambda scores: 1 in scores.shape,
        **layout("scores"),
    }),
    factor("axis of four", "softmax", {
        str(n): lambda scores, axis, n=n: scores.ndim == 4 and axis == n and scores.shape[n] > 1 for n in (1, 2, -2, -3)
    }),
    factor("dtype", "softmax", dtypes("scores")),
    factor("extremes", "softmax_stability", {
        "far above 700": slices(lambda s: s.max(axis=-1) > 1e3),
        "all far below -700": slices(lambda s: (s.max(axis=-1) < -1e3) & np.isfinite(s.max(axis=-1))),
        "-inf among others": slices(lambda s: (s == -np.inf).any(axis=-1) & (s > -np.inf).any(axis=-1)),
        "a slice of -inf only": slices(lambda s: (s == -np.inf).all(axis=-1)),
    }),
    factor("axis of extremes", "softmax_stability", AXES),
    factor("nothing but -inf", "softmax_stability", {
        "in one dimension": lambda scores: scores.ndim == 1 and (scores == -np.inf).all(),
        "in several": lambda scores: scores.ndim > 1 and (scores == -np.inf).all(),
        "in a slice of length 1": slices(lambda s: (s == -np.inf).all(axis=-1) & (s.shape[-1] == 1)),
    }),
    factor("the largest of float32", "softmax_stability", {"nearly": lambda scores: scores.max() > 2e38}),
    factor("float32", "dtype", {
        "axis left out": lambda axis: axis == -1,
        "another axis": lambda axis: axis != -1,
        "a slice without weight": lambda scores: (scores == -np.inf).any(),
    }),
    factor("untouched", "purity", {
        "one dimension": lambda scores: scores.ndim == 1,
        "slices of length 1": lambda scores, axis: scores.shape[axis] == 1,
        "-inf": lambda scores: (scores == -np.inf).any(),
        "several axes": lambda scores: scores.ndim > 3,
    }),
    pairs=(("dimensions", "axis"), ("extremes", "axis of extremes")),
    never=(*(("1", words) for words in MIDDLE + FIRST), *(("2", words) for words in MIDDLE)),
)  # fmt: skip

# The scores have the axes of the queries before their own two.
AXES_BEFORE = {
    "scores (queries, keys)": lambda q: q.ndim == 2,
    "scores (n, queries, keys)": lambda q: q.ndim == 3,
    "scores (m, n, queries, keys)": lambda q: q.ndim == 4,
}


# The shapes of masks that are tried on scores with each number of axes; the others are tried once.
USUAL = {
    words: condition
    for words, condition in masks().items()
    if words in ("(queries, keys)", "(1, keys)", "(n, queries, keys)", "(n, 1, keys)")
}
TOO_MANY_AXES = tuple((words, "scores (queries, keys)") for words in USUAL if words.startswith("(n"))


EXAMPLES = {
    "as many as queries": lambda q, mask: (
        mask is not None and mask.ndim == 3 and q.ndim == 3 and mask.shape[:2] == (q.shape[-2], 1)
    )
}

ATTENTION = inputs(
    factor("q", "attention", leading("q", 2)),
    factor("queries", "attention", length("q", -2)),
    factor("keys", "attention", length("k", -2)),
    factor("features of keys", "attention", length("q", -1)),
    factor("features of values", "attention", length("v", -1, 6)),
    factor("sizes", "attention", {
        "as many queries as keys": lambda q, k: q.shape[-2] == k.shape[-2],
        "keys as wide as values": lambda k, v: k.shape == v.shape,
        "all alike": lambda q, v: q.shape == v.shape and q.shape[-1] == q.shape[-2],
        "one query and one key": lambda q, k: q.shape[-2] == k.shape[-2] == 1,
        **layout("q"),
    }),
    factor("entries of q", "attention", numbers("q")),
    factor("entries of v", "attention", numbers("v")),
    factor("scores", "attention", {"very large": lambda q: np.abs(q).max() > 1e3}),
    factor("dtype", "attention", dtypes("q")),
    factor("axes", "mask fully_masked", AXES_BEFORE),
    factor("mask", "mask fully_masked", masks()),
    factor("usual mask", "mask", USUAL),
    factor("examples", "mask", EXAMPLES),
    factor("hidden", "mask fully_masked", hidden()),
    factor("scores under a mask", "mask", {
        "large and hidden": lambda k, mask: mask is not None and 1e3 < np.abs(k).max() < 1e5,
        "far below zero and seen": lambda q, mask: mask is not None and q.min() > 1e4,
        "exactly 0 and seen": lambda q, k, mask: mask is not None and (mask & (q @ k.swapaxes(-1, -2) == 0)).any(),
    }),
    factor("a mask of one column", "fully_masked", {
        "as many keys as queries": lambda q, k, mask: (
            mask is not None and mask.shape == (q.shape[-2], 1) and q.shape[-2] == k.shape[-2] > 1
        ),
    }),
    factor("blind queries", "fully_masked", {
        words: lambda mask, n=n: mask is not None and mask.ndim == n and not mask.any(axis=-1).all()
        for n, words in ((2, "in a mask for all"), (3, "in masks of examples"), (4, "in a mask of four axes"))
    }),
    factor("masked dtype", "mask fully_masked", {"float32": lambda q, mask: mask is not None and q.dtype == np.float32}),
    factor("float32", "dtype", {
        "with a mask": lambda mask: mask is not None,
        "without a mask": lambda mask: mask is None,
        "no leading axis": lambda q: q.ndim == 2,
    }),
    factor("untouched", "purity", {
        "without a mask": lambda mask: mask is None,
        "one mask": lambda mask: mask is not None and mask.ndim == 2,
        "masks of examples": lambda mask: mask is not None and mask.ndim == 3,
        "a query with no allowed key": lambda mask: mask is not None and not mask.any(axis=-1).all(),
        "float32": lambda q: q.dtype == np.float32,
    }),
    pairs=(("usual mask", "axes"),),
    never=TOO_MANY_AXES,
)  # fmt: skip

SPLIT = inputs(
    factor("x", "split_heads", leading("x", 2)),
    factor("tokens", "split_heads", length("x", -2)),
    factor("n_heads", "split_heads", count("n_heads", 1, 2, 3, 4, above=4)),
    factor("features of a head", "split_heads", {
        "one": lambda x, n_heads: x.shape[-1] == n_heads,
        "several": lambda x, n_heads, result: x.shape[-1] > n_heads,
    }),
    factor("heads", "split_heads", {"as many as tokens": lambda x, n_heads, result: x.shape[-2] == n_heads > 1}),
    factor("rejected", "split_heads", {
        "more heads than features": lambda x, n_heads: n_heads > x.shape[-1],
        "less than half as many": lambda x, n_heads: x.shape[-1] % n_heads and 2 * n_heads < x.shape[-1],
        "more than half as many": lambda x, n_heads: x.shape[-1] % n_heads and n_heads < x.shape[-1] < 2 * n_heads,
        "a common divisor": lambda x, n_heads: x.shape[-1] % n_heads and np.gcd(n_heads, x.shape[-1]) > 1,
        "one feature": lambda x, n_heads: x.shape[-1] == 1 < n_heads,
        "no leading axis": lambda x, n_heads: x.shape[-1] % n_heads and x.ndim == 2,
        "several leading axes": lambda x, n_heads: x.shape[-1] % n_heads and x.ndim > 3,
    }),
    factor("dtype", "split_heads", {**dtypes("x"), **layout("x")}),
    factor("float32", "dtype", {"x": lambda x: True}),
    factor("untouched", "purity", {
        "one head": lambda n_heads, result: n_heads == 1,
        "rejected": lambda x, n_heads: x.shape[-1] % n_heads,
    }),
    pairs=(("x", "features of a head"),),
)  # fmt: skip

MERGE = inputs(
    factor("x", "merge_heads", leading("x", 3)),
    factor("heads", "merge_heads", length("x", -3)),
    factor("tokens", "merge_heads", length("x", -2)),
    factor("features", "merge_heads", length("x", -1)),
    factor("sizes", "merge_heads", {
        "as many heads as tokens": lambda x: x.shape[-3] == x.shape[-2] > 1,
        "as many tokens as features": lambda x: x.shape[-2] == x.shape[-1] > 1,
        "as many examples as heads": lambda x: x.ndim > 3 and x.shape[-4] == x.shape[-3],
        "all alike": lambda x: len(set(x.shape)) == 1 < x.shape[0],
        "one head of one token": lambda x: x.shape[-3:-1] == (1, 1),
        "one head of one token of one example": lambda x: x.ndim > 3 and x.shape[-4:-1] == (1, 1, 1),
    }),
    factor("dtype", "merge_heads", {**dtypes("x"), **layout("x")}),
    factor("float32", "dtype", {"x": lambda x: True}),
    factor("untouched", "purity", {"one head": lambda x: x.shape[-3] == 1}),
)  # fmt: skip

TOKENS_BEFORE = {words: lambda x, n=n: x.ndim == n for n, words in zip((2, 3, 4), AXES_BEFORE, strict=True)}
HEADS = {
    "one head": lambda n_heads: n_heads == 1,
    "two heads": lambda n_heads: n_heads == 2,
    "more heads": lambda n_heads: n_heads > 2,
    "a head for each feature": lambda x, n_heads: n_heads == x.shape[-1] > 1,
}

MULTI_HEAD = inputs(
    factor("x", "multi_head", leading("x", 2)),
    factor("tokens", "multi_head", length("x", -2)),
    factor("features", "multi_head", length("x", -1)),
    factor("n_heads", "multi_head", count("n_heads", 1, 2, 3, 4, above=4)),
    factor("dimensions", "multi_head", TOKENS_BEFORE),
    factor("number of heads", "multi_head", HEADS),
    factor("heads", "multi_head", {
        "as many as tokens": lambda x, n_heads: n_heads == x.shape[-2],
        "as many as examples": lambda x, n_heads: x.ndim > 2 and n_heads == x.shape[-3],
    }),
    factor("sizes", "multi_head", {
        "as many tokens as features": lambda x: x.shape[-2] == x.shape[-1],
        "all alike": lambda x: x.ndim > 2 and len(set(x.shape)) == 1,
    }),
    factor("entries", "multi_head", {**numbers("x"), "very large": lambda x: np.abs(x).max() > 1e3}),
    factor("dtype", "multi_head", {**dtypes("x"), **layout("x"), **order("params", "w_q")}),
    factor("axes", "multi_head_mask", TOKENS_BEFORE),
    factor("masked heads", "multi_head_mask", HEADS),
    factor("masked tokens", "multi_head_mask", {
        "as many as heads": lambda x, n_heads, mask: mask is not None and x.shape[-2] == n_heads,
        "one, with no allowed key": lambda x, mask: mask is not None and x.shape[-2] == 1 and not mask.any(),
    }),
    factor("masked examples", "multi_head_mask", {
        "as many as heads": lambda x, n_heads, mask: mask is not None and mask.shape[:-2] == (n_heads,) == x.shape[:-2],
        "as many as tokens": lambda x, mask: mask is not None and x.ndim == mask.ndim == 3 and mask.shape[:2] == (x.shape[-2], 1),
    }),
    factor("a masked token", "multi_head_mask", {
        "zero throughout": lambda x, mask: mask is not None and (~x.any(axis=-1)).any() and x.any(),
    }),
    factor("mask", "multi_head_mask", masks()),
    factor("usual mask", "multi_head_mask", USUAL),
    factor("mask axes", "multi_head_mask", {
        f"{n} axes": lambda mask, n=n: mask is not None and mask.ndim == n for n in (2, 3, 4)
    }),
    factor("hidden", "multi_head_mask", hidden()),
    factor("masked dtype", "multi_head_mask", {"float32": lambda x, mask: mask is not None and x.dtype == np.float32}),
    factor("float32", "dtype", {
        "with a mask": lambda mask: mask is not None,
        "without a mask": lambda mask: mask is None,
        "no leading axis": lambda x: x.ndim == 2,
    }),
    factor("untouched", "purity", {
        **{words: HEADS[words] for words in ("one head", "two heads", "more heads")},
        "without a mask": lambda mask: mask is None,
        "with a mask": lambda mask: mask is not None,
        "one feature": lambda x: x.shape[-1] == 1,
        "float32": lambda x: x.dtype == np.float32,
    }),
    pairs=(("dimensions", "number of heads"), ("usual mask", "axes"), ("mask axes", "masked heads")),
    never=TOO_MANY_AXES,
)  # fmt: skip

INPUTS = {
    "softmax": SOFTMAX,
    "scaled_dot_product_attention": ATTENTION,
    "split_heads": SPLIT,
    "merge_heads": MERGE,
    "multi_head_attention": MULTI_HEAD,
}
