"""Known mistakes in layernorm.py."""

import numpy as np

from autograder.homework.mistakes import written

EPS = "Add eps to the variance, under the root: sqrt(var + eps)."
AXIS = "Every row has its own mean and variance, over the last axis: axis=-1, keepdims=True."
FORMULA = "the formula in the docstring of `layer_norm`"
COPIES = "NumPy's page on copies and views"
PROMOTION = "NumPy's page on data type promotion (NEP 50)"


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
    does="Your code divides the sum of squares by d - 1.", right="Divide by d: layer norm has the population variance.",
    read="numpy.var, argument ddof")
layer_norm.wrong("first_axis", "statistics", {"axis=-1": "axis=0", "x.shape[-1]": "x.shape[0]"},
    does="Your code takes mean and variance over the first axis, as batch norm does.", right=AXIS,
    read="Ba, Kiros and Hinton 2016, section 3")
layer_norm.wrong("axis_one", "statistics", {"axis=-1": "axis=1", "x.shape[-1]": "x.shape[1]"},
    does="Your code takes mean and variance over axis 1, which is the last axis only of a matrix.", right=AXIS,
    read="numpy.mean, argument axis")
layer_norm.wrong("whole_array", "statistics", {"axis=-1, ": "", "x.shape[-1]": "x.size"},
    does="Your code takes one mean and one variance for the whole array.", right=AXIS, read="numpy.mean, argument axis")
layer_norm.wrong("leading_axes", "statistics",
    {"axis=-1": "axis=tuple(range(x.ndim - 1))", "x.shape[-1]": "x.size // x.shape[-1]"},
    {"axis=-1": "axis=tuple(range(x.ndim - 1)) or -1", "x.shape[-1]": "(x.size // x.shape[-1] if x.ndim > 1 else x.size)"},
    does="Your code takes mean and variance over all axes but the last, so that every feature has its own.", right=AXIS,
    read="Ba, Kiros and Hinton 2016, section 3")
layer_norm.wrong("last_two_axes", "statistics", {"axis=-1": "axis=(-2, -1)", "x.shape[-1]": "(x.shape[-1] * x.shape[-2])"},
    does="Your code takes mean and variance over the last two axes together.", right=AXIS,
    read="numpy.mean, argument axis")
layer_norm.wrong("no_keepdims", "statistics", {", keepdims=True": ""},
    {"x.mean(axis=-1, keepdims=True)": "x.mean(axis=-1)",
     "np.sum(centred**2, axis=-1, keepdims=True)": "x.var(axis=-1) * x.shape[-1]"},
    does="Your code drops the last axis of mean and variance, so they are lined up with the features instead of the rows.",
    right="Keep it with keepdims=True.", read="numpy.mean, argument keepdims, and NumPy's page on broadcasting")
layer_norm.wrong("not_centred", "statistics", {"centred / ": "x / "},
    does="Your code divides x itself, without subtracting the mean.",
    right="Subtract the mean first: (x - mean) / sqrt(var + eps).",
    read=FORMULA)
layer_norm.wrong("mean_square", "statistics", {"centred**2": "x**2"},
    does="Your code takes the mean of x**2 for the variance.", right="The variance is the mean of (x - mean)**2.", read=FORMULA)
layer_norm.wrong("no_root", "statistics", {"np.sqrt(": "("},
    does="Your code divides by the variance.", right="Divide by its square root, sqrt(var + eps).", read=FORMULA)
layer_norm.wrong("sum_of_squares", "statistics", {" / count": ""},
    does="Your code takes the sum of the squared differences for the variance.",
    right="The variance is their mean: divide the sum by d.",
    read=FORMULA)
layer_norm.wrong("only_centred", "statistics", {"centred / np.sqrt(var + eps)": "centred"},
    does="Your code subtracts the mean and does not divide.", right="Divide by sqrt(var + eps).", read=FORMULA)
layer_norm.wrong("multiplied", "statistics", {"centred / ": "centred * "},
    does="Your code multiplies by the standard deviation.", right="Divide by sqrt(var + eps).", read=FORMULA)

layer_norm.wrong("gamma_beta_swapped", "affine", {"gamma *": "beta *", "+ beta": "+ gamma"},
    does="Your code scales by beta and adds gamma.", right="Scale by gamma and add beta: mind the order of the arguments.",
    read=FORMULA)
layer_norm.wrong("shift_before_scale", "affine", {"normalised + beta": "(normalised + beta)"},
    does="Your code adds beta before it scales, so that gamma scales beta too.", right="Scale first, then add beta.", read=FORMULA)
