"""Input classes for the functions of batchnorm_comparison.py."""

import numpy as np

from autograder.homework.factors import factor, inputs, layout, length, numbers, where


def named(name, values):
    return {f"{name} {words}": condition for words, condition in values.items()}


def table(x="x"):
    """The shape and the entries of a table of examples."""
    return {
        **named("examples:", length(x, 0)),
        **named("features:", length(x, 1)),
        "as many examples as features": lambda x: x.shape[0] == x.shape[1],
        **numbers(x),
        "float32": lambda x: x.dtype == np.float32,
    }


def without(words, values):
    return {key: condition for key, condition in values.items() if key not in words}


TRAINING, EVALUATION = (lambda training, result: training), (lambda training, result: not training)
SIGNS = list(numbers("x"))

BATCH_NORM = inputs(
    factor("training", "training", where(TRAINING, without(["examples: length 1"], table()))),
    factor("training, parameters", "training", where(TRAINING, {
        **named("gamma", numbers("gamma")),
        **named("beta", numbers("beta")),
        "a constant feature": lambda x: (np.ptp(x, axis=0) == 0).any(),
        "an example far from the others": lambda x: (np.abs(x - x.mean(axis=0)) > 4 * x.std(axis=0)).any(),
        **layout("x"),
    })),
    factor("training, eps", "training", where(TRAINING, {
        "the default": lambda eps: eps == 1e-5,
        "another": lambda eps: eps not in (0, 1e-5),
        "0": lambda eps: eps == 0,
    })),
    factor("running", "running", where(TRAINING, without(["examples: length 1", *SIGNS], table()))),
    factor("running, statistics", "running", where(TRAINING, {
        **named("running_mean", numbers("running_mean")),
        **named("running_var", without(["all entries negative", "entries of both signs"], numbers("running_var"))),
        "a constant feature": lambda x: (np.ptp(x, axis=0) == 0).any(),
    })),
    factor("momentum", "running", where(TRAINING, {
        "the default": lambda momentum: momentum == 0.1,
        "0": lambda momentum: momentum == 0,
        "1": lambda momentum: momentum == 1,
        "between": lambda momentum: momentum not in (0, 0.1, 1),
    })),
    factor("evaluation", "evaluation", where(EVALUATION, table())),
    factor("evaluation, parameters", "evaluation", where(EVALUATION, {
        **named("gamma", numbers("gamma")),
        **named("beta", numbers("beta")),
        **named("running_mean", numbers("running_mean")),
        **named("running_var", without(["all entries negative", "entries of both signs"], numbers("running_var"))),
        "the default eps": lambda eps: eps == 1e-5,
        "another eps": lambda eps: eps != 1e-5,
        "a momentum": lambda momentum: momentum != 0.1,
    })),
    factor("one example in training", "evaluation", {
        "several features": lambda x, training: training and len(x) == 1 and x.shape[1] > 1,
        "one feature": lambda x, training: training and x.shape == (1, 1),
    }),
    factor("float32", "dtype", {
        "training": lambda training: training,
        "evaluation": lambda training: not training,
        "explicit momentum and eps": lambda momentum, eps: momentum != 0.1 and eps != 1e-5,
    }),
    factor("untouched", "purity", {
        "training": lambda training, result: training,
        "training in float32": lambda x, training, result: training and x.dtype == np.float32,
        "evaluation": lambda training, result: not training,
        "evaluation of one example": lambda x, training, result: not training and len(x) == 1,
        "one example in training": lambda x, training: training and len(x) == 1,
    }),
)  # fmt: skip

KINDS = {kind: lambda kind, wanted=kind: kind == wanted for kind in ("layer", "batch")}
OTHER = {
    "a prefix of a valid one": lambda kind, known: any(one.startswith(kind) and one != kind != "" for one in known),
    "a valid one with a suffix": lambda kind, known: (
        any(kind.startswith(one) and kind != one for one in known) and kind not in known
    ),
    "empty": lambda kind, known: kind == "",
}


def other(*known, without=()):
    """Unknown kinds that resemble a known one."""
    nearly = {
        **{f"{one} in another case": lambda kind, one=one: kind.lower() == one != kind for one in known},
        **{f"{one} with a space": lambda kind, one=one: kind.strip() == one != kind for one in known},
    }
    return nearly | {words: lambda kind, c=c: c(kind, known) for words, c in OTHER.items() if words not in without}


NORM_MOMENTS = inputs(
    factor("x", "moments", table()),
    factor("shape", "moments", {"one number": lambda x: x.size == 1, **layout("x")}),
    factor("kind", "moments", KINDS),
    factor("another kind", "moments", other("layer", "batch", without=["a prefix of a valid one"])),
    factor("float32", "dtype", KINDS),
    factor("untouched", "purity", KINDS),
    pairs=(("x", "kind"),),
)

CONNECTIONS = {kind: lambda kind, wanted=kind: kind == wanted for kind in ("layer", "batch_train", "batch_eval")}

INFLUENCE = inputs(
    factor("x", "influence", {
        "more examples than features": lambda x: x.shape[0] > x.shape[1],
        "fewer examples than features": lambda x: x.shape[0] < x.shape[1],
        "as many examples as features": lambda x: x.shape[0] == x.shape[1],
        "three examples": lambda x: len(x) == 3,
        "more than eight examples": lambda x: len(x) > 8,
        "three features": lambda x: x.shape[1] == 3,
        "float32": lambda x: x.dtype == np.float32,
        **{words: condition for words, condition in numbers("x").items() if "negative" not in words},
    }),
    factor("many examples, in training", "influence", where(lambda x, kind: len(x) > 32 and kind == "batch_train", {
        "far apart": lambda x: 5 < x.std() < 50,
        "very far apart": lambda x: x.std() > 500,
    })),
    factor("kind", "influence", CONNECTIONS),
    factor("another kind", "influence", other("layer", "batch_train", "batch_eval")),
    factor("untouched", "purity", CONNECTIONS),
    pairs=(("x", "kind"),),
)  # fmt: skip

INPUTS = {"batch_norm": BATCH_NORM, "norm_moments": NORM_MOMENTS, "influence": INFLUENCE}
