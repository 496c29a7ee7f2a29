"""Misconceptions about layer_norm_backward."""

import numpy as np

from autograder.homework.library import written


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


TERMS = "The mean and s depend on x: grad_x = (g - mean(g) - n * mean(g * n)) / s with g = grad_out * gamma."
SUMS = "Sum grad_out * n and grad_out over all axes except the last; the results have the shape (d,)."
BACKWARD = "the formulas in the docstring of `layer_norm_backward`"

layer_norm_backward.wrong("constant_statistics", "backward_x", {"(g - through_mean - through_var)": "g"},
    does="Your grad_x treats the mean and the standard deviation as constants.", right=TERMS, read=BACKWARD)
layer_norm_backward.wrong("no_mean_term", "backward_x", {" - through_mean": ""},
    does="Your grad_x lacks the term - mean(g), so it has a part that shifts all features together, a change of x that the norm ignores.", right="Subtract mean(g), since every feature also moves the mean of its token.", read=BACKWARD)
layer_norm_backward.wrong("no_variance_term", "backward_x", {" - through_var": ""},
    does="Your grad_x lacks the term - n * mean(g * n), so it has a part along n, a change of x that the norm ignores.", right="Subtract n * mean(g * n), since every feature also moves the variance of its token.", read=BACKWARD)
layer_norm_backward.wrong("mean_term_added", "backward_x", {"- through_mean": "+ through_mean"},
    does="Your grad_x adds the term mean(g) instead of subtracting it.", right="Subtract mean(g).", read=BACKWARD)
layer_norm_backward.wrong("variance_term_added", "backward_x", {"- through_var": "+ through_var"},
    does="Your grad_x adds the term n * mean(g * n) instead of subtracting it.", right="Subtract n * mean(g * n).", read=BACKWARD)
for name, factor, said in (("variance_term_halved", "0.5 * ", "half the"), ("variance_term_doubled", "2 * ", "twice the")):
    layer_norm_backward.wrong(name, "backward_x", {"- through_var": f"- {factor}through_var"},
        does=f"Your grad_x has {said} term n * mean(g * n).", right="Subtract n * mean(g * n) once.", read=BACKWARD)
layer_norm_backward.wrong("variance_power", "backward_x", {"- through_var": "- std * through_var"},
    does="Your term n * mean(g * n) lacks a division by s, as with std**2 instead of std**3.",
    right="Divide every term of grad_x by s, with the normalised n.", read=BACKWARD)
layer_norm_backward.wrong("variance_power_high", "backward_x", {"- through_var": "- through_var / std"},
    does="Your term n * mean(g * n) is too small by a factor of s, as with std**4 instead of std**3.",
    right="Divide every term of grad_x by s once, with the normalised n.", read=BACKWARD)
layer_norm_backward.wrong("sums_for_means", "backward_x", {"g.mean(": "g.sum(", "np.mean(g * n": "np.sum(g * n"},
    does="Your grad_x uses sums over the features instead of means.", right="Use mean(g) and mean(g * n), over the features.", read=BACKWARD)
BY_ROWS = [
    {"g.mean(axis=-1, keepdims=True)": "g.sum(axis=-1, keepdims=True) / (x.size // x.shape[-1])"},
    {"np.mean(g * n, axis=-1, keepdims=True)": "np.sum(g * n, axis=-1, keepdims=True) / (x.size // x.shape[-1])"},
]
layer_norm_backward.wrong("divided_by_rows", "backward_x", BY_ROWS[0] | BY_ROWS[1], *BY_ROWS,
    does="Your grad_x divides a sum over the features by the number of rows instead of features.", right="Divide the sum over the features by their number, d.", read=BACKWARD)
layer_norm_backward.wrong("sum_for_mean", "backward_x", {"g.mean(": "g.sum("},
    does="Your grad_x subtracts the sum of g instead of the mean.", right="Subtract mean(g), over the features.", read=BACKWARD)
layer_norm_backward.wrong("sum_for_variance", "backward_x", {"np.mean(g * n": "np.sum(g * n"},
    does="Your grad_x subtracts n * sum(g * n) instead of n * mean(g * n).", right="Subtract n * mean(g * n), with the mean over the features.", read=BACKWARD)
layer_norm_backward.wrong("no_gamma", "backward_x", {"grad_out * gamma": "grad_out"},
    does="Your grad_x does not contain gamma.",
    right="Start from g = grad_out * gamma.", read=BACKWARD)