layer_norm.wrong("no_affine", "affine", {"gamma * normalised + beta": "normalised"},
    does="Your code uses neither gamma nor beta.", right="Scale the normalised row by gamma and add beta.", read=FORMULA)
layer_norm.wrong("no_gamma", "affine", {"gamma * ": ""},
    does="Your code does not use gamma.", right="Scale the normalised row by gamma.", read=FORMULA)
layer_norm.wrong("no_beta", "affine", {" + beta": ""},
    does="Your code does not use beta.", right="Add beta after scaling.", read=FORMULA)
layer_norm.wrong("beta_subtracted", "affine", {"+ beta": "- beta"},
    does="Your code subtracts beta.", right="Add beta after scaling.", read=FORMULA)
layer_norm.wrong("one_plus_gamma", "affine", {"gamma *": "(1 + gamma) *"},
    does="Your code scales by 1 + gamma, as some libraries do.", right="Scale by gamma itself.", read=FORMULA)

layer_norm.wrong("eps_outside_root", "epsilon", {"np.sqrt(var + eps)": "(np.sqrt(var) + eps)"},
    does="Your code adds eps to the standard deviation.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_missing", "epsilon", {"var + eps": "var"}, does="Your code does not use eps.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_squared", "epsilon", {"+ eps": "+ eps**2"}, does="Your code adds eps squared.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_floor", "epsilon", {"np.sqrt(var + eps)": "np.maximum(np.sqrt(var), eps)"},
    does="Your code uses eps as a lower bound of the standard deviation.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_floor_variance", "epsilon", {"var + eps": "np.maximum(var, eps)"},
    does="Your code uses eps as a lower bound of the variance.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_only_for_zero", "epsilon", {"var + eps": "np.where(var == 0, eps, var)"},
    does="Your code uses eps only where the variance is 0.", right=EPS, read=FORMULA)
layer_norm.wrong("eps_hard_coded", "epsilon", {"+ eps": "+ 1e-5"},
    does="Your code uses a fixed eps of 1e-5 whatever the caller passes.", right="Use the argument eps.",
    read="the signature of `layer_norm`")
DEFAULTS = (("default_eps_1e_8", "1e-8"), ("default_eps_1e_12", "1e-12"), ("default_eps_1e_3", "1e-3"))
for name, value in (("default_eps", "1e-6"), *DEFAULTS):
    layer_norm.wrong(name, "epsilon", {"eps=1e-5": f"eps={value}"},
        does=f"Your default of eps is {value}.", right="The default of `layer_norm` is 1e-5.", read="the signature of `layer_norm`")

layer_norm.wrong("one_pass_variance", "stability", {"centred**2": "x**2", "var =": "var = -(mean**2) +"}, inexact=True,
    does="Your variance loses its digits where the mean is far above the spread, as mean(x**2) - mean(x)**2 does.",
    right="Subtract the mean first, then square.",
    read="the Wikipedia page Algorithms for calculating variance, section Naive algorithm")
layer_norm.wrong("float32_inside", "stability", {"    mean = ": "    x = x.astype(np.float32)\n    mean = "}, inexact=True,
    does="Your code is only as accurate as float32, also for float64 arguments.", right="Compute in the dtype of x.",
    read="numpy.ndarray.astype")

layer_norm.wrong("changes_x", "purity", {"    centred = x - mean": "    x -= mean\n    centred = x"},
    does="Your code changes the argument `x`.", right="Work on new arrays: x - mean makes one, x -= mean changes the caller's.",
    read=COPIES)
layer_norm.wrong("statistics_kept", "purity", {"eps=1e-5)": "eps=1e-5, kept={})",
    "    centred": '    mean = kept.setdefault(("mean", x.shape), mean)\n    centred',
    "    normalised": '    var = kept.setdefault(("var", x.shape), var)\n    normalised'}, memory=True,
    does="Your code uses mean and variance of an earlier call again.", right="Compute them from the x of this call.",
    read="the Python FAQ on default values shared between calls")
