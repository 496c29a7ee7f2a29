"""Layer norm, RMS norm, and the gradient of layer norm.

Both norms treat each token separately: the statistics are computed over its features, the last axis, so every
token has its own mean and variance. There may be any number of leading axes (batch, position), or none.

Sources: Ba, Kiros and Hinton, Layer Normalization (2016), https://arxiv.org/abs/1607.06450; Zhang and
Sennrich, Root Mean Square Layer Normalization (2019), https://arxiv.org/abs/1910.07467.
"""

import numpy as np


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Normalise each token over its features, then scale and shift each feature.

        y = gamma * (x - mean) / sqrt(var + eps) + beta

    mean and var are computed over the last axis; var is the population variance, which divides by d (not d - 1).
    eps is added under the square root, so a constant token gives beta instead of 0/0. The variance of
    (x - mean) / sqrt(var + eps) is var / (var + eps): close to 1 for ordinary tokens, but always below 1.

    Arguments: x (..., d), gamma (d,), beta (d,).
    Returns: (..., d), in the dtype of the arguments.
    Accuracy: the result must also be accurate if abs(mean) is much larger than the standard deviation. In float64,
    with a mean of 1e6 and a standard deviation of 1, it must be within 1e-6; subtract the mean before you square.
    Source: Ba, Kiros and Hinton (2016), section 3.

    >>> layer_norm(np.array([4.0, 2.0, 0.0, -2.0]), np.ones(4), np.zeros(4)).round(4)
    array([ 1.3416,  0.4472, -0.4472, -1.3416])
    >>> tokens = np.array([[4.0, 2.0, 1.0, -3.0], [0.004, 0.002, 0.001, -0.003]])
    >>> layer_norm(tokens, np.array([2.0, 1.0, 1.0, 1.0]), np.array([0.5, 1.0, 0.0, 3.0])).round(4)
    array([[2.8534, 1.3922, 0.    , 1.4311],
           [1.9771, 1.2462, 0.    , 2.0153]])
    """
    # BEGIN SOLUTION
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred**2).mean(axis=-1, keepdims=True)
    return gamma * centred / np.sqrt(var + eps) + beta
    # END SOLUTION


def rms_norm(x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """Divide each token by its root mean square, then scale each feature.

        y = gamma * x / sqrt(mean(x**2) + eps)

    The mean is computed over the last axis. Unlike layer norm, RMS norm subtracts no mean and adds no beta; for a
    token with mean 0 it equals layer norm with beta = 0 (and the same eps).

    Arguments: x (..., d), gamma (d,).
    Returns: (..., d), in the dtype of the arguments.
    Source: Zhang and Sennrich (2019), equation 4; eps is inside the root, as in most implementations.

    >>> rms_norm(np.array([4.0, 2.0, 0.0, -2.0]), np.array([2.0, 1.0, 1.0, 1.0])).round(4)
    array([ 3.266 ,  0.8165,  0.    , -0.8165])
    >>> rms_norm(np.array([[4.0, 2.0, 1.0, -3.0], [1.0, 2.0, -1.0, 2.0]]), np.array([2.0, 1.0, 1.0, 10.0])).round(4)
    array([[  2.9212,   0.7303,   0.3651, -10.9545],
           [  1.2649,   1.2649,  -0.6325,  12.6491]])
    """
    # BEGIN SOLUTION
    mean_square = np.square(1.0 * x).mean(axis=-1, keepdims=True)
    return gamma * (x / np.sqrt(mean_square + eps))
    # END SOLUTION


def layer_norm_backward(
    grad_out: np.ndarray, x: np.ndarray, gamma: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Backpropagate the gradient of a loss through y = layer_norm(x, gamma, beta, eps).

        y = gamma * n + beta,  n = (x - mean) / s,  s = sqrt(var + eps),  means over the last axis

    grad_x, grad_gamma and grad_beta are the gradients of the loss with respect to x, gamma and beta. The gradient with
    respect to n is g = grad_out * gamma. A feature of x affects the loss in three ways: directly, through the mean of
    its token, and through the variance of its token. gamma and beta are shared by all tokens, so their gradients are
    summed over all leading axes. The value of beta is not needed. Within a token, with delta_ij = 1 for i = j, else 0:

        d n_i / d x_j = (delta_ij - 1 / d - n_i * n_j / d) / s

    The last step is yours: multiply by g_i and sum over i. transformer.ipynb derives this, step by step.

    Arguments: grad_out (..., d), the gradient of the loss with respect to y; x (..., d); gamma (d,).
    Returns: a tuple (grad_x (..., d), grad_gamma (d,), grad_beta (d,)), in the dtype of the arguments.
    Source: the chain rule, applied to Ba, Kiros and Hinton (2016), section 3.

    >>> x, gamma = np.array([[4.0, 2.0, 0.0, -2.0]]), np.array([2.0, 1.0, 1.0, 1.0])
    >>> grad_x, grad_gamma, grad_beta = layer_norm_backward(np.array([[3.0, 0.0, 0.0, 0.0]]), x, gamma)
    >>> grad_x.round(4)
    array([[ 0.805 , -1.0733, -0.2683,  0.5367]])
    >>> grad_gamma.round(4)
    array([4.0249, 0.    , 0.    , 0.    ])
    >>> grad_beta
    array([3., 0., 0., 0.])

    Two tokens share gamma and beta:

    >>> grad_out, x = np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 3.0]]), np.array([[4.0, 2.0, 0.0], [1.0, 2.0, -1.0]])
    >>> grad_x, grad_gamma, grad_beta = layer_norm_backward(grad_out, x, np.array([2.0, 1.0, 0.5]))
    >>> grad_x.round(4)
    array([[ 0.4593, -0.9186,  0.4593],
           [-0.6013,  0.4009,  0.2004]])
    >>> grad_gamma.round(4)
    array([ 2.4495,  1.069 , -5.2336])
    >>> grad_beta
    array([2., 1., 4.])

    Finite differences agree. Here the loss is the sum of grad_out * y, and the second feature of the first token
    changes by a small step in both directions:

    >>> gamma, step = np.array([2.0, 1.0, 0.5]), np.array([[0.0, 1e-5, 0.0], [0.0, 0.0, 0.0]])
    >>> up, down = ((grad_out * layer_norm(x + change, gamma, np.zeros(3))).sum() for change in (step, -step))
    >>> bool(abs((up - down) / 2e-5 - grad_x[0, 1]) < 1e-6)
    True
    """
    # BEGIN SOLUTION
    grad_out = 1.0 * grad_out
    centred = x - x.mean(axis=-1, keepdims=True)
    std = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    normalised = centred / std

    g = grad_out * gamma
    through_mean = g.mean(axis=-1, keepdims=True)
    through_var = normalised * (g * normalised).mean(axis=-1, keepdims=True)
    grad_x = (g - through_mean - through_var) / std

    d = x.shape[-1]
    grad_gamma = (grad_out * normalised).reshape(-1, d).sum(axis=0)
    grad_beta = grad_out.reshape(-1, d).sum(axis=0)
    return grad_x, grad_gamma, grad_beta
    # END SOLUTION