layer_norm_backward.wrong("gamma_after_means", "backward_x",
    {"grad_out * gamma": "grad_out", "grad_x = (": "grad_x = gamma * ("},
    does="Your grad_x is multiplied by gamma at the end, after the means.",
    right="Multiply by gamma first, and take the means of g = grad_out * gamma.", read=BACKWARD)
layer_norm_backward.wrong("not_divided", "backward_x", {"through_var) / std": "through_var)"},
    does="Your grad_x is not divided by s.", right="Divide by s = sqrt(var + eps).", read=BACKWARD)
layer_norm_backward.wrong("divided_by_variance", "backward_x", {"through_var) / std": "through_var) / (var + eps)"},
    does="Your grad_x is divided by s squared.", right="Divide by s = sqrt(var + eps) once.", read=BACKWARD)
layer_norm_backward.wrong("first_axis", "backward_x", {"axis=-1": "axis=0"},
    does="Your code averages over the first axis, as batch norm does.", right="Average over the features: axis=-1, keepdims=True.", read=BACKWARD)
layer_norm_backward.wrong("means_over_rows", "backward_x",
    {"g.mean(axis=-1": "g.mean(axis=0", "np.mean(g * n, axis=-1": "np.mean(g * n, axis=0"},
    does="Your grad_x takes its two means over the first axis.",
    right="Take the means over the features: axis=-1, keepdims=True.", read=BACKWARD)
layer_norm_backward.wrong("sample_variance", "backward_x", {"std = ": "var = var * x.shape[-1] / (x.shape[-1] - 1)\n    std = "},
    does="Your code divides the sum of squares by d - 1, so every normalised token is too small.", right="Divide by d, as the forward pass does.", read="numpy.var, argument ddof")
layer_norm_backward.wrong("eps_missing", "backward_x", {"var + eps": "var"},
    does="Your code does not use eps, so a divisor of 0 gives nan or infinity.", right="Divide by the same sqrt(var + eps) as the forward pass.", read=BACKWARD)
layer_norm_backward.wrong("eps_outside_root", "backward_x", {"np.sqrt(var + eps)": "np.sqrt(var) + eps"},
    does="Your code adds eps outside the root, so a token whose divisor is close to 0 is amplified far more.",
    right="Divide by the same sqrt(var + eps) as the forward pass.", read=BACKWARD)
layer_norm_backward.wrong("eps_hard_coded", "backward_x", {"+ eps": "+ 1e-5"}, {"+ eps": "+ 1e-6"}, {"+ eps": "+ 1e-8"},
    ignores="eps", read="the signature of `layer_norm_backward`")
layer_norm_backward.wrong("eps_hard_coded_outside_root", "backward_x",
    *({"np.sqrt(var + eps)": f"np.sqrt(var) + {number}"} for number in ("1e-5", "1e-6", "1e-8")),
    does="Your code ignores the argument eps and adds a fixed number outside the root.",
    right="Divide by the same sqrt(var + eps) as the forward pass.", read=BACKWARD)
layer_norm_backward.wrong("default_eps", "backward_x", {"eps=1e-5": "eps=1e-6"},
    does="Your default eps is 1e-6.", right="The default of `layer_norm_backward` is 1e-5.",
    read="the signature of `layer_norm_backward`")

layer_norm_backward.wrong("gamma_of_raw_x", "backward_parameters", {"np.sum(grad_out * n": "np.sum(grad_out * x"},
    does="Your grad_gamma multiplies grad_out by x.", right="Multiply by n, the normalised x.",
    read=BACKWARD)
layer_norm_backward.wrong("gamma_of_centred_x", "backward_parameters", {"np.sum(grad_out * n": "np.sum(grad_out * (x - mean)"},
    does="Your grad_gamma multiplies grad_out by x - mean.", right="Multiply by n = (x - mean) / s, the normalised x.",
    read=BACKWARD)
layer_norm_backward.wrong("gamma_of_scaled_gradient", "backward_parameters", {"np.sum(grad_out * n": "np.sum(grad_out * gamma * n"},
    does="Your grad_gamma contains gamma.", right="grad_gamma is the sum of grad_out * n.", read=BACKWARD)
layer_norm_backward.wrong("beta_scaled", "backward_parameters", {"np.sum(grad_out,": "np.sum(grad_out * gamma,"},
    does="Your grad_beta contains gamma.", right="grad_beta is the sum of grad_out.", read=BACKWARD)
layer_norm_backward.wrong("not_summed", "backward_parameters",
    {"np.sum(grad_out * n, axis=leading)": "grad_out * n", "np.sum(grad_out, axis=leading)": "grad_out"},
    does="Your grad_gamma and grad_beta are not summed.", right=SUMS, read=BACKWARD)
