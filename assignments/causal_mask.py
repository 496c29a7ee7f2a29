"""Masks, and a way to measure which output depends on which input.

A mask is a boolean array, row = query, column = key, True where the query may attend to the key. It is applied to the
scores before the softmax: if weights are set to zero after the softmax, rows no longer sum to 1, and the masked
scores still contribute to the denominator.

Source: Vaswani and others, Attention Is All You Need (2017), https://arxiv.org/abs/1706.03762, section 3.2.3.
"""

from collections.abc import Callable

import numpy as np


def causal_mask(t: int) -> np.ndarray:
    """Allow every position to attend to itself and to the positions before it.

        mask[i, j] = (j <= i)

    The diagonal is True: row i predicts the token after position i, so it may use token i. Without the
    diagonal, the first position could attend to nothing.

    Arguments: t >= 1.
    Returns: (t, t) bool.
    Source: Vaswani and others (2017), section 3.2.3.

    >>> causal_mask(3)
    array([[ True, False, False],
           [ True,  True, False],
           [ True,  True,  True]])
    """
    raise NotImplementedError("causal_mask is not written yet")


def padding_mask(lengths: np.ndarray, t: int) -> np.ndarray:
    """Hide the padding at the end of the shorter sequences of a batch.

        mask[i, 0, j] = (j < lengths[i])

    The axis of length 1 is for the queries: all of them may attend to the same keys.

    Arguments: lengths (b,) ints; t >= 1, the common length after padding.
    Returns: (b, 1, t) bool.
    Raises: ValueError if a length is negative or above t.
    Source: Vaswani and others (2017), section 3.2.3, applied to padding.

    >>> padding_mask(np.array([2, 4]), 4)
    array([[[ True,  True, False, False]],
    <BLANKLINE>
           [[ True,  True,  True,  True]]])
    """
    raise NotImplementedError("padding_mask is not written yet")


def apply_mask(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Set masked scores to -inf, so that the softmax that follows gives them zero weight.

        result = scores where mask is True, -inf where mask is False

    Arguments: scores (..., t_q, t_k); mask bool, broadcastable to the shape of scores.
    Returns: a new array of the shape and dtype of scores; scores is not changed.
    Source: Vaswani and others (2017), section 3.2.3.

    >>> apply_mask(np.array([[5.0, 2.0], [3.0, 4.0]]), np.array([[True, False], [True, True]]))
    array([[  5., -inf],
           [  3.,   4.]])
    """
    raise NotImplementedError("apply_mask is not written yet")


def dependency_matrix(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, delta: float = 1e-3) -> np.ndarray:
    """Measure which output rows of f depend on which input rows.

        result[i, j] = True if changing row j of x by about delta changes f(x)[i] by more than 1e-8

    One change per row is enough, in one direction. Add a different amount to each feature, because a layer norm does
    not react to a uniform shift or a scaling of the row. Add rather than multiply, because a row of x may be all zeros.
    Pass f a new array each time, because f may return its argument itself.

    Arguments: f maps (t, d) to finite (t, d_out); x (t, d); delta, the approximate size of a change.
    Returns: (t, t) bool. f may be called any number of times; x is not changed.
    Source: finite differences, except that we only ask whether the derivative is zero.

    >>> dependency_matrix(lambda x: np.cumsum(x, axis=0), np.array([[2.0, 1.0], [0.0, 0.0], [3.0, -1.0]]))
    array([[ True, False, False],
           [ True,  True, False],
           [ True,  True,  True]])
    """
    raise NotImplementedError("dependency_matrix is not written yet")


def is_autoregressive(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> bool:
    """Return whether no output row of f depends on a later input row.

        True if dependency_matrix(f, x) has no True above its diagonal

    An output row may depend on the input row of the same position.

    Arguments: f maps (t, d) to finite (t, d_out); x (t, d).
    Returns: a Python bool.
    Source: the definition of an autoregressive model; measured with dependency_matrix.

    >>> x = np.array([[2.0, 1.0], [0.0, 0.0], [3.0, -1.0]])
    >>> bool(is_autoregressive(lambda x: np.cumsum(x, axis=0), x))
    True
    >>> bool(is_autoregressive(lambda x: x - x.mean(axis=0), x))
    False
    >>> bool(is_autoregressive(lambda x: x, x))
    True
    """
    raise NotImplementedError("is_autoregressive is not written yet")
