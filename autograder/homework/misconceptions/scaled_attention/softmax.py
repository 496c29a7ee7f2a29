"""Misconceptions about softmax."""

import numpy as np

from autograder.homework.library import KEPT, written

KEEPDIMS = "numpy.sum, argument keepdims, and the NumPy user guide, Broadcasting"
LARGEST = "Subtract the largest score of each slice before exp."
EMPTY = "A score of -inf gets the weight 0, also in a slice that is all -inf."
ALONG = "Normalise each slice along axis."


@written
def softmax(scores, axis=-1):
    largest = scores.max(axis=axis, keepdims=True)
    shift = np.where(largest == -np.inf, 0.0, largest)
    exponentials = np.exp(scores - shift)
    total = exponentials.sum(axis=axis, keepdims=True)
    divisor = np.where(total == 0, 1.0, total)
    weights = exponentials / divisor
    return weights


softmax.wrong("axis_ignored", "softmax", {"axis=axis": "axis=-1"},
    does="Your code ignores the argument axis and uses the last axis.", right="Sum along axis.",
    read="numpy.sum, argument axis")
softmax.wrong("axis_ignored_in_sum", "softmax", {".sum(axis=axis": ".sum(axis=-1"},
    does="Your code ignores the argument axis in the sum.", right="Sum along axis.", read="numpy.sum, argument axis")
softmax.wrong("axis_ignored_in_maximum", "softmax", {"scores.max(axis=axis": "scores.max(axis=-1"},
    does="Your code ignores the argument axis in the maximum, so it subtracts different numbers within a slice.", right="Take the maximum along axis.",
    read="numpy.max, argument axis")
softmax.wrong("axis_one", "softmax", {"axis=axis": "axis=1"},
    does="Your code ignores the argument axis and uses axis 1.", right="Sum along axis.", read="numpy.sum, argument axis")
softmax.wrong("first_axis_by_default", "softmax", {"axis=-1)": "axis=0)"}, {"axis=-1)": "axis=1)"},
    does="Your default axis is not the last one.", right="The default is axis=-1.",
    read="the signature of `softmax`")
softmax.wrong("one_sum_for_all", "softmax", {".sum(axis=axis, keepdims=True)": ".sum()"},
    {".sum(axis=axis, keepdims=True)": ".sum()", "np.where(largest == -np.inf, 0.0, largest)": "largest"},
    {".sum(axis=axis, keepdims=True)": ".sum()", "np.where(largest == -np.inf, 0.0, largest)": "largest",
     "return weights": "return np.nan_to_num(weights)"},
    does="Your code divides by the sum over the whole array.", right=ALONG, read="numpy.sum, argument axis")
softmax.wrong("last_two_axes", "softmax", {"axis=axis": "axis=(-2, -1) if scores.ndim > 1 else axis"},
    does="Your code applies the softmax over the last two axes together.", right=ALONG, read="numpy.sum, argument axis")
softmax.wrong("no_keepdims", "softmax", {".sum(axis=axis, keepdims=True)": ".sum(axis=axis)"}, {", keepdims=True": ""},
    does="Your code drops the summed axis, so the sums broadcast along the wrong axis.", right="Keep the axis with keepdims=True.", read=KEEPDIMS)
softmax.wrong("axis_put_back_last", "softmax", {"scores.max(axis=axis, keepdims=True)": "scores.max(axis=axis)[..., None]",
    "exponentials.sum(axis=axis, keepdims=True)": "exponentials.sum(axis=axis)[..., None]"},
    does="Your code restores the summed axis at the end, which works only for the last axis.",
    right="Keep the axis with keepdims=True.", read=KEEPDIMS)
softmax.wrong("axis_left_at_the_end", "softmax", {"return weights": "return np.moveaxis(weights, axis, -1)"},
    {"return weights": "return np.swapaxes(weights, axis, -1)"},
    does="Your code moves the axis to the end and leaves it there.", right="Move it back: the result has the shape of the scores.",
    read="numpy.moveaxis")
