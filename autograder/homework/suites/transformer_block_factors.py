"""Input classes for the functions of transformer_block.py."""

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
    where,
)


def named(name, values):
    return {f"{name} {words}": condition for words, condition in values.items()}


FEED_FORWARD = inputs(
    factor("x", "feed_forward", leading("x", 1)),
    factor("features", "feed_forward", {
        **length("x", -1, 3),
        "as many as tokens": lambda x: x.ndim > 1 and x.shape[-1] == x.shape[-2],
    }),
    factor("tokens", "feed_forward", length("x", -2)),
    factor("hidden layer", "feed_forward", {
        "one unit": lambda params: params["w_1"].shape[1] == 1,
        "narrower": lambda params: params["w_1"].shape[1] < params["w_1"].shape[0],
        "as wide": lambda params: params["w_1"].shape[1] == params["w_1"].shape[0],
        "wider": lambda params: params["w_1"].shape[1] > params["w_1"].shape[0],
        "all units off": lambda x, params: (x @ params["w_1"] + params["b_1"] < 0).all(),
        "all units on": lambda x, params: (x @ params["w_1"] + params["b_1"] > 0).all(),
        "units at exactly 0": lambda x, params: (x @ params["w_1"] + params["b_1"] == 0).any(),
        "b_1 zero": lambda params: not params["b_1"].any(),
        "b_2 zero": lambda params: not params["b_2"].any(),
    }),
    factor("entries", "feed_forward", numbers("x")),
    factor("dtype", "feed_forward", {**dtypes("x"), **layout("x"), **order("params", "w_1")}),
    factor("untouched", "purity", {
        "one token": lambda x: x.ndim == 1,
        "several leading axes": lambda x: x.ndim > 2,
        "as wide": lambda params: params["w_1"].shape[1] == params["w_1"].shape[0],
        "float32": lambda x: x.dtype == np.float32,
    }),
    factor("float32", "dtype", {"one token": lambda x: x.ndim == 1, "several": lambda x: x.ndim > 1}),
)  # fmt: skip

RESIDUAL = inputs(
    factor("x", "residual", leading("x", 1)),
    factor("features", "residual", length("x", -1)),
    factor("tokens", "residual", length("x", -2)),
    factor("entries", "residual", numbers("x")),
    factor("sublayer", "residual", {
        "returns its argument": lambda x, sublayer: sublayer(x) is x,
        "returns zeros": lambda x, sublayer: not sublayer(x).any(),
        "ignores x": lambda x, sublayer: np.array_equal(sublayer(x), sublayer(x + 1)),
        "returns the negative": lambda x, sublayer: np.array_equal(sublayer(x), -x) and x.any(),
    }),
    factor("dtype", "residual", {**dtypes("x"), **layout("x")}),
    factor("untouched", "purity", {
        "one token": lambda x: x.ndim == 1,
        "several leading axes": lambda x: x.ndim > 2,
        "sublayer returns its argument": lambda x, sublayer: sublayer(x) is x,
    }),
    factor("float32", "dtype", {"x": lambda x: True}),
)  # fmt: skip


def block(about):
    """The factors that both blocks share."""
    return (
        factor("x", about, leading("x", 2)),
        factor("tokens", about, length("x", -2)),
        factor("features", about, length("x", -1, 6)),
        factor("sizes", about, {
            "as many tokens as features": lambda x: x.shape[-2] == x.shape[-1] > 1,
            "as many examples as tokens": lambda x: x.ndim > 2 and x.shape[-3] == x.shape[-2],
            "hidden layer of one unit": lambda params: params["ffn"]["w_1"].shape[1] == 1,
            "hidden layer much wider": lambda x, params: params["ffn"]["w_1"].shape[1] > 4 * x.shape[-1],
        }),
        factor("heads", about, HEADS),
        factor("entries", about, {**numbers("x"), "large": lambda x: np.abs(x).max() > 100}),
        factor("dtype", about, {**dtypes("x"), **layout("x"), **order("params", "ln_1")}),
        factor("untouched", "purity", {
            "without a mask": lambda mask: mask is None,
            "with a mask": lambda mask: mask is not None,
            "several leading axes": lambda x: x.ndim > 2,
            "one head": lambda n_heads: n_heads == 1,
            "float32": lambda x: x.dtype == np.float32,
        }),
        factor("mask", about, MASKS),
        factor("hidden", about, hidden()),
        factor("masked", about, where(lambda mask: mask is not None, {**HEADS, **AXES, **dtypes("x")})),
        factor("float32", "dtype", {"with a mask": lambda mask: mask is not None, "without": lambda mask: mask is None}),
    )  # fmt: skip


