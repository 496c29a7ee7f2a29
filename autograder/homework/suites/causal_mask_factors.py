"""Input classes for the functions of causal_mask.py."""

import numpy as np

from autograder.homework.factors import count, dtypes, factor, hidden, inputs, layout, leading, length, masks, numbers

CAUSAL_MASK = inputs(
    factor("t", "causal", {
        **count("t", 1, 2, 3, above=32),
        "even": lambda t: t > 2 and t % 2 == 0,
        "odd": lambda t: t > 3 and t % 2,
    }),
)  # fmt: skip

PADDING_MASK = inputs(
    factor("examples", "padding", length("lengths", 0)),
    factor("t", "padding", {**count("t", 1, 2, 3, 4, above=256), "as many examples": lambda lengths, t: len(lengths) == t}),
    factor("lengths", "padding", {
        "zero": lambda lengths, result: (lengths == 0).any() and lengths.any(),
        "t": lambda lengths, t, result: (lengths == t).any() and not (lengths == t).all(),
        "between": lambda lengths, t, result: ((lengths > 0) & (lengths < t)).any(),
        "all zero": lambda lengths: not lengths.any(),
        "all t": lambda lengths, t: (lengths == t).all(),
        "none of them t": lambda lengths, t, result: (lengths < t).all(),
        "rising": lambda lengths, result: len(lengths) > 1 and (np.diff(lengths) > 0).all(),
        "falling": lambda lengths, result: len(lengths) > 1 and (np.diff(lengths) < 0).all(),
        "in no order": lambda lengths, result: (np.diff(lengths) > 0).any() and (np.diff(lengths) < 0).any(),
        "in another integer dtype": lambda lengths: lengths.dtype != np.int64,
    }),
    factor("a negative length", "padding", {
        "-1": lambda lengths: lengths.min() == -1,
        "far below": lambda lengths, t: lengths.min() < -t,
        "the first": lambda lengths: lengths[0] < 0 <= lengths[1:].min(initial=0),
        "the last": lambda lengths: lengths[-1] < 0 <= lengths[:-1].min(initial=0),
        "between others": lambda lengths: lengths[1:-1].min(initial=0) < 0,
        "the only one": lambda lengths: len(lengths) == 1 and lengths[0] < 0,
    }),
    factor("a length above t", "padding", {
        "t + 1": lambda lengths, t: lengths.max() == t + 1,
        "far above": lambda lengths, t: lengths.max() > 10 * t,
        "the first": lambda lengths, t: lengths[0] > t >= lengths[1:].max(initial=0),
        "the last": lambda lengths, t: lengths[-1] > t >= lengths[:-1].max(initial=0),
        "between others": lambda lengths, t: lengths[1:-1].max(initial=0) > t,
        "the only one": lambda lengths, t: len(lengths) == 1 and lengths[0] > t,
        "of one token": lambda lengths, t: t == 1 < lengths.max(),
    }),
    factor("untouched", "purity", {
        "right lengths": lambda result: True,
        "a negative length": lambda lengths: lengths.min() < 0,
        "a length above t": lambda lengths, t: lengths.max() > t,
    }),
)  # fmt: skip

AXES = {
    "scores (queries, keys)": lambda scores: scores.ndim == 2,
    "scores (n, queries, keys)": lambda scores: scores.ndim == 3,
    "scores (m, n, queries, keys)": lambda scores: scores.ndim == 4,
}
USUAL = {
    words: condition
    for words, condition in masks().items()
    if words in ("(queries, keys)", "(1, keys)", "(n, queries, keys)", "(n, 1, keys)")
}

APPLY_MASK = inputs(
    factor("scores", "apply", leading("scores", 2)),
    factor("queries", "apply", length("scores", -2)),
    factor("keys", "apply", {**length("scores", -1), "one, of one query": lambda scores: scores.shape[-2:] == (1, 1)}),
    factor(
        "examples",
        "apply",
        {
            "as many as queries": lambda scores, mask: (
                scores.ndim == mask.ndim == 3 and mask.shape[:2] == (scores.shape[-2], 1)
            ),
            "as many queries as keys": lambda scores, mask: (
                scores.shape[-2] == scores.shape[-1] and mask.ndim == 3 and mask.shape[-2] == 1 < mask.shape[-1]
            ),
        },
    ),
    factor("entries", "apply", {**numbers("scores"), "large": lambda scores: np.abs(scores).max() > 1e8}),
    factor("mask", "apply", masks()),
    factor(
        "a mask of one column",
        "apply",
        {
            "several keys": lambda scores, mask: (
                mask.ndim == 2 and 1 == mask.shape[-1] < min(scores.shape[-2:]) and mask.any() and not mask.all()
            ),
        },
    ),
    factor("usual mask", "apply", USUAL),
    factor("axes", "apply", AXES),
    factor("hidden", "apply", hidden()),
    factor("dtype", "apply", {**dtypes("scores"), **layout("scores")}),
    factor(
        "untouched",
        "purity",
        {
            "nothing is hidden": lambda mask: mask.all(),
            "everything is hidden": lambda mask: not mask.any(),
            "a mask of one row": lambda mask: mask.shape[-2] == 1,
            "masks of examples": lambda mask: mask.ndim == 3,
            "float32": lambda scores: scores.dtype == np.float32,
        },
    ),
    factor(
        "float32", "dtype", {"two axes": lambda scores: scores.ndim == 2, "more axes": lambda scores: scores.ndim > 2}
    ),
    pairs=(("usual mask", "axes"),),
    never=tuple((words, "scores (queries, keys)") for words in USUAL if words.startswith("(n")),
)


