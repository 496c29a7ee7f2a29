"""Misconceptions about layer_norm."""

import numpy as np

from autograder.homework.library import KEPT, written

EPS = "Add eps to the variance, inside the root: sqrt(var + eps)."
AXIS = "Compute the mean and variance of each row, over the last axis: axis=-1, keepdims=True."
FORMULA = "the formula in the docstring of `layer_norm`; Ba et al. 2016, section 3"


@written
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    squares = np.sum(centred**2, axis=-1, keepdims=True)
    count = x.shape[-1]
    var = squares / count
    normalised = centred / np.sqrt(var + eps)
    return gamma * normalised + beta


layer_norm.wrong("sample_variance", "statistics", {"/ count": "/ (count - 1)"},
    does="Your code divides the sum of squares by d - 1, so every normalised token is too small.", right="Divide by d: layer norm uses the population variance.",
    read="numpy.var, argument ddof")
layer_norm.wrong("first_axis", "statistics", {"axis=-1": "axis=0", "x.shape[-1]": "x.shape[0]"},
    does="Your code averages over the first axis, as batch norm does.", right=AXIS,
    read="Ba et al. 2016, section 3")
layer_norm.wrong("axis_one", "statistics", {"axis=-1": "axis=1", "x.shape[-1]": "x.shape[1]"},
    does="Your code averages over axis 1, which is the last axis only for a 2-D array.", right=AXIS,
    read="numpy.mean, argument axis")
layer_norm.wrong("whole_array", "statistics", {"axis=-1, ": "", "x.shape[-1]": "x.size"},
    does="Your code averages over the whole array, so every token depends on all others, also on future ones.", right=AXIS, read="numpy.mean, argument axis")
layer_norm.wrong("mean_of_whole_array", "statistics", {"x.mean(axis=-1, keepdims=True)": "x.mean()"},
    {"x - mean": "x - x.mean()", "np.sum(centred**2": "np.sum((x - mean)**2"},
    does="Your code subtracts the mean of the whole array.", right=AXIS, read="numpy.mean, argument axis")
layer_norm.wrong("variance_of_whole_array", "statistics", {"np.sum(centred**2, axis=-1, keepdims=True)": "x.var() * x.shape[-1]"},
    {"np.sum(centred**2, axis=-1, keepdims=True)": "np.mean(centred**2) * x.shape[-1]"},
    does="Your code divides by the standard deviation of the whole array.", right=AXIS, read="numpy.var, argument axis")
layer_norm.wrong("leading_axes", "statistics",
    {"axis=-1": "axis=tuple(range(x.ndim - 1))", "x.shape[-1]": "x.size // x.shape[-1]"},
    {"axis=-1": "axis=tuple(range(x.ndim - 1)) or -1", "x.shape[-1]": "(x.size // x.shape[-1] if x.ndim > 1 else x.size)"},
    does="Your code averages over all axes except the last one.", right=AXIS,
    read="Ba et al. 2016, section 3")
layer_norm.wrong("last_two_axes", "statistics", {"axis=-1": "axis=(-2, -1)", "x.shape[-1]": "(x.shape[-1] * x.shape[-2])"},
    does="Your code averages over the last two axes together.", right=AXIS,
    read="numpy.mean, argument axis")
layer_norm.wrong("flattened", "statistics", {"    mean = ": "    x = x.reshape(-1, x.shape[-1])\n    mean = "},
    does="Your code reshapes x to a matrix and does not restore the shape, so the sequences of a batch can no longer be told apart.",
    right="The result has the shape of x.", read="the docstring of `layer_norm`")
layer_norm.wrong("no_keepdims", "statistics", {", keepdims=True": ""},
    {"x.mean(axis=-1, keepdims=True)": "x.mean(axis=-1)",
     "np.sum(centred**2, axis=-1, keepdims=True)": "x.var(axis=-1) * x.shape[-1]"},
    does="Your code drops the averaged axis, so the statistics broadcast along the features instead of the rows.",
    right="Keep the axis with keepdims=True.", read="numpy.mean, argument keepdims, and the NumPy user guide, Broadcasting")
