"""Batch norm and layer norm: which numbers share a mean and a variance?

Layer norm computes its statistics over a row (one example, all features), batch norm over a column (one
feature, all examples of the batch). Batch norm therefore mixes examples, needs at least two of them, and needs
running statistics for evaluation.

Sources: Ioffe and Szegedy, Batch Normalization (2015), https://arxiv.org/abs/1502.03167; Ba, Kiros and
Hinton, Layer Normalization (2016), https://arxiv.org/abs/1607.06450.
"""

import numpy as np


def batch_norm(
    x: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalise each feature over the batch (training) or with the running statistics (evaluation).

        y = gamma * (x - mean) / sqrt(var + eps) + beta

    Training: mean and var are those of the batch, over axis 0, with the population variance (divide by n).
    The running statistics are updated:

        new_running = (1 - momentum) * running + momentum * batch

    For new_running_var, use the unbiased variance of the batch (divide by n - 1), because the running variance
    estimates the variance of unseen data.
    Evaluation: mean and var are running_mean and running_var, which are returned unchanged.

    Arguments: x (n, d); gamma, beta, running_mean, running_var (d,); training a bool.
    Returns: a tuple (y (n, d), new_running_mean (d,), new_running_var (d,)), in the dtype of the arguments.
    The arguments themselves are not changed.
    Raises: ValueError in training if n < 2, since a single example has no variance to estimate.
    Source: Ioffe and Szegedy (2015), algorithms 1 and 2.

    >>> table = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -1.0], [2.0, -1.0, 1.5]])
    >>> gamma, beta = np.array([2.0, 1.0, 1.0]), np.array([0.5, 0.0, 0.0])
    >>> mean, var = np.array([0.5, 0.0, 0.0]), np.array([2.0, 1.0, 1.0])
    >>> y, mean, var = batch_norm(table, gamma, beta, mean, var, True)
    >>> y.round(4)
    array([[ 2.9495,  0.2673,  0.1622],
           [-1.9495,  1.069 , -1.2978],
           [ 0.5   , -1.3363,  1.1355]])
    >>> mean.round(4)
    array([0.65  , 0.0667, 0.0333])
    >>> var.round(4)
    array([1.9   , 1.1333, 1.0583])
    >>> y, mean, var = batch_norm(table, gamma, beta, mean, var, False)
    >>> y.round(4)
    array([[ 3.9097,  0.8767,  0.4536],
           [ 1.0078,  1.816 , -1.0044],
           [ 2.4588, -1.002 ,  1.4257]])
    >>> mean.round(4), var.round(4)  # unchanged
    (array([0.65  , 0.0667, 0.0333]), array([1.9   , 1.1333, 1.0583]))
    """
    # BEGIN SOLUTION
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var

    n = len(x)
    if n < 2:
        raise ValueError("batch norm cannot be trained on a batch of one example")
    mean, var = x.mean(axis=0), x.var(axis=0)
    y = gamma * (x - mean) / np.sqrt(var + eps) + beta
    new_running_mean = (1 - momentum) * running_mean + momentum * mean
    new_running_var = (1 - momentum) * running_var + momentum * var * n / (n - 1)
    return y, new_running_mean, new_running_var
    # END SOLUTION


def norm_moments(x: np.ndarray, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and population variance that layer norm or batch norm would compute for one table.

        "layer": over the features of each example, axis 1, shapes (n, 1)
        "batch": over the examples for each feature, axis 0, shapes (1, d)

    The reduced axis is kept with length 1, so that both results broadcast against x.

    Arguments: x (n, d); kind "layer" or "batch".
    Returns: a tuple (mean, var), in the dtype of x.
    Raises: ValueError for another kind.
    Source: Ba, Kiros and Hinton (2016), sections 2 and 3.

    >>> table = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -1.0], [2.0, -1.0, 1.5]])
    >>> mean, var = norm_moments(table, "batch")
    >>> mean.round(4)
    array([[2.    , 0.6667, 0.3333]])
    >>> var.round(4)
    array([[0.6667, 1.5556, 1.0556]])
    """
    # BEGIN SOLUTION
    axes = {"layer": 1, "batch": 0}
    if kind not in axes:
        raise ValueError(f"kind must be 'layer' or 'batch', not {kind!r}")
    mean = x.mean(axis=axes[kind], keepdims=True)
    var = x.var(axis=axes[kind], keepdims=True)
    return mean, var
    # END SOLUTION


def influence(x: np.ndarray, kind: str, eps: float = 1e-5) -> np.ndarray:
    """Find out which example influences which normalised example.

        influence[i, j] = True if some change of example j changes normalised example i

    gamma is 1 and beta is 0. The mean and variance used for example i come from

        "layer":       example i itself
        "batch_train": the whole batch
        "batch_eval":  the running statistics, which are constants here

    You can derive the answer, or measure it by changing one example at a time.

    Arguments: x (n, d) with n >= 3 and d >= 3; kind "layer", "batch_train" or "batch_eval".
    Returns: (n, n) bool.
    Raises: ValueError for another kind.
    Source: Ioffe and Szegedy (2015), section 3.1; Ba, Kiros and Hinton (2016), section 3.

    >>> table = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -1.0], [2.0, -1.0, 1.5]])
    >>> influence(table, "layer")
    array([[ True, False, False],
           [False,  True, False],
           [False, False,  True]])
    >>> influence(table, "batch_train")
    array([[ True,  True,  True],
           [ True,  True,  True],
           [ True,  True,  True]])
    """
    # BEGIN SOLUTION
    n = len(x)
    if kind in ("layer", "batch_eval"):
        return np.eye(n, dtype=bool)
    if kind == "batch_train":
        return np.ones((n, n), dtype=bool)
    raise ValueError(f"kind must be 'layer', 'batch_train' or 'batch_eval', not {kind!r}")
    # END SOLUTION
