"""Misconceptions about rms_norm."""

import numpy as np

from autograder.homework.library import KEPT, written

DEFAULTS = (("default_eps_1e_8", "1e-8"), ("default_eps_1e_12", "1e-12"), ("default_eps_1e_3", "1e-3"))


@written
def rms_norm(x, gamma, eps=1e-6):
    squares = np.sum(x**2, axis=-1, keepdims=True)
    count = x.shape[-1]
    mean_square = squares / count
    normalised = x / np.sqrt(mean_square + eps)
    return gamma * normalised


ROWS = "Compute the mean square of each row, over the last axis: axis=-1, keepdims=True."
INSIDE = "Add eps to the mean square, inside the root: sqrt(mean(x**2) + eps)."
RMS = "the formula in the docstring of `rms_norm`; Zhang and Sennrich 2019, equation 4"

rms_norm.wrong("centred", "rms", {"    squares =": "    x = x - x.mean(axis=-1, keepdims=True)\n    squares ="},
    does="Your code subtracts the mean, as layer norm does.", right="RMS norm does not subtract the mean.",
    read="Zhang and Sennrich 2019, equation 4")
rms_norm.wrong("standard_deviation", "rms", {"np.sum(x**2": "np.sum((x - x.mean(axis=-1, keepdims=True))**2"},
    does="Your code divides by the standard deviation.",
    right="Divide by the root mean square, sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("sum_of_squares", "rms", {" / count": ""},
    does="Your code uses the sum of the squares instead of their mean, so the result shrinks as the number of features grows.",
    right="Divide by sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("sample_variance", "rms", {"/ count": "/ (count - 1)"},
    does="Your code divides the sum of squares by d - 1, so every normalised token is too small.", right="Divide by d.", read=RMS)
