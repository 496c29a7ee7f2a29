"""Public checks of transformer_block.py. They use your own other modules, where it imports them."""

from typing import Any

import numpy as np
from student_calls import Caller

X = np.array([[3.0, 1.0], [2.0, 7.0]])
CAUSAL = np.array([[True, False], [True, True]])


def block(b_2: tuple[float, float] = (0.0, 0.0), attention: float = 1.0) -> dict[str, Any]:
    """Parameters of a small block: attention that averages what it sees, and relu(x) + b_2 as the network."""
    return {
        "ln_1": {"gamma": np.ones(2), "beta": np.zeros(2)},
        "attention": {
            "w_q": np.zeros((2, 2)),
            "w_k": np.zeros((2, 2)),
            "w_v": np.eye(2),
            "w_o": attention * np.eye(2),
        },
        "ln_2": {"gamma": np.array([1.0, 2.0]), "beta": np.array([0.0, 0.5])},
        "ffn": {"w_1": np.eye(2), "b_1": np.zeros(2), "w_2": np.eye(2), "b_2": np.array(b_2)},
    }


def test_feed_forward(call: Caller) -> None:
    params = {
        "w_1": np.array([[1.0, -1.0, 2.0], [0.0, 1.0, 1.0]]),
        "b_1": np.array([0.0, 1.0, -2.0]),
        "w_2": np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 2.0]]),
        "b_2": np.array([0.5, -0.5]),
    }
    call.feed_forward(np.array([[2.0, 1.0], [-1.0, 1.0]]), params).gives(
        np.array([[11.5, 5.5], [0.5, 2.5]]),
        hint="relu(x @ w_1 + b_1) @ w_2 + b_2: relu between the two maps, not after the second one.",
    )


def test_residual(call: Caller) -> None:
    def sublayer(x: np.ndarray) -> np.ndarray:
        return np.array([0.8, 1.2, -0.1])

    call.residual(np.array([1.5, 2.0, -0.5]), sublayer).gives(
        np.array([2.3, 3.2, -0.6]), hint="The argument plus what the sub-layer makes of it."
    )


def test_pre_norm(call: Caller) -> None:
    call.pre_norm_block(X, block(), 1, CAUSAL).gives(
        np.array([[5.0, 0.0], [2.0, 9.5]]),
        hint="h = x + MHA(LN_1(x)), then h + FFN(LN_2(h)): what is added to is x and h, not their norms.",
        tolerance=1e-4,
    )


def test_post_norm(call: Caller) -> None:
    call.post_norm_block(X, block(), 1, CAUSAL).gives(
        np.array([[1.0, -1.5], [-1.0, 2.5]]),
        hint="LN_1(x + MHA(x)) = h, then LN_2(h + FFN(h)): each norm comes after the addition.",
        tolerance=1e-4,
    )


def test_stack(call: Caller) -> None:
    blocks = [block(), block(b_2=(0.0, 10.0), attention=0.0)]
    call.transformer_stack(X, blocks, 1, mask=CAUSAL).gives(
        np.array([[6.0, 10.0], [2.0, 22.0]]),
        hint='The first block of the list comes first; norm is "pre" unless said otherwise.',
        tolerance=1e-4,
    )
    call.transformer_stack(X, blocks, 1, norm="post").gives(
        np.array([[-1.0, 2.5], [-1.0, 2.5]]),
        hint='norm="post" makes every block a post-norm block.',
        tolerance=1e-4,
    )
    call.transformer_stack(X, [], 1, norm="none").raises(
        ValueError, hint='A norm other than "pre" and "post" is an error, also when there are no blocks.'
    )


def test_gradient_flow(call: Caller) -> None:
    jacobians = np.full((10, 1, 1), -0.02)
    call.gradient_flow(jacobians, np.array([1.0])).gives(
        np.array(
            [
                0.817073,
                0.833748,
                0.850763,
                0.868126,
                0.885842,
                0.903921,
                0.922368,
                0.941192,
                0.9604,
                0.98,
                1.0,
            ]
        ),
        hint="Every layer multiplies by 1 + f' = 0.98, from the output (last) to the input (first). The "
        'notes print these bars, 0.82 ... 1.00, under the caption "always at least 1"; the bars are '
        "right.",
    )
    call.gradient_flow(jacobians[:3], np.array([1.0]), residual=False).gives(
        np.array([0.000008, 0.0004, 0.02, 1.0]),
        hint="Without the additions only f' = -0.02 is left of each factor.",
    )
    rotate = np.array([[[1.0, 2.0], [0.0, 0.0]]])
    call.gradient_flow(rotate, np.array([1.0, 3.0]), residual=False).gives(
        np.array([2.236068, 3.162278]),
        hint="The gradient goes backwards through the transposed Jacobian: J^T g.",
    )