def alone(f, x):
    """Whether only an output feature that is neither first nor last changes."""
    change = np.abs(f(x + 1) - f(x)) > 0
    return change.shape[1] > 2 and not change[:, [0, -1]].any() and change.any()


def falls(f, x):
    """Whether the outputs decrease for every change of x."""
    changes = [f(x + 1) - f(x), f(x - 1) - f(x)]
    return np.max(changes) <= 0 and np.min(changes) < 0


def turns(f, x):
    """Whether the first row changes every later output row, but not its norm."""
    first = np.eye(len(x), 1) * np.arange(1, x.shape[1] + 1)
    before, after = f(x)[1:], f(x + first)[1:]
    lengths = (np.linalg.norm(rows, axis=1) for rows in (before, after))
    return len(x) > 1 and (np.abs(after - before).max(axis=1) > 1e-5).all() and np.allclose(*lengths, rtol=1e-12)


def experiment(about, **more):
    """The factors that dependency_matrix and is_autoregressive share."""
    return (
        factor("rows", about, {**count_rows(), "more than six": lambda x: len(x) > 6}),
        factor("features", about, {"one": lambda x: x.shape[1] == 1, "several": lambda x: x.shape[1] > 1}),
        factor("x", about, {
            **numbers("x"),
            "float32": lambda x: x.dtype == np.float32,
            "a row of zeros": lambda x: (~x.any(axis=1)).any() and x.any(),
        }),
        factor("f", about, {
            "returns its argument": lambda f, x: f(x) is x,
            "returns another width": lambda f, x: f(x).shape[1] != x.shape[1],
            "returns one feature of several": lambda f, x: f(x).shape[1] == 1 < x.shape[1],
            "returns more features": lambda f, x: f(x).shape[1] > x.shape[1],
            "reacts in added features": lambda f, x: f(x).shape[1] > x.shape[1] and not (f(x + 1) - f(x))[:, : x.shape[1]].any(),
            **more,
        }),
        factor("untouched", "purity", {"f returns its argument": lambda f, x: f(x) is x}),
    )  # fmt: skip


def count_rows():
    return {words: lambda x, n=n: len(x) == n for n, words in ((1, "one"), (2, "two"), (3, "three"))}


def seen(condition):
    """A condition on a dependency matrix of more than one row."""
    return lambda result: len(result) > 1 and condition(result)


DEPENDENCY_MATRIX = inputs(
    *experiment("dependency dependency_change", **{"reacts only in one middle feature": alone, "only falls": falls}),
    factor("output rows", "dependency", {"of constant norm, whatever comes before": turns}),
    factor("delta", "dependency", {
        "the default": lambda delta: delta == 1e-3,
        "large": lambda delta: delta > 1,
        "small": lambda delta: delta < 1 and delta != 1e-3,
    }),
    factor("influence", "dependency dependency_change", {
        "none": seen(lambda m: not m.any()),
        "none, for a single row": lambda result: len(result) == 1 and not result.any(),
        "all": seen(lambda m: m.all()),
        "each row on itself": seen(lambda m: np.array_equal(m, np.eye(len(m), dtype=bool))),
        "the past": seen(lambda m: np.array_equal(m, np.tri(len(m), dtype=bool))),
        "the future": seen(lambda m: np.array_equal(m, np.tri(len(m), dtype=bool).T)),
        "not on itself": seen(lambda m: m.any() and not m.diagonal().any()),
        "the first on the last": seen(lambda m: m[0, -1]),
        "the last on the first": seen(lambda m: m[-1, 0]),
    }),
)  # fmt: skip


def leaks(f, x):
    """The entries above the diagonal: output rows that depend on a later input row."""
    before = f(np.zeros_like(x))
    weights = np.array([f(row) - before for row in np.eye(len(x))[:, :, np.newaxis] * np.ones(x.shape[1])])
    return np.argwhere(np.triu(np.abs(weights).max(axis=-1).T > 0, k=1)).tolist()


IS_AUTOREGRESSIVE = inputs(
    *experiment("autoregressive"),
    factor("result", "autoregressive", {
        "True": lambda result: result,
        "False": lambda result: not result,
        "True for several rows": lambda x, result: result and len(x) > 1,
    }),
    factor("a single leak", "autoregressive", {
        "from the last row to the first": lambda f, x, result: len(x) == 3 and leaks(f, x) == [[0, 2]],
        "to the first row": lambda f, x, result: len(x) == 3 and leaks(f, x) == [[0, 1]],
        "from the last row": lambda f, x, result: len(x) == 3 and leaks(f, x) == [[1, 2]],
    }),
)  # fmt: skip

INPUTS = {
    "causal_mask": CAUSAL_MASK,
    "padding_mask": PADDING_MASK,
    "apply_mask": APPLY_MASK,
    "dependency_matrix": DEPENDENCY_MATRIX,
    "is_autoregressive": IS_AUTOREGRESSIVE,
}