layer_norm.wrong("float64_result", "dtype", {"gamma *": "np.float64(1) * gamma *"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the arguments.", read=PROMOTION)


@written
def rms_norm(x, gamma, eps=1e-6):
    squares = np.sum(x**2, axis=-1, keepdims=True)
    count = x.shape[-1]
    mean_square = squares / count
    normalised = x / np.sqrt(mean_square + eps)
    return gamma * normalised


ROWS = "Every row has its own mean square, over the last axis: axis=-1, keepdims=True."
INSIDE = "Add eps to the mean square, under the root: sqrt(mean(x**2) + eps)."
RMS = "the formula in the docstring of `rms_norm`"

rms_norm.wrong("centred", "rms", {"    squares =": "    x = x - x.mean(axis=-1, keepdims=True)\n    squares ="},
    does="Your code subtracts the mean first, which makes it layer norm.", right="RMS norm subtracts nothing.",
    read="Zhang and Sennrich 2019, equation 4")
rms_norm.wrong("standard_deviation", "rms", {"np.sum(x**2": "np.sum((x - x.mean(axis=-1, keepdims=True))**2"},
    does="Your code divides by the standard deviation, which is measured from the mean.",
    right="The root mean square is measured from zero: sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("sum_of_squares", "rms", {" / count": ""},
    does="Your code divides by the root of the sum of squares.",
    right="Divide by the root of their mean, sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("sample_variance", "rms", {"/ count": "/ (count - 1)"},
    does="Your code divides the sum of squares by d - 1.", right="Divide by d: it is a mean.", read=RMS)
rms_norm.wrong("mean_absolute", "rms", {"np.sum(x**2": "np.sum(np.abs(x)", "np.sqrt(": "("},
    does="Your code divides by the mean of the absolute values.", right="Divide by the root of the mean of the squares.", read=RMS)
rms_norm.wrong("no_root", "rms", {"np.sqrt(": "("},
    does="Your code divides by the mean square.", right="Divide by its square root, sqrt(mean(x**2) + eps).", read=RMS)
rms_norm.wrong("first_axis", "rms", {"axis=-1": "axis=0", "x.shape[-1]": "x.shape[0]"},
    does="Your code takes the mean square over the first axis.", right=ROWS, read="numpy.mean, argument axis")
rms_norm.wrong("axis_one", "rms", {"axis=-1": "axis=1", "x.shape[-1]": "x.shape[1]"},
    does="Your code takes the mean square over axis 1, which is the last axis only of a matrix.", right=ROWS,
    read="numpy.mean, argument axis")
rms_norm.wrong("whole_array", "rms", {"axis=-1, ": "", "x.shape[-1]": "x.size"},
    does="Your code takes one mean square for the whole array.", right=ROWS, read="numpy.mean, argument axis")
rms_norm.wrong("leading_axes", "rms",
    {"axis=-1": "axis=tuple(range(x.ndim - 1))", "x.shape[-1]": "x.size // x.shape[-1]"},
    {"axis=-1": "axis=tuple(range(x.ndim - 1)) or -1", "x.shape[-1]": "(x.size // x.shape[-1] if x.ndim > 1 else x.size)"},
    does="Your code takes the mean square over all axes but the last, so that every feature has its own.", right=ROWS,
    read="numpy.mean, argument axis")
rms_norm.wrong("no_keepdims", "rms", {", keepdims=True": ""},
    does="Your code drops the last axis of the mean square, so it is lined up with the features instead of the rows.",
    right="Keep it with keepdims=True.", read="numpy.mean, argument keepdims, and NumPy's page on broadcasting")
rms_norm.wrong("no_gamma", "rms", {"gamma * ": ""}, does="Your code does not use gamma.",
    right="Scale every feature by gamma.", read=RMS)
rms_norm.wrong("one_plus_gamma", "rms", {"gamma *": "(1 + gamma) *"},
    does="Your code scales by 1 + gamma, as some libraries do.", right="Scale by gamma itself.", read=RMS)
rms_norm.wrong("multiplied", "rms", {"x / ": "x * "},
    does="Your code multiplies by the root mean square.", right="Divide by sqrt(mean(x**2) + eps).", read=RMS)

rms_norm.wrong("eps_outside_root", "epsilon", {"np.sqrt(mean_square + eps)": "(np.sqrt(mean_square) + eps)"},
    does="Your code adds eps after the root.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_missing", "epsilon", {"mean_square + eps": "mean_square"}, does="Your code does not use eps.",
    right=INSIDE, read=RMS)
rms_norm.wrong("eps_squared", "epsilon", {"+ eps": "+ eps**2"}, does="Your code adds eps squared.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_floor", "epsilon", {"np.sqrt(mean_square + eps)": "np.maximum(np.sqrt(mean_square), eps)"},
    does="Your code uses eps as a lower bound of the root mean square.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_floor_variance", "epsilon", {"mean_square + eps": "np.maximum(mean_square, eps)"},
    does="Your code uses eps as a lower bound of the mean square.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_only_for_zero", "epsilon", {"mean_square + eps": "np.where(mean_square == 0, eps, mean_square)"},
    does="Your code uses eps only where the mean square is 0.", right=INSIDE, read=RMS)
rms_norm.wrong("eps_hard_coded", "epsilon", {"+ eps": "+ 1e-6"},
    does="Your code uses a fixed eps of 1e-6 whatever the caller passes.", right="Use the argument eps.",
    read="the signature of `rms_norm`")
for name, value in (("default_eps", "1e-5"), *DEFAULTS):
    rms_norm.wrong(name, "epsilon", {"eps=1e-6": f"eps={value}"},
        does=f"Your default of eps is {value}.", right="The default of `rms_norm` is 1e-6.", read="the signature of `rms_norm`")

rms_norm.wrong("changes_x", "purity",
    {"    normalised = x / np.sqrt(mean_square + eps)": "    x /= np.sqrt(mean_square + eps)\n    normalised = x"},
    does="Your code changes the argument `x`.",
    right="Work on new arrays: x / rms makes one, x /= rms changes the caller's.", read=COPIES)
rms_norm.wrong("scale_kept", "purity", {"eps=1e-6)": "eps=1e-6, kept={})",
    "    normalised": "    mean_square = kept.setdefault(x.shape, mean_square)\n    normalised"}, memory=True,
    does="Your code uses the mean square of an earlier call again.", right="Compute it from the x of this call.",
    read="the Python FAQ on default values shared between calls")
rms_norm.wrong("float64_result", "dtype", {"gamma *": "np.float64(1) * gamma *"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the arguments.", read=PROMOTION)


@written
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = np.mean((x - mean) ** 2, axis=-1, keepdims=True)
    std = np.sqrt(var + eps)
    n = (x - mean) / std
    leading = tuple(range(x.ndim - 1))
    grad_gamma = np.sum(grad_out * n, axis=leading)
    grad_beta = np.sum(grad_out, axis=leading)
    g = grad_out * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_var = n * np.mean(g * n, axis=-1, keepdims=True)
    grad_x = (g - through_mean - through_var) / std
    return grad_x, grad_gamma, grad_beta


TERMS = "Mean and deviation depend on x, so that grad_x = (g - mean(g) - n * mean(g * n)) / s with g = grad_out * gamma."
SUMS = "Sum grad_out * n and grad_out over all axes but the last, to the shape (d,)."
BACKWARD = "the formulas in the docstring of `layer_norm_backward`"

layer_norm_backward.wrong("constant_statistics", "backward_x", {"(g - through_mean - through_var)": "g"},
    does="Your grad_x takes mean and deviation for constants.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("no_mean_term", "backward_x", {" - through_mean": ""},
    does="Your grad_x lacks the term - mean(g), which comes through the mean.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("no_variance_term", "backward_x", {" - through_var": ""},
    does="Your grad_x lacks the term - n * mean(g * n), which comes through the variance.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("mean_term_added", "backward_x", {"- through_mean": "+ through_mean"},
    does="Your grad_x adds the term mean(g).", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("variance_term_added", "backward_x", {"- through_var": "+ through_var"},
    does="Your grad_x adds the term n * mean(g * n).", right=TERMS, read=BACKWARD)
for name, factor, said in (("variance_term_halved", "0.5 * ", "half the"), ("variance_term_doubled", "2 * ", "twice the")):
    layer_norm_backward.wrong(name, "backward_x", {"- through_var": f"- {factor}through_var"},
        does=f"Your grad_x has {said} term n * mean(g * n), which comes through the variance.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("variance_power", "backward_x", {"- through_var": "- std * through_var"},
    does="Your term that comes through the variance is too large by the factor s, as with std**2 in place of std**3.",
    right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("variance_power_high", "backward_x", {"- through_var": "- through_var / std"},
    does="Your term that comes through the variance is too small by the factor s, as with a power too many of std.",
    right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("sums_for_means", "backward_x", {"g.mean(": "g.sum(", "np.mean(g * n": "np.sum(g * n"},
    does="Your grad_x takes sums over the features where means belong.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("sum_for_mean", "backward_x", {"g.mean(": "g.sum("},
    does="Your grad_x subtracts the sum of g.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("sum_for_variance", "backward_x", {"np.mean(g * n": "np.sum(g * n"},
    does="Your grad_x subtracts n times the sum of g * n.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("no_gamma", "backward_x", {"grad_out * gamma": "grad_out"},
    does="Your grad_x does not contain gamma.",
    right="The gradient passes the scaling first: start from g = grad_out * gamma.", read=BACKWARD)
layer_norm_backward.wrong("gamma_after_means", "backward_x",
    {"grad_out * gamma": "grad_out", "grad_x = (": "grad_x = gamma * ("},
    does="Your grad_x is multiplied by gamma at the end, after the means.",
    right="The gradient passes the scaling first: take the means of g = grad_out * gamma.", read=BACKWARD)
layer_norm_backward.wrong("not_divided", "backward_x", {"through_var) / std": "through_var)"},
    does="Your grad_x is not divided by the deviation s.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("divided_by_variance", "backward_x", {"through_var) / std": "through_var) / (var + eps)"},
    does="Your grad_x is divided by s squared.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("means_over_rows", "backward_x",
    {"g.mean(axis=-1": "g.mean(axis=0", "np.mean(g * n, axis=-1": "np.mean(g * n, axis=0"},
    does="Your two means in grad_x run over the first axis.",
    right="They run over the features of a row: axis=-1, keepdims=True.", read=BACKWARD)
layer_norm_backward.wrong("sample_variance", "backward_x", {"std = ": "var = var * x.shape[-1] / (x.shape[-1] - 1)\n    std = "},
    does="Your variance divides by d - 1.", right="Divide by d, as the forward pass does.", read="numpy.var, argument ddof")
layer_norm_backward.wrong("eps_missing", "backward_x", {"var + eps": "var"},
    does="Your backward pass does not use eps.", right="Divide by the same sqrt(var + eps) as the forward pass.", read=BACKWARD)
layer_norm_backward.wrong("eps_outside_root", "backward_x", {"np.sqrt(var + eps)": "np.sqrt(var) + eps"},
    does="Your backward pass adds eps to the standard deviation.",
    right="Divide by the same sqrt(var + eps) as the forward pass.", read=BACKWARD)
layer_norm_backward.wrong("eps_hard_coded", "backward_x", {"+ eps": "+ 1e-5"},
    does="Your code uses a fixed eps of 1e-5 whatever the caller passes.", right="Use the argument eps.",
    read="the signature of `layer_norm_backward`")
layer_norm_backward.wrong("default_eps", "backward_x", {"eps=1e-5": "eps=1e-6"},
    does="Your default of eps is 1e-6.", right="The default of `layer_norm_backward` is 1e-5.",
    read="the signature of `layer_norm_backward`")

layer_norm_backward.wrong("gamma_of_raw_x", "backward_parameters", {"np.sum(grad_out * n": "np.sum(grad_out * x"},
    does="Your grad_gamma multiplies grad_out by x.", right="Multiply it by n, the normalised x, which gamma scales.",
    read=BACKWARD)
layer_norm_backward.wrong("gamma_of_centred_x", "backward_parameters", {"np.sum(grad_out * n": "np.sum(grad_out * (x - mean)"},
    does="Your grad_gamma multiplies grad_out by x - mean.", right="Multiply it by n = (x - mean) / s, which gamma scales.",
    read=BACKWARD)
layer_norm_backward.wrong("gamma_of_scaled_gradient", "backward_parameters", {"np.sum(grad_out * n": "np.sum(grad_out * gamma * n"},
    does="Your grad_gamma contains gamma itself.", right="It is the sum of grad_out * n.", read=BACKWARD)
layer_norm_backward.wrong("beta_scaled", "backward_parameters", {"np.sum(grad_out,": "np.sum(grad_out * gamma,"},
    does="Your grad_beta contains gamma.", right="It is the sum of grad_out: beta is added after the scaling.", read=BACKWARD)
layer_norm_backward.wrong("not_summed", "backward_parameters",
    {"np.sum(grad_out * n, axis=leading)": "grad_out * n", "np.sum(grad_out, axis=leading)": "grad_out"},
    does="Your grad_gamma and grad_beta are not summed.", right=SUMS, read=BACKWARD)
layer_norm_backward.wrong("summed_over_axis_zero", "backward_parameters", {"axis=leading": "axis=0"},
    {"axis=leading": "axis=0 if x.ndim > 1 else ()"},
    does="Your grad_gamma and grad_beta are summed over axis 0 only, whatever the shape is.", right=SUMS,
    read="numpy.sum, a tuple as argument axis")
layer_norm_backward.wrong("single_row_summed", "backward_parameters", {"axis=leading": "axis=leading or None"},
    does="For a single row your grad_gamma and grad_beta are summed over its features.", right=SUMS,
    read="numpy.sum, argument axis")
layer_norm_backward.wrong("summed_over_everything", "backward_parameters", {"axis=leading": "axis=None"},
    does="Your grad_gamma and grad_beta are summed over the features too.", right=SUMS, read="numpy.sum, argument axis")
layer_norm_backward.wrong("axes_kept", "backward_parameters", {"axis=leading": "axis=leading, keepdims=True"},
    does="Your grad_gamma and grad_beta keep the summed axes.", right=SUMS, read="numpy.sum, argument keepdims")
layer_norm_backward.wrong("averaged", "backward_parameters",
    {"np.sum(grad_out * n": "np.mean(grad_out * n", "np.sum(grad_out,": "np.mean(grad_out,"},
    does="Your grad_gamma and grad_beta are averaged over the rows.", right=SUMS, read=BACKWARD)
layer_norm_backward.wrong("gamma_beta_swapped", "backward_parameters", {"grad_gamma, grad_beta": "grad_beta, grad_gamma"},
    does="Your code returns grad_beta before grad_gamma.", right="The order is grad_x, grad_gamma, grad_beta.",
    read="the part Returns of the docstring of `layer_norm_backward`")
layer_norm_backward.wrong("only_x", "backward_parameters", {"return grad_x, grad_gamma, grad_beta": "return grad_x"},
    does="Your code returns grad_x alone.", right="Return the tuple (grad_x, grad_gamma, grad_beta).",
    read="the part Returns of the docstring of `layer_norm_backward`")

layer_norm_backward.wrong("changes_grad_out", "purity", {"    g = grad_out * gamma": "    grad_out *= gamma\n    g = grad_out"},
    {"    leading": "    grad_out *= gamma\n    leading", "grad_out * gamma": "grad_out"},
    does="Your code changes the argument `grad_out`.", right="Work on new arrays: grad_out * gamma makes one.", read=COPIES)
layer_norm_backward.wrong("float64_result", "dtype",
    {"np.sum(grad_out * n, axis=leading)": "np.sum(grad_out * n, axis=leading, dtype=float)",
     "np.sum(grad_out, axis=leading)": "np.sum(grad_out, axis=leading, dtype=float)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the arguments.",
    read="numpy.zeros, argument dtype")


SINGLE = np.array([1.0, 2.0, 6.0], np.float32)

EXAMPLES = {
    "layer_norm": [
        ((np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, -1.0])), {}),
        ((np.array([[0.0, 2.0], [1.0, 7.0], [3.0, 2.0]]), np.array([1.0, 0.5]), np.array([0.5, -1.0])), {"eps": 0.5}),
        ((np.array([0.0, 0.0, 0.003]), np.ones(3), np.zeros(3)), {}),
        ((np.array([1e6, 1e6 + 1.0, 1e6 + 5.0]), np.ones(3), np.zeros(3)), {}),
        ((np.arange(12.0).reshape(2, 3, 2) ** 2, np.ones(2), np.zeros(2)), {"eps": 1.0}),
        ((SINGLE, SINGLE, SINGLE), {}),
    ],
    "rms_norm": [
        ((np.array([0.3, 0.1, -0.5]), np.array([1.0, 2.0, 0.5])), {}),
        ((np.array([[1.0, 3.0], [2.0, 0.0], [4.0, 1.0]]), np.array([1.0, 0.5])), {"eps": 0.5}),
        ((np.array([0.0, 0.001, 0.002]), np.ones(3)), {}),
        ((np.arange(12.0).reshape(2, 3, 2), np.ones(2)), {"eps": 1.0}),
        ((SINGLE, SINGLE), {}),
    ],
    "layer_norm_backward": [
        ((np.array([1.0, 0.0, 2.0]), np.array([0.0, 1.0, 5.0]), np.array([1.0, 2.0, 0.5])), {}),
        (
            (
                np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 1.0]]),
                np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 1.0]]),
                np.array([1.0, 2.0, 0.5]),
            ),
            {"eps": 0.5},
        ),
        ((np.arange(12.0).reshape(2, 3, 2), np.arange(12.0).reshape(2, 3, 2) ** 2, np.array([1.0, 2.0])), {"eps": 1.0}),
        ((SINGLE, SINGLE**2, SINGLE), {}),
    ],
}
