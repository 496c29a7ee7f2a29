"""The Transformer block, pre-norm and post-norm; stacks of blocks; and how gradients flow through them.

A block has two sub-layers, attention and a feed-forward network (MLP). Each has a residual connection and a layer norm;
"pre-norm" and "post-norm" say which of the two comes first. The parameters of one block:

    {"ln_1": {"gamma", "beta"}, "attention": {"w_q", "w_k", "w_v", "w_o"},
     "ln_2": {"gamma", "beta"}, "ffn": {"w_1" (d, h), "b_1" (h,), "w_2" (h, d), "b_2" (d,)}}

Sources: Vaswani and others, Attention Is All You Need (2017), https://arxiv.org/abs/1706.03762; He and
others, Deep Residual Learning for Image Recognition (2016), https://arxiv.org/abs/1512.03385; Xiong and
others, On Layer Normalization in the Transformer Architecture (2020), https://arxiv.org/abs/2002.04745.
"""

from collections.abc import Callable

import numpy as np

from layernorm import layer_norm
from scaled_attention import multi_head_attention


def feed_forward(x: np.ndarray, params: dict[str, np.ndarray]) -> np.ndarray:
    """Apply the feed-forward network (MLP) with one hidden layer to every token separately.

        y = relu(x @ w_1 + b_1) @ w_2 + b_2        relu(a) = max(a, 0), elementwise

    Arguments: x (..., d); params with "w_1" (d, h), "b_1" (h,), "w_2" (h, d), "b_2" (d,).
    Returns: (..., d), in the dtype of the arguments.
    Source: Vaswani and others (2017), equation 2.

    >>> params = {"w_1": np.array([[2.0, -1.0, 1.0], [0.0, 1.0, 1.0]]), "b_1": np.array([0.5, 1.0, -2.0]),
    ...           "w_2": np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 2.0]]), "b_2": np.array([0.5, -0.5])}
    >>> feed_forward(np.array([[2.0, 1.0], [-1.0, 1.0]]), params)
    array([[12.5,  1.5],
           [ 0.5,  2.5]])
    >>> feed_forward(np.array([-2.0, -3.0]), {**params, "w_2": -params["w_2"]})
    array([ 0.5, -0.5])
    """
    raise NotImplementedError("feed_forward is not written yet")


