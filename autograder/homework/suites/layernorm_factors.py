"""Input classes for the functions of layernorm.py."""

import numpy as np

from autograder.homework.factors import dtypes, factor, inputs, layout, leading, length, numbers


def parameters(name):
    """The entries of gamma or beta."""
    return {f"{name} {words}": condition for words, condition in numbers(name).items()}


def eps(default):
    return {"the default eps": lambda eps: eps == default, "another eps": lambda eps: eps != default}


RANKS = {
    "no leading axis": lambda x: x.ndim == 1,
    "one leading axis": lambda x: x.ndim == 2,
    "several leading axes": lambda x: x.ndim > 2,
    "one feature": lambda x: x.shape[-1] == 1,
    "float32": lambda x: x.dtype == np.float32,
}
FIVE = {"four leading axes": lambda x: x.ndim == 5, "two leading axes of length 1": lambda x: x.shape[:-1] == (1, 1)}


def float32(x="x"):
    """Calls in which a result could lose the dtype."""
    return {
        "no leading axis": lambda x: x.ndim == 1,
        "several leading axes": lambda x: x.ndim > 2,
        "an explicit eps": lambda named: "eps" in named,
    }


LAYER_NORM = inputs(
    factor("x", "statistics", leading("x", 1)),
    factor("axes", "statistics", {**FIVE, **layout("x")}),
    factor("features", "statistics affine", length("x", -1)),
    factor("rows", "statistics", length("x", -2)),
    factor("rows and features", "statistics", {"as many": lambda x: x.ndim > 1 and x.shape[-2] == x.shape[-1]}),
    factor("entries", "statistics affine", numbers("x")),
    factor("spread", "affine", {"a constant row": lambda x: (x.max(axis=-1) == x.min(axis=-1)).any()}),
    factor("mean", "stability", {
        "far above the spread": lambda x: (x.mean(axis=-1) > 1e5 * x.std(axis=-1)).any() and x.std() > 0,
        "far below zero": lambda x: (x.mean(axis=-1) < -1e5 * x.std(axis=-1)).any() and x.std() > 0,
    }),
    factor("gamma", "affine", parameters("gamma")),
    factor("gamma of one value", "affine", {"not 1": lambda gamma: np.ptp(gamma) == 0 and gamma[0] not in (0, 1)}),
    factor("beta", "affine", {**parameters("beta"), "beta like gamma": lambda gamma, beta: np.array_equal(gamma, beta)}),
    factor("one entry of a row", "statistics", {
        "far from the others": lambda x: (np.abs(x - x.mean(axis=-1, keepdims=True)) > 4 * x.std(axis=-1, keepdims=True)).any(),
    }),
    factor("eps", "epsilon", eps(1e-5)),
    factor("no eps", "epsilon", {"eps 0": lambda eps: eps == 0}),
    factor("dtype", "statistics", dtypes("x")),
    factor("float32", "dtype", float32()),
    factor("untouched", "purity", RANKS),
    pairs=(("eps", "x"),),
)  # fmt: skip

RMS_NORM = inputs(
    factor("x", "rms", leading("x", 1)),
    factor("axes", "rms", {"four leading axes": FIVE["four leading axes"], **layout("x")}),
    factor("features", "rms", length("x", -1)),
    factor("rows", "rms", length("x", -2)),
    factor("rows and features", "rms", {"as many": lambda x: x.ndim > 1 and x.shape[-2] == x.shape[-1]}),
    factor("entries", "rms", numbers("x")),
    factor("gamma", "rms", parameters("gamma")),
    factor("gamma of one value", "rms", {"not 1": lambda gamma: np.ptp(gamma) == 0 and gamma[0] not in (0, 1)}),
    factor("eps", "epsilon", eps(1e-6)),
    factor("no eps", "epsilon", {"eps 0": lambda eps: eps == 0}),
    factor("dtype", "rms", dtypes("x")),
    factor("float32", "dtype", float32()),
    factor("untouched", "purity", RANKS),
    pairs=(("eps", "x"),),
)


def gradients(about):
    """The factors of each of the two criteria, which grade different parts of the result."""
    return (
        factor(f"{about}, x", about, leading("x", 1)),
        factor(f"{about}, axes", about, {"two leading axes of length 1": FIVE["two leading axes of length 1"], **layout("x")}),
        factor(f"{about}, features", about, length("x", -1)),
        factor(f"{about}, rows", about, length("x", -2)),
        factor(f"{about}, rows and features", about, {"as many": lambda x: x.ndim > 1 and x.shape[-2] == x.shape[-1]}),
        factor(f"{about}, entries", about, numbers("x")),
        factor(f"{about}, spread", about, {"a constant row": lambda x: (x.max(axis=-1) == x.min(axis=-1)).any()}),
        factor(f"{about}, grad_out", about, numbers("grad_out")),
        factor(f"{about}, gamma", about, parameters("gamma")),
        factor(f"{about}, gamma of one value", about, {
            "not 1": lambda gamma: np.ptp(gamma) == 0 and gamma[0] not in (0, 1),
        }),
        factor(f"{about}, eps", about, eps(1e-5)),
        factor(f"{about}, no eps", about, {"eps 0": lambda eps: eps == 0}),
        factor(f"{about}, dtype", about, dtypes("x")),
    )  # fmt: skip


LAYER_NORM_BACKWARD = inputs(
    *gradients("backward_x"),
    *gradients("backward_parameters"),
    factor("float32", "dtype", float32()),
    factor("untouched", "purity", RANKS),
    pairs=(("backward_x, eps", "backward_x, x"), ("backward_parameters, eps", "backward_parameters, x")),
)

INPUTS = {"layer_norm": LAYER_NORM, "rms_norm": RMS_NORM, "layer_norm_backward": LAYER_NORM_BACKWARD}