softmax.wrong("two_axes_at_least", "softmax", {"    largest = ": "    scores = np.atleast_2d(scores)\n    largest = "},
    does="Your code converts a 1-D array to a matrix and returns a matrix.", right="The result has the shape of the scores.",
    read="numpy.atleast_2d")
softmax.wrong("matrices_only", "softmax", {"    largest = ": "    scores.shape[1]\n    largest = "},
    {"    largest = ": "    _, _ = scores.shape\n    largest = "},
    does="Your code handles only 2-D arrays.", right="Accept scores with one or more dimensions.",
    read="the docstring of `softmax`")
softmax.wrong("not_normalised", "softmax", {"exponentials / divisor": "exponentials"},
    does="Your code does not divide by the sum.", right="Divide by the sum, so the weights of a slice sum to 1.",
    read="the formula in the docstring of `softmax`")
softmax.wrong("log", "softmax", {"return weights": "return np.log(weights)"},
    does="Your code returns the logarithms of the weights.", right="Return the weights.",
    read="the formula in the docstring of `softmax`")
softmax.wrong("powers_of_two", "softmax", {"np.exp(scores - shift)": "2.0 ** (scores - shift)"},
    does="Your code computes powers of 2.", right="Use np.exp.", read="the formula in the docstring of `softmax`")
softmax.wrong("negated", "softmax", {"np.exp(scores - shift)": "np.exp(shift - scores)"},
    does="Your code computes exp of the negated scores.", right="The largest score gets the largest weight.",
    read="the formula in the docstring of `softmax`")
softmax.wrong("epsilon_in_the_sum", "softmax",
    *({"np.where(total == 0, 1.0, total)": f"total + {small}"} for small in ("1e-6", "1e-5", "1e-4", "1e-3")),
    does="Your code adds a small number to the sum, so the weights do not sum to 1.", right="Handle only a sum of zero.",
    read="the docstring of `softmax`")
softmax.wrong("transposed", "softmax", {"return weights": "return weights.T"},
    does="Your result is the transpose of the expected one.", right="The result has the shape of the scores.", read="the section Returns of the docstring of `softmax`")
softmax.wrong("no_maximum", "softmax_stability", {"np.exp(scores - shift)": "np.exp(scores)"},
    {"np.exp(scores - shift)": "np.exp(scores)", "np.where(total == 0, 1.0, total)": "total"},
    {"np.exp(scores - shift)": "np.exp(scores)", "total == 0": "largest == -np.inf"},
    does="Your code does not subtract the largest score before exp, so large scores overflow.", right=LARGEST, read="the docstring of `softmax`")
softmax.wrong("one_maximum_for_all", "softmax_stability", {"scores.max(axis=axis, keepdims=True)": "np.array(scores.max())"},
    {"scores.max(axis=axis, keepdims=True)": "np.array(scores.max())", "np.where(total == 0, 1.0, total)": "total"},
    {"scores.max(axis=axis, keepdims=True)": "np.array(scores.max())", "total == 0": "scores.max(axis, keepdims=True) == -np.inf"},
    does="Your code subtracts the largest score of the whole array, so slices with much smaller scores underflow.",
    right="Subtract the largest score of each slice before exp.",
    read="numpy.max, arguments axis and keepdims")
softmax.wrong("smallest_subtracted", "softmax_stability", {"scores.max(": "scores.min("},
    does="Your code subtracts the smallest score, so large scores overflow.", right=LARGEST, read="the docstring of `softmax`")
softmax.wrong("mean_subtracted", "softmax_stability", {"scores.max(": "scores.mean("},
    does="Your code subtracts the mean of the scores.", right=LARGEST, read="the docstring of `softmax`")
