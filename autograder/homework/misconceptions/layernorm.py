"""Known mistakes in layernorm.py."""

import numpy as np

from autograder.homework.catalogue import misconception

# layer_norm


@misconception(
    "The variance divides by d - 1; layer norm uses the population variance, which divides by d.",
    read="numpy.var, argument ddof",
)
def layer_norm__sample_variance(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, ddof=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


@misconception(
    "Mean and variance are taken over the first axis, as in batch norm; in layer norm every row has its "
    "own, over the last axis.",
    read="Ba, Kiros and Hinton 2016, section 3",
)
def layer_norm__first_axis(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta


@misconception(
    "Mean and variance are taken over axis 1, which is the last axis only of a matrix; axis=-1 is the "
    "last axis of any array.",
    read="numpy.mean, argument axis",
)
def layer_norm__axis_one(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + eps) + beta


@misconception(
    "The statistics lose the last axis, so they are lined up with the features; keepdims=True keeps them "
    "beside their rows.",
    read="numpy.mean, argument keepdims, and NumPy's page on broadcasting",
)
def layer_norm__no_keepdims(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + eps) + beta


@misconception(
    "The mean is not subtracted from the numerator; that is nearly RMS norm, layer norm centres every row first.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__not_centred(x, gamma, beta, eps=1e-5):
    return gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta


@misconception(
    "The centred row is divided by the variance; it is divided by the square root of the variance.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__no_root(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / (x.var(axis=-1, keepdims=True) + eps) + beta


@misconception(
    "eps is added to the standard deviation; it belongs to the variance, under the root.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__eps_outside_root(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / (x.std(axis=-1, keepdims=True) + eps) + beta


@misconception(
    "eps is not used; it is added to the variance, so that a row of equal numbers does not divide by zero.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__eps_missing(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True) + beta


@misconception(
    "The square of eps is added to the variance; eps itself is.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__eps_squared(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps**2) + beta


@misconception(
    "A fixed eps is used whatever the caller passes; the argument eps is the number to add.",
    read="the signature of layer_norm",
)
def layer_norm__eps_hard_coded(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) + beta


@misconception(
    "The default of eps is 1e-6, which is the one of rms_norm; layer_norm has 1e-5.",
    read="the signature of layer_norm",
)
def layer_norm__default_eps(x, gamma, beta, eps=1e-6):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta


@misconception(
    "The variance is computed as mean(x**2) - mean(x)**2, which loses its digits when the mean is far "
    "above the spread; subtract the mean first, then square.",
    read="the Wikipedia page Algorithms for calculating variance, section Naive algorithm",
)
def layer_norm__one_pass_variance(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = np.mean(x**2, axis=-1, keepdims=True) - mean**2
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


@misconception(
    "gamma and beta have changed places; gamma scales and beta is added.",
    read="the signature and the formula in the docstring of layer_norm",
)
def layer_norm__gamma_beta_swapped(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return beta * (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + gamma


@misconception(
    "beta is added before gamma scales, so beta is scaled too; scale first, then shift.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__shift_before_scale(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return gamma * ((x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta)


@misconception(
    "The result is the normalised row alone; gamma scales it and beta shifts it.",
    read="the formula in the docstring of layer_norm",
)
def layer_norm__no_affine(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


@misconception(
    "The mean is subtracted from the caller's own array, as x -= mean does; x - mean makes a new one.",
    read="NumPy's page on copies and views",
)
def layer_norm__in_place(x, gamma, beta, eps=1e-5):
    var = x.var(axis=-1, keepdims=True)
    x -= x.mean(axis=-1, keepdims=True)
    return gamma * x / np.sqrt(var + eps) + beta


@misconception(
    "The statistics of the first call are kept and used again; every call computes them from its own x.",
    read="the Python FAQ on default values shared between calls",
)
def layer_norm__statistics_kept(x, gamma, beta, eps=1e-5, kept={}):
    mean, var = kept.setdefault(x.shape, (x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)))
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


@misconception(
    "The result is collected in an array of the dtype of NumPy's choice, float64; float32 in means float32 out.",
    read="numpy.zeros, argument dtype",
)
def layer_norm__float64_result(x, gamma, beta, eps=1e-5):
    out = np.zeros(x.shape)
    out[...] = gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta
    return out


@misconception(
    "The result is collected in an array like x, which cuts off the decimals when x holds integers; "
    "integers count as float64.",
    read="numpy.empty_like, argument dtype",
)
def layer_norm__integers_truncated(x, gamma, beta, eps=1e-5):
    out = np.empty_like(x)
    out[...] = gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta
    return out


# rms_norm


@misconception(
    "The mean is subtracted first, which makes it layer norm; RMS norm does not centre.",
    read="Zhang and Sennrich 2019, equation 4",
)
def rms_norm__centred(x, gamma, eps=1e-6):
    centred = x - x.mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + eps)


@misconception(
    "x is divided by its standard deviation, which is measured from the mean; the root mean square is "
    "measured from zero.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__standard_deviation(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


@misconception(
    "The squares are summed, so x is divided by its length; RMS norm divides by the root of their mean.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__sum_of_squares(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(np.sum(x**2, axis=-1, keepdims=True) + eps)


@misconception(
    "The mean of the absolute values is taken; RMS norm takes the root of the mean of the squares.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__mean_absolute(x, gamma, eps=1e-6):
    return gamma * x / (np.mean(np.abs(x), axis=-1, keepdims=True) + eps)


@misconception(
    "x is divided by the mean square; it is divided by the square root of the mean square.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__no_root(x, gamma, eps=1e-6):
    return gamma * x / (np.mean(x**2, axis=-1, keepdims=True) + eps)


@misconception(
    "The mean square is taken over the first axis; every row has its own, over the last axis.",
    read="numpy.mean, argument axis",
)
def rms_norm__first_axis(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(np.mean(x**2, axis=0) + eps)


@misconception(
    "eps is added after the root; it belongs to the mean square, under the root.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__eps_outside_root(x, gamma, eps=1e-6):
    return gamma * x / (np.sqrt(np.mean(x**2, axis=-1, keepdims=True)) + eps)


@misconception(
    "eps is not used; it is added to the mean square, so that a row of zeros does not divide by zero.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__eps_missing(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True))


@misconception(
    "A fixed eps is used whatever the caller passes; the argument eps is the number to add.",
    read="the signature of rms_norm",
)
def rms_norm__eps_hard_coded(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6)


@misconception(
    "The default of eps is 1e-5, which is the one of layer_norm; rms_norm has 1e-6.",
    read="the signature of rms_norm",
)
def rms_norm__default_eps(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)


@misconception(
    "The result is not scaled; gamma multiplies every feature.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__no_gamma(x, gamma, eps=1e-6):
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)


@misconception(
    "The result is scaled by 1 + gamma, as some libraries do; here gamma itself is the factor.",
    read="the formula in the docstring of rms_norm",
)
def rms_norm__one_plus_gamma(x, gamma, eps=1e-6):
    return (1 + gamma) * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)


@misconception(
    "x is divided within the caller's own array, as x /= rms does; x / rms makes a new one.",
    read="NumPy's page on copies and views",
)
def rms_norm__in_place(x, gamma, eps=1e-6):
    x /= np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)
    return gamma * x


@misconception(
    "A float32 array is divided by np.sqrt of a Python int, a float64 scalar, which makes the result "
    "float64; float32 in means float32 out.",
    read="NumPy's page on data type promotion, NEP 50",
)
def rms_norm__float64_scalar(x, gamma, eps=1e-6):
    rms = np.sqrt(np.sum(x**2, axis=-1, keepdims=True) + x.shape[-1] * eps) / np.sqrt(x.shape[-1])
    return gamma * x / rms


# layer_norm_backward


@misconception(
    "grad_x takes mean and deviation for constants; both depend on x, and each gives a term of its own.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__constant_statistics(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    leading = tuple(range(x.ndim - 1))
    return grad_out * gamma / s, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "grad_x lacks the term that comes from the mean, minus mean(g).",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__no_mean_term(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "grad_x lacks the term that comes from the variance, minus the normalised x times mean(g * n).",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__no_variance_term(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "The term of grad_x that comes from the variance is added; it is subtracted.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__variance_term_added(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=-1, keepdims=True) + n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "grad_x does not contain gamma; the gradient passes through the scaling first, as grad_out * gamma.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__no_gamma(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    grad_x = grad_out - grad_out.mean(axis=-1, keepdims=True)
    grad_x = (grad_x - n * np.mean(grad_out * n, axis=-1, keepdims=True)) / s
    leading = tuple(range(x.ndim - 1))
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "gamma multiplies grad_x at the end, after the means; going backward it comes first, and the means "
    "are taken of grad_out * gamma.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__gamma_after_means(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    grad_x = grad_out - grad_out.mean(axis=-1, keepdims=True)
    grad_x = gamma * (grad_x - n * np.mean(grad_out * n, axis=-1, keepdims=True)) / s
    leading = tuple(range(x.ndim - 1))
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "grad_x is not divided by the standard deviation; normalising stretches a row by 1 / sqrt(var + eps), "
    "and its gradient too.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__not_divided(grad_out, x, gamma, eps=1e-5):
    n = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "The two means in grad_x run over the first axis, as in batch norm; they run over the features of one row.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__means_over_rows(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=0) - n * np.mean(g * n, axis=0)) / s
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "The deviation leaves eps out; the backward pass divides by the same sqrt(var + eps) as the forward pass.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__eps_missing(grad_out, x, gamma, eps=1e-5):
    s = x.std(axis=-1, keepdims=True)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "grad_gamma multiplies grad_out by x itself; gamma scales the normalised x, so its gradient is the "
    "sum of grad_out * n.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__gamma_of_raw_x(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out * x, axis=leading), np.sum(grad_out, axis=leading)


@misconception(
    "grad_gamma and grad_beta keep the leading dimensions; every row uses the same gamma and beta, so "
    "their gradients are summed to the shape (d,).",
    read="the shapes in the docstring of layer_norm_backward",
)
def layer_norm_backward__not_summed(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g = grad_out * gamma
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, grad_out * n, grad_out


@misconception(
    "grad_gamma and grad_beta are summed over axis 0 only; all leading dimensions are summed, and a "
    "single row has none.",
    read="numpy.sum, a tuple as argument axis",
)
def layer_norm_backward__summed_over_axis_zero(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g = grad_out * gamma
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out * n, axis=0), np.sum(grad_out, axis=0)


@misconception(
    "grad_gamma and grad_beta are averaged over the rows; they are summed.",
    read="the formula in the docstring of layer_norm_backward",
)
def layer_norm_backward__averaged(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.mean(grad_out * n, axis=leading), np.mean(grad_out, axis=leading)


@misconception(
    "grad_gamma and grad_beta have changed places in the result; the order is grad_x, grad_gamma, grad_beta.",
    read="the Returns part of the docstring of layer_norm_backward",
)
def layer_norm_backward__gamma_beta_swapped(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g, leading = grad_out * gamma, tuple(range(x.ndim - 1))
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    return grad_x, np.sum(grad_out, axis=leading), np.sum(grad_out * n, axis=leading)


@misconception(
    "gamma is multiplied into the caller's own grad_out, as grad_out *= gamma does; grad_out * gamma "
    "makes a new array.",
    read="NumPy's page on copies and views",
)
def layer_norm_backward__in_place(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    leading = tuple(range(x.ndim - 1))
    grad_gamma, grad_beta = np.sum(grad_out * n, axis=leading), np.sum(grad_out, axis=leading)
    grad_out *= gamma
    centred = grad_out - grad_out.mean(axis=-1, keepdims=True)
    return (centred - n * np.mean(grad_out * n, axis=-1, keepdims=True)) / s, grad_gamma, grad_beta


@misconception(
    "The sums start from arrays of zeros, which are float64; float32 in means float32 out.",
    read="numpy.zeros, argument dtype",
)
def layer_norm_backward__float64_sums(grad_out, x, gamma, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    g = grad_out * gamma
    grad_x = (g - g.mean(axis=-1, keepdims=True) - n * np.mean(g * n, axis=-1, keepdims=True)) / s
    grad_gamma, grad_beta = np.zeros(x.shape[-1]), np.zeros(x.shape[-1])
    for row in np.ndindex(x.shape[:-1]):
        grad_gamma += grad_out[row] * n[row]
        grad_beta += grad_out[row]
    return grad_x, grad_gamma, grad_beta


SINGLE = np.array([1.0, 2.0, 6.0], np.float32)

EXAMPLES = {
    "layer_norm": [
        ((np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, -1.0])), {}),
        ((np.array([[0, 2], [1, 7]]), np.array([1.0, 0.5]), np.array([0.5, -1.0])), {"eps": 0.5}),
        ((np.array([0.0, 0.0, 0.003]), np.ones(3), np.zeros(3)), {}),
        ((np.array([1e6, 1e6 + 1.0, 1e6 + 5.0]), np.ones(3), np.zeros(3)), {}),
        ((SINGLE, SINGLE, SINGLE), {}),
    ],
    "rms_norm": [
        ((np.array([0.3, 0.1, -0.5]), np.array([1.0, 2.0, 0.5])), {}),
        ((np.array([[1.0, 3.0], [2.0, 0.0], [4.0, 1.0]]), np.array([1.0, 0.5])), {"eps": 0.5}),
        ((np.array([0.0, 0.001, 0.002]), np.ones(3)), {}),
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
        ((SINGLE, SINGLE**2, SINGLE), {}),
    ],
}