def residual(x: np.ndarray, sublayer: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Add the output of a sub-layer to its input: a residual connection.

        y = x + sublayer(x)

    Arguments: x (..., d); sublayer, a function from (..., d) to (..., d).
    Returns: (..., d), in the dtype of the arguments.
    Source: He and others (2016), equation 1.

    >>> residual(np.array([1.5, 2.0, -0.5]), lambda x: np.array([0.8, 1.2, -0.1])).round(4)
    array([ 2.3,  3.2, -0.6])
    """
    raise NotImplementedError("residual is not written yet")


def pre_norm_block(
    x: np.ndarray, params: dict[str, dict[str, np.ndarray]], n_heads: int, mask: np.ndarray | None = None
) -> np.ndarray:
    """Normalise the input of each sub-layer; the residual connections use x and h without normalisation.

        h = x + MHA(LN_1(x))
        y = h + FFN(LN_2(h))

    The layer norms use their default eps.

    Arguments: x (..., t, d); params of one block (see the top of this file); n_heads, which divides d; mask
    None or bool, broadcastable to (..., t, t), for the attention.
    Returns: (..., t, d), in the dtype of the arguments.
    Source: Xiong and others (2020), table 1, right side; the order of GPT-2.

    >>> zero, two, half = np.zeros((2, 2)), np.diag([2.0, 1.0]), np.diag([0.5, 1.0])
    >>> params = {"ln_1": {"gamma": np.array([3.0, 1.0]), "beta": np.array([0.5, 0.0])},
    ...           "attention": {"w_q": zero, "w_k": zero, "w_v": two, "w_o": half},
    ...           "ln_2": {"gamma": np.array([2.0, 1.0]), "beta": np.array([-1.0, 0.0])},
    ...           "ffn": {"w_1": two, "b_1": np.array([0.5, 0.0]), "w_2": half, "b_2": np.array([-0.5, 0.0])}}
    >>> causal = np.array([[True, False], [True, True]])
    >>> pre_norm_block(np.array([[3.0, 1.0], [2.0, 7.0]]), params, 1, mask=causal).round(4)
    array([[7.25, 0.  ],
           [2.  , 8.  ]])
    >>> params["ln_2"] = {"gamma": np.array([4.0, 1.0]), "beta": np.array([-2.0, 0.5])}
    >>> pre_norm_block(np.array([[3.0, 1.0], [2.0, 7.0]]), params, 2).round(4)
    array([[5.25, 1.  ],
           [2.  , 8.5 ]])
    """
    raise NotImplementedError("pre_norm_block is not written yet")


def post_norm_block(
    x: np.ndarray, params: dict[str, dict[str, np.ndarray]], n_heads: int, mask: np.ndarray | None = None
) -> np.ndarray:
    """Normalise after each residual connection.

        h = LN_1(x + MHA(x))
        y = LN_2(h + FFN(h))

    The layer norms use their default eps.

    Arguments: x (..., t, d); params of one block (see the top of this file); n_heads, which divides d; mask
    None or bool, broadcastable to (..., t, t), for the attention.
    Returns: (..., t, d), in the dtype of the arguments.
    Source: Vaswani and others (2017), section 3.1; Xiong and others (2020), table 1, left side.

    >>> zero, two, half = np.zeros((2, 2)), np.diag([2.0, 1.0]), np.diag([0.5, 1.0])
    >>> params = {"ln_1": {"gamma": np.array([2.0, 1.0]), "beta": np.array([-1.0, 0.0])},
    ...           "attention": {"w_q": zero, "w_k": zero, "w_v": two, "w_o": half},
    ...           "ln_2": {"gamma": np.array([3.0, 2.0]), "beta": np.array([0.5, 5.0])},
    ...           "ffn": {"w_1": two, "b_1": np.array([0.5, 0.0]), "w_2": half, "b_2": np.array([-0.5, 0.0])}}
    >>> post_norm_block(np.array([[3.0, 1.0], [2.0, 7.0]]), params, 1).round(4)
    array([[ 3.5,  3. ],
           [-2.5,  7. ]])
    >>> causal = np.array([[True, False], [True, True]])
    >>> params["ln_1"] = {"gamma": np.array([3.0, 1.0]), "beta": np.array([-2.0, 0.5])}
    >>> post_norm_block(np.array([[3.0, 1.0], [0.0, 20.0]]), params, 1, mask=causal).round(4)
    array([[ 3.5,  3. ],
           [-2.5,  7. ]])
    """
    raise NotImplementedError("post_norm_block is not written yet")


def transformer_stack(
    x: np.ndarray,
    blocks: list[dict[str, dict[str, np.ndarray]]],
    n_heads: int,
    norm: str = "pre",
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """Apply the blocks in the order of the list.

        x -> block_1(x) -> block_2(block_1(x)) -> ...

    Arguments: x (..., t, d); blocks a list of block parameters (an empty list returns x); n_heads, which
    divides d; norm "pre" or "post", the same for all blocks; mask None or bool, the same for all blocks.
    Returns: (..., t, d), in the dtype of the arguments.
    Raises: ValueError for a norm other than exactly "pre" or "post", even if there are no blocks.
    Source: Vaswani and others (2017), section 3.1.

    >>> zero, two = np.zeros((2, 2)), np.diag([2.0, 1.0])
    >>> ln = {"gamma": np.array([2.0, 1.0]), "beta": np.array([0.5, 0.0])}
    >>> def block(w_1, b_2):
    ...     return {"ln_1": ln, "attention": {"w_q": zero, "w_k": zero, "w_v": zero, "w_o": zero},
    ...             "ln_2": ln, "ffn": {"w_1": w_1, "b_1": np.array([-0.5, 0.0]), "w_2": two, "b_2": b_2}}
    >>> blocks = [block(two, np.array([0.5, 0.0])), block(zero, np.array([-3.0, 10.0]))]
    >>> transformer_stack(np.array([[3.0, 1.0], [2.0, 8.0]]), blocks, 1).round(4)
    array([[ 9.5, 11. ],
           [-0.5, 19. ]])
    >>> transformer_stack(np.array([[3.0, 1.0], [2.0, 8.0]]), blocks, 1, norm="post").round(4)
    array([[-1.5,  1. ],
           [-1.5,  1. ]])
    """
    raise NotImplementedError("transformer_stack is not written yet")


def gradient_flow(jacobians: np.ndarray, grad_out: np.ndarray, residual: bool = True) -> np.ndarray:
    """Follow the norm of a gradient from the output of a network back to its input.

    With J_l = jacobians[l], J_l[i, j] = d f_l(x)_i / d x_j, and the gradient g as a column vector:

        layer x + f_l(x):  g_before = g_after + J_l^T g_after
        layer f_l(x):      g_before = J_l^T g_after

    The residual connection gives the gradient a direct path, so that a small J_l does not make it vanish. This is
    no guarantee: J_l = -I makes the gradient zero, and large J_l make it grow.

    Arguments: jacobians (L, d, d), layer 1 first; grad_out (d,), the gradient at the network's output;
    residual, whether each layer is x + f_l(x).
    Returns: (L + 1,), the Euclidean norms of the gradients, ordered from the network's input to its output; the
    last one is the norm of grad_out. In the dtype of the arguments.
    Source: the chain rule; He and others, https://arxiv.org/abs/1603.05027, equation 5.

    >>> layers = np.array([[[-0.5]], [[-0.75]], [[-0.5]]])
    >>> gradient_flow(layers, np.array([8.0]))
    array([0.5, 1. , 4. , 8. ])
    >>> jacobians = np.array([[[2.0, 1.0], [0.0, -0.5]], [[0.0, 1.0], [0.5, 1.0]]])
    >>> gradient_flow(jacobians, np.array([2.0, 3.0])).round(4)
    array([12.9035,  8.7321,  3.6056])
    >>> gradient_flow(jacobians, np.array([2.0, 3.0]), residual=False).round(4)
    array([3.1623, 5.2202, 3.6056])
    """
    raise NotImplementedError("gradient_flow is not written yet")