softmax.wrong("clipped", "softmax_stability",
    {"np.exp(scores - shift)": "np.where(largest == -np.inf, 0.0, np.exp(np.clip(scores, -50, 50)))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -50, 50))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -100, 100))"}, {"np.exp(scores - shift)": "np.exp(np.minimum(scores, 500))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -500, 500))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -700, 700))"},
    does="Your code clips the scores, so scores beyond the bound get equal weights.", right=LARGEST, read="numpy.clip")
softmax.wrong("nan_for_an_empty_slice", "softmax_stability", {"np.where(largest == -np.inf, 0.0, largest)": "largest",
    "np.where(total == 0, 1.0, total)": "total"}, {"np.where(total == 0, 1.0, total)": "total"},
    {"np.where(largest == -np.inf, 0.0, largest)": "largest"},
    does="Your code returns nan for a slice that is all -inf, so one query with no allowed key spreads nan to everything after it.", right=EMPTY, read="the docstring of `softmax`")
softmax.wrong("equal_weights_for_an_empty_slice", "softmax_stability",
    {"return weights": "return np.where(total == 0, 1.0 / scores.shape[axis], weights)"},
    {"    largest =": "    scores = np.where(np.isneginf(scores), -1e9, scores)\n    largest ="},
    {"    largest =": "    scores = np.nan_to_num(scores)\n    largest ="},
    does="Your code gives weight to scores of -inf, such as those of a slice that is all -inf.", right=EMPTY, read="the docstring of `softmax`")
softmax.wrong("infinities_as_zero", "softmax_stability",
    {"    largest =": "    scores = np.where(np.isinf(scores), 0.0, scores)\n    largest ="},
    does="Your code gives weight to scores of -inf.", right="A score of -inf gets the weight 0.",
    read="the docstring of `softmax`")
softmax.wrong("infinity_refused", "softmax_stability",
    {"    largest =": "    if np.isinf(scores).any():\n        raise ValueError\n    largest ="},
    does="Your code rejects scores of -inf.", right="A score of -inf gets the weight 0.", read="the docstring of `softmax`")
softmax.wrong("whole_array", "softmax", {"axis=axis": "axis=None"},
    {"axis=axis": "axis=None", "np.where(largest == -np.inf, 0.0, largest)": "largest", "np.where(total == 0, 1.0, total)": "total"},
    does="Your code applies the softmax over the whole array.", right=ALONG, read="numpy.sum, argument axis")
softmax.wrong("float32_inside", "softmax", {"    largest =": "    scores = scores.astype(np.float32)\n    largest ="},
    {"    largest =": "    scores = scores.astype(np.float16)\n    largest ="}, inexact=True,
    does="Your code computes with float32 precision, even for float64 arguments.", right="Compute in the dtype of the arguments.",
    read="numpy.ndarray.astype")
softmax.wrong("changes_scores", "purity", {"np.exp(scores - shift)": "np.exp(np.subtract(scores, shift, out=scores))"})
softmax.wrong("remembers", "purity", {"axis=-1)": "axis=-1, kept={})",
    "    shift": "    largest = kept.setdefault(scores.shape, largest)\n    shift",
    "    divisor": "    total = kept.setdefault((scores.shape, 0), total)\n    divisor"}, memory=True,
    does="Your code reuses statistics from an earlier call.", right="Compute them from the scores of this call.", read=KEPT)
softmax.wrong("float64_result", "dtype", {"return weights": "return weights.astype(float)"})


EXAMPLES = {
    "softmax": [
        ((np.array([2.0, 0.0, 1.0]),), {}),
        ((np.array([[2.0, 0.0, -1.0], [3.0, 1.0, 0.5]]),), {"axis": 0}),
        ((np.array([[2.0, -np.inf], [-np.inf, -np.inf]]),), {}),
        ((np.array([[1000.0, 1001.0], [-1000.0, -1002.0]]),), {}),
        ((np.array([[1000.0, 2.0], [1001.0, -3.0]]),), {"axis": 0}),
        ((np.array([[[2.0, 0.0], [3.0, 1.0]]]),), {}),
    ],
}