HEADS = {**count("n_heads", 1, 2, 3), "as many as features": lambda x, n_heads: n_heads == x.shape[-1] > 1}
AXES = {f"x with {n} axes": lambda x, n=n: x.ndim == n for n in (2, 3, 4)}
# A block hands its mask on as it is: not every shape is tried.
MASKS = {
    words: condition
    for words, condition in masks().items()
    if words
    in (
        "(queries, keys)",
        "(1, keys)",
        "(1, 1)",
        "(n, queries, keys)",
        "(n, 1, keys)",
        "(m, 1, queries, keys)",
        "(m, n, queries, keys)",
    )
}
NORMS = {"pre": lambda norm: norm == "pre", "post": lambda norm: norm == "post"}
BLOCKS = {
    "none": lambda blocks: not blocks,
    "one": lambda blocks: len(blocks) == 1,
    "two": lambda blocks: len(blocks) == 2,
    "three": lambda blocks: len(blocks) == 3,
}
MASKED = {"with a mask": lambda mask: mask is not None, "without": lambda mask: mask is None}

TRANSFORMER_STACK = inputs(
    factor("norm", "stack", NORMS),
    factor("blocks", "stack", BLOCKS),
    factor("masked", "stack", MASKED),
    factor("x", "stack", {**leading("x", 2), "one token": lambda x: x.shape[-2] == 1}),
    factor("tokens", "stack", {
        "more than eight": lambda x: x.shape[-2] > 8,
        "more than eight, with a mask": lambda x, mask: mask is not None and x.shape[-2] > 8,
    }),
    factor("heads", "stack", HEADS),
    factor("mask", "stack", {words: MASKS[words] for words in MASKS if words not in ("(1, 1)", "(m, n, queries, keys)")}),
    factor("hidden", "stack", {
        words: condition for words, condition in hidden().items()
        if words in ("some query sees nothing", "some example alone sees nothing", "the future is hidden")
    }),
    factor("dtype", "stack", {**dtypes("x"), **layout("x")}),
    factor("one block", "stack", {
        "at two places": lambda blocks: len({id(params) for params in blocks}) < len(blocks),
        "keys in another order": lambda blocks: any(next(iter(params)) != "ln_1" for params in blocks),
    }),
    factor("untouched", "purity", {
        **{f"norm {words}": condition for words, condition in NORMS.items()},
        "no blocks": BLOCKS["none"],
        "one block": BLOCKS["one"],
        "rejected": lambda norm: norm not in NORMS,
    }),
    factor("rejected", "norm_names", {
        **{f"{one} in another case": lambda norm, one=one: norm.lower() == one != norm for one in ("pre", "post")},
        **{f"{one} with a space": lambda norm, one=one: norm.strip() == one != norm for one in ("pre", "post")},
        "a prefix of a valid one": lambda norm: norm in ("p", "pr", "po", "pos"),
        "a valid one with a suffix": lambda norm: norm.startswith(("pre", "post")) and len(norm.strip()) > 4,
        "empty": lambda norm: norm == "",
        "something else": lambda norm: norm.lower()[:2] not in ("pr", "po", ""),
    }),
    factor("rejected with blocks", "norm_names", where(lambda norm: norm not in ("pre", "post"), {
        words: BLOCKS[words] for words in ("none", "one", "two")
    })),
    factor("float32", "dtype", {"norm pre": NORMS["pre"], "norm post": NORMS["post"], **MASKED, "no blocks": BLOCKS["none"]}),
    pairs=(("norm", "blocks"), ("norm", "masked"), ("blocks", "masked"), ("norm", "mask")),
)  # fmt: skip

LAYERS = {
    **named("layers:", length("jacobians", 0, 10)),
    **named("features:", length("jacobians", 1)),
    "as many layers as features": lambda jacobians: jacobians.shape[0] == jacobians.shape[1],
    **named("jacobians:", numbers("jacobians")),
    **named("grad_out:", numbers("grad_out")),
    **dtypes("jacobians"),
}
KINDS = {"residual": lambda residual: residual, "not residual": lambda residual: not residual}

GRADIENT_FLOW = inputs(
    factor("jacobians and grad_out", "gradient_flow", LAYERS),
    factor("kind", "gradient_flow", KINDS),
    factor("layout", "gradient_flow", layout("jacobians")),
    factor("untouched", "purity", {**KINDS, "one layer": lambda jacobians: len(jacobians) == 1}),
    factor(
        "a layer",
        "gradient_flow",
        {
            "whose gradient vanishes": lambda result: 0 < result.max() < 1e-11,
            "that cancels x": lambda jacobians: (jacobians == -np.eye(jacobians.shape[1])).all(axis=(1, 2)).any(),
        },
    ),
    factor("float32", "dtype", KINDS),
    pairs=(("jacobians and grad_out", "kind"),),
)

INPUTS = {
    "feed_forward": FEED_FORWARD,
    "residual": RESIDUAL,
    "pre_norm_block": inputs(*block("pre_norm")),
    "post_norm_block": inputs(*block("post_norm")),
    "transformer_stack": TRANSFORMER_STACK,
    "gradient_flow": GRADIENT_FLOW,
}