rms_norm.wrong("mean_absolute", "rms", {"np.sum(x**2": "np.sum(np.abs(x)", "np.sqrt(": "("},
    does="Your code divides by the mean of the absolute values.", right="Divide by sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("no_root", "rms", {"np.sqrt(": "("},
    does="Your code divides without taking the square root, so a large token comes out small and a small one large.", right="Divide by sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("first_axis", "rms", {"axis=-1": "axis=0", "x.shape[-1]": "x.shape[0]"},
    does="Your code averages over the first axis, as batch norm does.", right=ROWS, read="numpy.mean, argument axis")
rms_norm.wrong("axis_one", "rms", {"axis=-1": "axis=1", "x.shape[-1]": "x.shape[1]"},
    does="Your code averages over axis 1, which is the last axis only for a 2-D array.", right=ROWS,
    read="numpy.mean, argument axis")
rms_norm.wrong("whole_array", "rms", {"axis=-1, ": "", "x.shape[-1]": "x.size"},
    does="Your code averages over the whole array, so every token depends on all others, also on future ones.", right=ROWS, read="numpy.mean, argument axis")
rms_norm.wrong("leading_axes", "rms",
    {"axis=-1": "axis=tuple(range(x.ndim - 1))", "x.shape[-1]": "x.size // x.shape[-1]"},
    {"axis=-1": "axis=tuple(range(x.ndim - 1)) or -1", "x.shape[-1]": "(x.size // x.shape[-1] if x.ndim > 1 else x.size)"},
    does="Your code averages over all axes except the last one.", right=ROWS,
    read="numpy.mean, argument axis")
rms_norm.wrong("no_keepdims", "rms", {", keepdims=True": ""},
    does="Your code drops the averaged axis, so the statistics broadcast along the features instead of the rows.",
    right="Keep the axis with keepdims=True.", read="numpy.mean, argument keepdims, and the NumPy user guide, Broadcasting")
rms_norm.wrong("no_gamma", "rms", {"gamma * ": ""}, does="Your code does not use gamma.",
    right="Scale each feature by gamma.", read=RMS)
rms_norm.wrong("one_plus_gamma", "rms", {"gamma *": "(1 + gamma) *"},
    does="Your code scales by 1 + gamma, as some libraries do, so the gamma of other models gives other results here.", right="Scale by gamma itself.", read=RMS)
rms_norm.wrong("multiplied", "rms", {"x / ": "x * "},
    does="Your code multiplies by the root instead of dividing.", right="Divide by sqrt(mean(x**2) + eps).", read=RMS)

rms_norm.wrong("eps_outside_root", "rms_epsilon", {"np.sqrt(mean_square + eps)": "(np.sqrt(mean_square) + eps)"},
    does="Your code adds eps outside the root, so a token whose divisor is close to 0 is amplified far more.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_hard_coded_outside_root", "rms_epsilon",
    *({"np.sqrt(mean_square + eps)": f"(np.sqrt(mean_square) + {number})"} for number in ("1e-6", "1e-5", "1e-8")),
    does="Your code ignores the argument eps and adds a fixed number outside the root.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_missing", "rms_epsilon", {"mean_square + eps": "mean_square"}, does="Your code does not use eps, so a divisor of 0 gives nan or infinity.",
    right=INSIDE, read=RMS)
rms_norm.wrong("eps_squared", "rms_epsilon", {"+ eps": "+ eps**2"}, does="Your code adds eps squared.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_floor", "rms_epsilon", {"np.sqrt(mean_square + eps)": "np.maximum(np.sqrt(mean_square), eps)"},
    does="Your code uses eps as a lower bound of the root mean square.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_floor_variance", "rms_epsilon", {"mean_square + eps": "np.maximum(mean_square, eps)"},
    does="Your code uses eps as a lower bound of the mean square.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_only_for_zero", "rms_epsilon", {"mean_square + eps": "np.where(mean_square == 0, eps, mean_square)"},
    does="Your code uses eps only if the mean square is 0.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_hard_coded", "rms_epsilon", {"+ eps": "+ 1e-6"}, {"+ eps": "+ 1e-5"}, {"+ eps": "+ 1e-8"},
    ignores="eps", read="the signature of `rms_norm`")
for name, value in (("default_eps", "1e-5"), *DEFAULTS):
    rms_norm.wrong(name, "rms_epsilon", {"eps=1e-6": f"eps={value}"},
        does=f"Your default eps is {value}.", right="The default of `rms_norm` is 1e-6.", read="the signature of `rms_norm`")

rms_norm.wrong("changes_x", "purity",
    {"    normalised = x / np.sqrt(mean_square + eps)": "    x /= np.sqrt(mean_square + eps)\n    normalised = x"})
rms_norm.wrong("scale_kept", "purity", {"eps=1e-6)": "eps=1e-6, kept={})",
    "    normalised": "    mean_square = kept.setdefault(x.shape, mean_square)\n    normalised"}, memory=True,
    does="Your code reuses the mean square from an earlier call.", right="Compute it from the x of this call.",
    read=KEPT)
rms_norm.wrong("float64_result", "dtype", {"gamma *": "np.float64(1) * gamma *"})
rms_norm.wrong("float32_result", "dtype", {"gamma * normalised": "(gamma * normalised).astype(np.float32)"}, inexact=True)


GAMMA = np.array([2.0, 1.0, 0.5])
SINGLE = np.array([2.0, 1.0, 6.0], np.float32)

EXAMPLES = {
    "rms_norm": [
        ((np.array([0.3, 0.1, -0.5]), GAMMA), {}),
        ((np.array([[3.0, 1.0], [2.0, 0.0], [4.0, 1.0]]), GAMMA[::2]), {"eps": 0.5}),
        ((np.array([0.001, 0.0, 0.002]), GAMMA), {}),
        ((np.arange(2.0, 14.0).reshape(2, 3, 2), GAMMA[::2]), {"eps": 3.0}),
        ((np.array([[3.0, 5.0]]), GAMMA[::2]), {"eps": 0.0}),
        ((SINGLE, SINGLE), {}),
    ],
}
