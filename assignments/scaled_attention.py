"""Softmax, scaled dot-product attention and multi-head attention.

Each query is compared with every key; the softmax of the scores gives the weight of each value in the output.
Masks are boolean arrays with at least two dimensions, True where a query may attend to a key.

Source: Vaswani and others, Attention Is All You Need (2017), https://arxiv.org/abs/1706.03762, section 3.2.
"""

import math

import numpy as np


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights that are positive and sum to 1 along one axis.

        softmax(s)_i = exp(s_i) / sum_j exp(s_j)

    Subtracting the same number from all scores of a slice does not change the result; subtract the largest
    score, and exp cannot overflow. A score of -inf gets weight 0. A slice in which every score is -inf gives
    all zeros.

    Arguments: scores with at least one dimension, entries finite or -inf; axis one int.
    Returns: an array with the shape and dtype of scores.
    Source: Vaswani and others (2017), equation 1.

    >>> softmax(np.array([10.0, 2.0, 3.0, 1.0])).round(4)
    array([9.986e-01, 3.000e-04, 9.000e-04, 1.000e-04])
    >>> softmax(np.array([[2.0, 3.0, -np.inf], [5.0, 5.0, 5.0]])).round(4)
    array([[0.2689, 0.7311, 0.    ],
           [0.3333, 0.3333, 0.3333]])
    """
    raise NotImplementedError("softmax is not written yet")


def scaled_dot_product_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a weighted average of the values; the weights come from comparing queries with keys.

        weights = softmax(q @ k^T / sqrt(d_k)) over the keys
        output  = weights @ v

    d_k is the dimension of queries and keys. If mask is False, the score is set to -inf before the softmax. A
    query that may attend to no key gets zero weights and a zero output.

    Arguments: q (..., t_q, d_k), k (..., t_k, d_k), v (..., t_k, d_v) with the same leading axes; mask None
    or bool, broadcastable to (..., t_q, t_k).
    Returns: a tuple (output (..., t_q, d_v), weights (..., t_q, t_k)), in the dtype of the arguments
    (float32_array / np.sqrt(8) is float64 in NumPy 2; dividing by a Python float is not).
    Source: Vaswani and others (2017), equation 1.

    The word "cat" attends to the six words of "The cat sat on the mat":

    >>> query = np.array([[1.0, 0.0, 1.0]])
    >>> keys = np.array([[1.0, 0, 0], [1, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    >>> values = np.array([[1.0, 0, 0], [0, 1, 0.5], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    >>> output, weights = scaled_dot_product_attention(query, keys, values)
    >>> weights.round(4)
    array([[0.1819, 0.1819, 0.1819, 0.1363, 0.1819, 0.1363]])
    >>> output.round(4)
    array([[0.3409, 0.3181, 0.4319]])

    Two queries with a mask; d_v is larger than d_k:

    >>> queries = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 3.0]])
    >>> mask = np.array([[True, True, False], [False, True, True]])
    >>> output, weights = scaled_dot_product_attention(queries, 2 * keys[:3], 5 * np.eye(3, 4), mask=mask)
    >>> weights.round(4)
    array([[0.3595, 0.6405, 0.    ],
           [0.    , 0.0903, 0.9097]])
    >>> output.round(4)
    array([[1.7977, 3.2023, 0.    , 0.    ],
           [0.    , 0.4517, 4.5483, 0.    ]])
    """
    raise NotImplementedError("scaled_dot_product_attention is not written yet")


def split_heads(x: np.ndarray, n_heads: int) -> np.ndarray:
    """Split the features of every token into heads, in consecutive blocks.

        result[..., h, p, :] = x[..., p, h * d_head : (h + 1) * d_head]   with d_head = d_model // n_heads

    Arguments: x (..., t, d_model); n_heads at least 1.
    Returns: (..., n_heads, t, d_head), in the dtype of x.
    Raises: ValueError if n_heads does not divide d_model.
    Source: Vaswani and others (2017), section 3.2.2.

    >>> split_heads(np.array([[9.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]), 2)
    array([[[9., 2.],
            [5., 6.]],
    <BLANKLINE>
           [[3., 4.],
            [7., 8.]]])
    >>> split_heads(np.arange(2.0, 20.0).reshape(3, 6), 2).shape
    (2, 3, 3)
    """
    raise NotImplementedError("split_heads is not written yet")


def merge_heads(x: np.ndarray) -> np.ndarray:
    """Concatenate the heads of every token: the inverse of split_heads.

        result[..., p, h * d_head : (h + 1) * d_head] = x[..., h, p, :]

    Arguments: x (..., n_heads, t, d_head).
    Returns: (..., t, n_heads * d_head), in the dtype of x.
    Source: Vaswani and others (2017), section 3.2.2.

    >>> merge_heads(np.array([[[9.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]))
    array([[9., 2., 3., 4.],
           [5., 6., 7., 8.]])
    """
    raise NotImplementedError("merge_heads is not written yet")


def multi_head_attention(
    x: np.ndarray, params: dict[str, np.ndarray], n_heads: int, mask: np.ndarray | None = None
) -> np.ndarray:
    """Let several heads attend in parallel, each on its own block of the projected features.

        q, k, v = x @ w_q, x @ w_k, x @ w_v, each split into heads
        result  = merge_heads(attention of each head) @ w_o

    Each head has d_head = d_model / n_heads features, so its scores are divided by sqrt(d_head).

    Arguments: x (..., t, d_model); params with "w_q", "w_k", "w_v", "w_o", each (d_model, d_model), no
    biases; n_heads, which divides d_model; mask None or bool, broadcastable to (..., t, t), shared by all
    heads (a mask of shape (b, t, t) has no axis for the heads; you have to add it).
    Returns: (..., t, d_model), in the dtype of the arguments.
    Source: Vaswani and others (2017), section 3.2.2.

    >>> twice = 2 * np.eye(2)
    >>> params = {"w_q": twice, "w_k": twice, "w_v": twice, "w_o": 5 * twice}
    >>> multi_head_attention(np.array([[0.5, 0.0], [0.0, 1.0]]), params, 2).round(4)
    array([[ 7.3106, 10.    ],
           [ 5.    , 19.6403]])
    >>> params = {"w_q": np.array([[2.0, 1.0], [0.0, 1.0]]), "w_k": np.array([[0.5, 0.0], [1.0, 1.0]]),
    ...           "w_v": np.array([[-1.0, 1.0], [3.0, 1.0]]), "w_o": np.array([[2.0, 1.0], [0.0, 1.0]])}
    >>> x = np.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> multi_head_attention(x, params, 1).round(4)
    array([[4.0103, 3.8184],
           [3.22  , 3.2089],
           [4.0168, 3.7027]])
    >>> multi_head_attention(x, params, 1, mask=np.tril(np.ones((3, 3), dtype=bool))).round(4)
    array([[-4.    ,  0.    ],
           [ 2.6976,  2.679 ],
           [ 4.0168,  3.7027]])
    """
    raise NotImplementedError("multi_head_attention is not written yet")