layer_norm_backward.wrong("summed_over_axis_zero", "backward_parameters", {"axis=leading": "axis=0"},
    {"axis=leading": "axis=0 if x.ndim > 1 else ()"},
    does="Your grad_gamma and grad_beta are summed only over axis 0, although all tokens of a batch of sequences share one gamma and one beta.", right=SUMS,
    read="numpy.sum, a tuple as argument axis")
layer_norm_backward.wrong("summed_over_two_axes", "backward_parameters", {"axis=leading": "axis=(0, 1)"},
    does="Your grad_gamma and grad_beta are always summed over axes 0 and 1, which is correct only for 3-D arrays.", right=SUMS,
    read="numpy.sum, a tuple as argument axis")
layer_norm_backward.wrong("single_row_summed", "backward_parameters", {"axis=leading": "axis=leading or None"},
    does="For 1-D x, your grad_gamma and grad_beta are summed over the features.", right=SUMS,
    read="numpy.sum, argument axis")
layer_norm_backward.wrong("summed_over_everything", "backward_parameters", {"axis=leading": "axis=None"},
    does="Your grad_gamma and grad_beta are summed over the features too.", right=SUMS, read="numpy.sum, argument axis")
layer_norm_backward.wrong("axes_kept", "backward_parameters", {"axis=leading": "axis=leading, keepdims=True"}, {"axis=leading": "axis=0, keepdims=True"},
    {"np.sum(grad_out * n, axis=leading)": "(grad_out * n).reshape(-1, x.shape[-1]).sum(axis=0, keepdims=True)",
    "np.sum(grad_out, axis=leading)": "grad_out.reshape(-1, x.shape[-1]).sum(axis=0, keepdims=True)"},
    does="Your grad_gamma and grad_beta keep the summed axes.", right=SUMS, read="numpy.sum, argument keepdims")
layer_norm_backward.wrong("averaged", "backward_parameters",
    {"np.sum(grad_out * n": "np.mean(grad_out * n", "np.sum(grad_out,": "np.mean(grad_out,"},
    does="Your grad_gamma and grad_beta are averaged over the rows.", right=SUMS, read=BACKWARD)
layer_norm_backward.wrong("gamma_beta_swapped", "backward_parameters", {"grad_gamma, grad_beta": "grad_beta, grad_gamma"},
    does="Your code returns grad_beta before grad_gamma.", right="Return (grad_x, grad_gamma, grad_beta).",
    read="the section Returns of the docstring of `layer_norm_backward`")
layer_norm_backward.wrong("only_x", "backward_parameters", {"return grad_x, grad_gamma, grad_beta": "return grad_x"},
    does="Your code returns only grad_x.", right="Return the tuple (grad_x, grad_gamma, grad_beta).",
    read="the section Returns of the docstring of `layer_norm_backward`")

layer_norm_backward.wrong("changes_grad_out", "purity", {"    g = grad_out * gamma": "    grad_out *= gamma\n    g = grad_out"},
    {"    leading": "    grad_out *= gamma\n    leading", "grad_out * gamma": "grad_out"})
layer_norm_backward.wrong("float64_result", "dtype",
    {"np.sum(grad_out * n, axis=leading)": "np.sum(grad_out * n, axis=leading, dtype=float)",
     "np.sum(grad_out, axis=leading)": "np.sum(grad_out, axis=leading, dtype=float)"})
layer_norm_backward.wrong("float32_result", "dtype", {"return grad_x, grad_gamma, grad_beta":
    "return tuple(part.astype(np.float32) for part in (grad_x, grad_gamma, grad_beta))"}, inexact=True)


GAMMA = np.array([2.0, 1.0, 0.5])
SINGLE = np.array([2.0, 1.0, 6.0], np.float32)
COUNTED = np.arange(2.0, 14.0).reshape(2, 3, 2)

EXAMPLES = {
    "layer_norm_backward": [
        ((np.array([2.0, 0.0, 1.0]), np.array([3.0, 1.0, 5.0]), GAMMA), {}),
        ((np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 3.0]]), np.array([[2.0, 1.0, 6.0], [0.0, 4.0, 1.0]]), GAMMA), {"eps": 0.5}),
        ((COUNTED, COUNTED**2, GAMMA[::2]), {"eps": 3.0}),
        ((COUNTED[:, np.newaxis], COUNTED[:, np.newaxis] ** 2, GAMMA[::2]), {"eps": 0.0}),
        ((SINGLE, SINGLE**2, SINGLE), {}),
    ],
}
