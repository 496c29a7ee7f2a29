"""Misconceptions about norm_moments."""

import numpy as np

from autograder.homework.library import written


@written
def norm_moments(x, kind):
    if kind not in ("layer", "batch"):
        raise ValueError("kind is layer or batch")
    axis = 1 if kind == "layer" else 0
    mean = x.mean(axis=axis, keepdims=True)
    centred = x - mean
    squares = centred**2
    var = squares.mean(axis=axis, keepdims=True)
    return mean, var


AXES = '"layer" averages over the features, axis 1; "batch" averages over the examples, axis 0.'
SHAPES = 'Keep the axis with length 1: the shape is (n, 1) for "layer" and (1, d) for "batch".'
POPULATION = "Return the population variance, mean((x - mean)**2), with the mean of the same kind."
KINDS = 'Raise ValueError for every kind except "layer" and "batch".'
CHECK = '    if kind not in ("layer", "batch"):\n        raise ValueError("kind is layer or batch")\n'

norm_moments.wrong("kinds_swapped", "moments", {"1 if": "0 if", "else 0": "else 1"},
    does='Your code swaps layer norm and batch norm, so "layer" mixes the examples of the batch.', right=AXES)
norm_moments.wrong("always_layer", "moments", {"else 0": "else 1"}, does="Your code uses axis 1 for both kinds.", right=AXES)
norm_moments.wrong("always_batch", "moments", {"1 if": "0 if"}, does="Your code uses axis 0 for both kinds.", right=AXES)
norm_moments.wrong("whole_array", "moments", {"1 if": "None if", "else 0": "else None"},
    does="Your code averages over the whole array.", right=AXES)
norm_moments.wrong("no_keepdims", "moments", {"return mean, var": "return mean.squeeze(axis), var.squeeze(axis)"},
    does="Your code drops the averaged axis.", right=SHAPES, read="numpy.mean, argument keepdims")
norm_moments.wrong("always_columns", "moments", {"return mean, var": "return mean.reshape(-1, 1), var.reshape(-1, 1)"},
    does="Your code returns columns for both kinds.", right=SHAPES)
norm_moments.wrong("always_rows", "moments", {"return mean, var": "return mean.reshape(1, -1), var.reshape(1, -1)"},
    does="Your code returns rows for both kinds.", right=SHAPES)
norm_moments.wrong("sample_variance", "moments", {"squares.mean(": "squares.size / (squares.size - mean.size) * squares.mean("},
    does="Your code computes the unbiased variance, which divides by the number of values minus 1.", right=POPULATION, read="numpy.var, argument ddof")
norm_moments.wrong("standard_deviation", "moments", {"squares.mean(axis=axis, keepdims=True)": "squares.mean(axis=axis, keepdims=True) ** 0.5"},
    does="Your code returns the standard deviation instead of the variance.", right=POPULATION, read="numpy.std")
norm_moments.wrong("mean_square", "moments", {"squares = centred": "squares = x"},
    does="Your code returns the mean of x**2 instead of the variance.", right=POPULATION, read="numpy.var")
norm_moments.wrong("about_the_total_mean", "moments", {"centred = x - mean": "centred = x - x.mean()"},
    does="Your code computes the variance around the mean of the whole array.", right=POPULATION, read="numpy.var")
norm_moments.wrong("variance_first", "moments", {"return mean, var": "return var, mean"},
    does="Your code returns the variance first.", right="Return (mean, var).")
norm_moments.wrong("only_the_mean", "moments", {"return mean, var": "return mean"},
    does="Your code returns only the mean.", right="Return (mean, var).")
norm_moments.wrong("no_value_error", "moments", {CHECK: ""},
    {CHECK: "", '1 if kind == "layer" else 0': '0 if kind == "batch" else 1'},
    does="Your code accepts an unknown kind.", right=KINDS)
norm_moments.wrong("loose_kinds", "moments", {"    if kind not": "    kind = kind.lower()\n    if kind not"},
    {"    if kind not": "    kind = kind.strip()\n    if kind not"},
    {'kind not in ("layer", "batch")': 'kind not in "layer batch"', 'kind == "layer"': 'kind in "layer"'},
    {'kind not in ("layer", "batch")': '"layer" not in kind and "batch" not in kind', 'kind == "layer"': '"layer" in kind'},
    does="Your code accepts names that only resemble the two kinds.", right=KINDS)
norm_moments.wrong("any_batch", "moments", {'kind not in ("layer", "batch")': 'kind != "layer" and not kind.startswith("batch")'},
    does='Your code accepts every name that starts with "batch".', right=KINDS)
for name, error in (("key_error", "KeyError"), ("assertion", "AssertionError"), ("type_error", "TypeError")):
    norm_moments.wrong(name, "moments", {"ValueError": error}, does=f"Your code raises {error} for an unknown kind.", right=KINDS)

norm_moments.wrong("changes_x", "purity", {"    centred = x - mean": "    x -= mean\n    centred = x"})
norm_moments.wrong("float64_result", "dtype", {"x.mean(": "np.float64(1) * x.mean("})


FLAT = np.array([[2.0, 1.0, 6.0], [0.0, 4.0, 5.0]])
SINGLE = np.array([[3.0, 1.0], [2.0, 0.5]], np.float32)

EXAMPLES = {
    "norm_moments": [
        ((FLAT, "layer"), {}),
        ((FLAT, "batch"), {}),
        ((FLAT, "batch_train"), {}),
        ((FLAT, "group"), {}),
        ((FLAT, "Layer"), {}),
        ((FLAT, "lay"), {}),
        ((FLAT, " layer"), {}),
        ((SINGLE, "layer"), {}),
    ],
}