layer_norm.wrong("not_centred", "statistics", {"centred / ": "x / "},
    does="Your code does not subtract the mean from x.",
    right="Subtract the mean first: (x - mean) / sqrt(var + eps).",
    read=FORMULA)
layer_norm.wrong("mean_square", "statistics", {"centred**2": "x**2"},
    does="Your code uses the mean of x**2 as the variance.", right="The variance is the mean of (x - mean)**2.", read=FORMULA)
layer_norm.wrong("mean_absolute_deviation", "statistics", {"centred**2": "np.abs(centred)", "squares / count": "(squares / count) ** 2"},
    does="Your code divides by the mean absolute deviation, so the variance of a normalised token is not 1.",
    right="Divide by the standard deviation, sqrt(var + eps).", read=FORMULA)
layer_norm.wrong("no_root", "statistics", {"np.sqrt(": "("},
    does="Your code divides without taking the square root, so a large token comes out small and a small one large.", right="Divide by the standard deviation, sqrt(var + eps).", read=FORMULA)
layer_norm.wrong("sum_of_squares", "statistics", {" / count": ""},
    does="Your code uses the sum of the squares instead of their mean, so the result shrinks as the number of features grows.",
    right="Divide the sum by d.",
    read=FORMULA)
layer_norm.wrong("only_centred", "statistics", {"centred / np.sqrt(var + eps)": "centred"},
    does="Your code subtracts the mean but does not divide.", right="Divide by sqrt(var + eps).", read=FORMULA)
layer_norm.wrong("multiplied", "statistics", {"centred / ": "centred * "},
    does="Your code multiplies by the root instead of dividing.", right="Divide by sqrt(var + eps).", read=FORMULA)

layer_norm.wrong("gamma_beta_swapped", "affine", {"gamma *": "beta *", "+ beta": "+ gamma"},
    does="Your code scales by beta and adds gamma.", right="Scale by gamma and add beta; check the order of the arguments.",
    read=FORMULA)
layer_norm.wrong("shift_before_scale", "affine", {"normalised + beta": "(normalised + beta)"},
    does="Your code adds beta before scaling, so gamma also scales beta.", right="Scale first, then add beta.", read=FORMULA)
layer_norm.wrong("no_affine", "affine", {"gamma * normalised + beta": "normalised"},
    does="Your code uses neither gamma nor beta.", right="Scale the normalised row by gamma and add beta.", read=FORMULA)
layer_norm.wrong("no_gamma", "affine", {"gamma * ": ""},
    does="Your code does not use gamma.", right="Scale the normalised row by gamma.", read=FORMULA)
layer_norm.wrong("no_beta", "affine", {" + beta": ""},
    does="Your code does not use beta.", right="Add beta after scaling.", read=FORMULA)
layer_norm.wrong("beta_subtracted", "affine", {"+ beta": "- beta"},
    does="Your code subtracts beta.", right="Add beta after scaling.", read=FORMULA)
layer_norm.wrong("one_plus_gamma", "affine", {"gamma *": "(1 + gamma) *"},
    does="Your code scales by 1 + gamma, as some libraries do, so the gamma of other models gives other results here.", right="Scale by gamma itself.", read=FORMULA)

layer_norm.wrong("eps_outside_root", "epsilon", {"np.sqrt(var + eps)": "(np.sqrt(var) + eps)"},
    does="Your code adds eps outside the root, so a token whose divisor is close to 0 is amplified far more.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_hard_coded_outside_root", "epsilon",
    *({"np.sqrt(var + eps)": f"(np.sqrt(var) + {number})"} for number in ("1e-5", "1e-6", "1e-8")),
    does="Your code ignores the argument eps and adds a fixed number outside the root.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_missing", "epsilon", {"var + eps": "var"}, does="Your code does not use eps, so a divisor of 0 gives nan or infinity.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_squared", "epsilon", {"+ eps": "+ eps**2"}, does="Your code adds eps squared.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_floor", "epsilon", {"np.sqrt(var + eps)": "np.maximum(np.sqrt(var), eps)"},
    does="Your code uses eps as a lower bound of the standard deviation.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_floor_variance", "epsilon", {"var + eps": "np.maximum(var, eps)"},
    does="Your code uses eps as a lower bound of the variance.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_only_for_zero", "epsilon", {"var + eps": "np.where(var == 0, eps, var)"},
    does="Your code uses eps only if the variance is 0.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_hard_coded", "epsilon", {"+ eps": "+ 1e-5"}, {"+ eps": "+ 1e-6"}, {"+ eps": "+ 1e-8"}, {"+ eps": "+ 1e-12"},
    ignores="eps", read="the signature of `layer_norm`")
DEFAULTS = (("default_eps_1e_8", "1e-8"), ("default_eps_1e_12", "1e-12"), ("default_eps_1e_3", "1e-3"))
for name, value in (("default_eps", "1e-6"), *DEFAULTS):
    layer_norm.wrong(name, "epsilon", {"eps=1e-5": f"eps={value}"},
        does=f"Your default eps is {value}.", right="The default of `layer_norm` is 1e-5.", read="the signature of `layer_norm`")

layer_norm.wrong("one_pass_variance", "stability",
    {"    centred = x - mean": "    centred, powers = x - mean, x**2", "centred**2": "powers",
     "    var =": "    squares = squares - count * mean**2\n    var ="},
    {"centred**2": "x**2", "var =": "var = -(mean**2) +"}, inexact=True,
    does="Your variance loses precision for rows with a large mean, as mean(x**2) - mean(x)**2 does.",
    right="Subtract the mean first, then square.",
    read="the Wikipedia page Algorithms for calculating variance, section Naive algorithm")
layer_norm.wrong("float32_inside", "stability", {"    mean = ": "    x = x.astype(np.float32)\n    mean = "}, inexact=True,
    does="Your code computes with float32 precision, even for float64 arguments.", right="Compute in the dtype of the arguments.",
    read="numpy.ndarray.astype")

layer_norm.wrong("changes_x", "purity", {"    centred = x - mean": "    x -= mean\n    centred = x"})
layer_norm.wrong("statistics_kept", "purity", {"eps=1e-5)": "eps=1e-5, kept={})",
    "    centred": '    mean = kept.setdefault(("mean", x.shape), mean)\n    centred',
    "    normalised": '    var = kept.setdefault(("var", x.shape), var)\n    normalised'}, memory=True,
    does="Your code reuses the mean and variance from an earlier call.", right="Compute them from the x of this call.",
    read=KEPT)
layer_norm.wrong("float64_result", "dtype", {"gamma *": "np.float64(1) * gamma *"})
layer_norm.wrong("float32_result", "dtype",
    {"gamma * normalised + beta": "(gamma * normalised + beta).astype(np.float32)"}, inexact=True)


GAMMA, BETA = np.array([2.0, 1.0, 0.5]), np.array([0.5, 1.0, -1.0])
SINGLE = np.array([2.0, 1.0, 6.0], np.float32)

EXAMPLES = {
    "layer_norm": [
        ((np.array([3.0, 5.0, 10.0]), GAMMA, BETA), {}),
        ((np.array([[3.0, 2.0], [1.0, 7.0], [0.0, 2.0]]), GAMMA[::2], BETA[::2]), {"eps": 0.5}),
        ((np.array([0.003, 0.0, 0.0]), GAMMA, BETA), {}),
        ((np.array([1e6, 1e6 + 1.0, 1e6 + 5.0]), GAMMA, BETA), {}),
        ((np.arange(2.0, 14.0).reshape(2, 3, 2) ** 2, GAMMA[::2], BETA[::2]), {"eps": 3.0}),
        ((np.array([[3.0, 5.0]]), GAMMA[::2], BETA[::2]), {"eps": 0.0}),
        ((SINGLE, SINGLE, SINGLE), {}),
    ],
}
