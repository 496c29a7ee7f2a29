"""Public checks of transformer_block.py. They use the modules that yours imports."""

from typing import Any

import numpy as np
from student_calls import Caller

X = np.array([[3.0, 1.0, 0.0, -1.0], [2.0, 7.0, 1.0, 0.0], [0.0, 1.0, -2.0, 4.0]])
CAUSAL = np.array([[True, False, False], [True, True, False], [True, True, True]])
EYE, ZERO = np.eye(4), np.zeros((4, 4))
FFN = {
    "w_1": np.array([[1.0, -1.0, 2.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, -1.0]]),
    "b_1": np.array([0.0, 1.0, -2.0]),
    "w_2": np.array([[1.0, 0.0, 0.5, 0.0], [0.0, -1.0, 0.0, 1.0], [3.0, 2.0, 0.0, 0.0]]),
    "b_2": np.array([0.5, -0.5, 0.0, 1.0]),
}
BLOCK: dict[str, Any] = {
    "ln_1": {"gamma": np.array([1.0, 2.0, 1.0, 0.5]), "beta": np.array([0.0, 0.0, 1.0, -1.0])},
    "attention": {"w_q": EYE, "w_k": EYE, "w_v": EYE, "w_o": EYE},
    "ln_2": {"gamma": np.array([3.0, 1.0, 1.0, 2.0]), "beta": np.array([0.0, 0.5, 0.0, 0.0])},
    "ffn": FFN,
}
# A block without attention, whose network adds a constant.
SHIFT: dict[str, Any] = {
    "ln_1": {"gamma": np.ones(4), "beta": np.zeros(4)},
    "attention": {"w_q": ZERO, "w_k": ZERO, "w_v": ZERO, "w_o": ZERO},
    "ln_2": {"gamma": np.ones(4), "beta": np.zeros(4)},
    "ffn": {"w_1": ZERO, "b_1": np.zeros(4), "w_2": ZERO, "b_2": np.array([0.0, 10.0, 0.0, -5.0])},
}
JACOBIANS = np.array([[[1.0, 2.0], [0.0, -0.5]], [[0.0, 1.0], [0.5, 1.0]]])


def sublayer(x: np.ndarray) -> np.ndarray:
    return 3 * x - x.sum(axis=0)


def test_feed_forward(call: Caller) -> None:
    call.feed_forward(X, FFN).gives(np.array([[21.5, 11.5, 1.5, 1.0], [30.5, 11.5, 1.5, 7.0], [0.5, -10.5, 0.0, 11.0]]))


def test_feed_forward_of_one_token(call: Caller) -> None:
    call.feed_forward(X[2], FFN).gives(np.array([0.5, -10.5, 0.0, 11.0]))


def test_feed_forward_of_a_batch(call: Caller) -> None:
    call.feed_forward(np.array([X[:1], X[1:2]]), {**FFN, "b_2": np.zeros(4)}).gives(
        np.array([[[21.0, 12.0, 1.5, 0.0]], [[30.0, 12.0, 1.5, 6.0]]])
    )


def test_residual(call: Caller) -> None:
    call.residual(np.array([[1.5, 2.0, -0.5], [1.0, 0.0, 4.0]]), sublayer).gives(
        np.array([[3.5, 6.0, -5.5], [1.5, -2.0, 12.5]])
    )


def test_pre_norm(call: Caller) -> None:
    call.pre_norm_block(X[np.newaxis], BLOCK, 2).gives(
        np.array(
            [
                [
                    [36.527692, 20.490991, 2.194813, -1.425532],
                    [3.871721, 10.876105, 1.399247, -0.410342],
                    [0.603827, -5.366159, -1.764342, 11.52636],
                ]
            ]
        )
    )


def test_pre_norm_under_a_mask(call: Caller) -> None:
    call.pre_norm_block(X, BLOCK, 2, CAUSAL).gives(
        np.array(
            [
                [38.87737, 20.698503, 2.525625, -1.591607],
                [4.046517, 10.994595, 1.469752, -0.532612],
                [0.603827, -5.366159, -1.764342, 11.52636],
            ]
        )
    )


def test_pre_norm_under_the_masks_of_a_batch(call: Caller) -> None:
    masks = np.array([CAUSAL[:2, :2], [[True, False], [False, True]]])
    call.pre_norm_block(np.array([X[:2], X[1:]]), {**BLOCK, "ln_2": BLOCK["ln_1"]}, 2, masks).gives(
        np.array(
            [
                [[15.777206, 6.517074, 1.611615, -1.591607], [9.528635, 12.846012, 1.65743, 1.020479]],
                [[9.498777, 12.817504, 1.624005, 1.108966], [0.15359, -0.706749, -2.270169, 6.188244]],
            ]
        )
    )


def test_post_norm(call: Caller) -> None:
    call.post_norm_block(X[np.newaxis], BLOCK, 2).gives(
        np.array(
            [
                [
                    [3.869193, 1.150193, -0.843095, -2.193658],
                    [3.775805, 1.195716, -1.08256, -1.743515],
                    [-0.367569, -0.355088, -0.689313, 3.333848],
                ]
            ]
        )
    )


def test_post_norm_under_a_mask(call: Caller) -> None:
    call.post_norm_block(X, BLOCK, 2, CAUSAL).gives(
        np.array(
            [
                [4.657093, 0.668289, -0.658437, -2.124432],
                [3.778569, 1.197452, -1.056855, -1.80024],
                [-0.367569, -0.355088, -0.689313, 3.333848],
            ]
        )
    )


def test_post_norm_under_the_masks_of_a_batch(call: Caller) -> None:
    masks = np.array([CAUSAL[:2, :2], [[True, False], [False, True]]])
    call.post_norm_block(np.array([X[:2], X[1:]]), {**BLOCK, "ln_2": BLOCK["ln_1"]}, 2, masks).gives(
        np.array(
            [
                [[1.552364, 0.336578, 0.341563, -1.531108], [1.259523, 1.394904, -0.056855, -1.45006]],
                [[1.258918, 1.394224, -0.067818, -1.444106], [0.054566, -2.517823, 0.683774, -0.239715]],
            ]
        )
    )


def test_stack(call: Caller) -> None:
    call.transformer_stack(X, [SHIFT, BLOCK], 2, mask=CAUSAL).gives(
        np.array(
            [
                [13.011423, 19.667975, 0.676022, -6.653197],
                [5.05524, 21.439013, 1.667458, -5.600164],
                [0.249158, 12.318443, -1.444211, -0.026717],
            ]
        )
    )


def test_stack_of_pre_norm_blocks(call: Caller) -> None:
    call.transformer_stack(X, [SHIFT, BLOCK], 2, norm="pre").gives(
        np.array(
            [
                [11.608085, 19.342849, 0.572644, -6.531123],
                [4.624319, 21.381525, 1.570455, -5.529339],
                [0.249158, 12.318443, -1.444211, -0.026717],
            ]
        )
    )


def test_stack_of_post_norm_blocks(call: Caller) -> None:
    call.transformer_stack(X, [BLOCK, SHIFT], 2, norm="post").gives(
        np.array(
            [
                [0.038534, 1.526028, -0.310144, -1.254418],
                [0.041732, 1.533943, -0.338449, -1.237226],
                [-0.361063, 1.688392, -0.400927, -0.926402],
            ]
        )
    )


def test_stack_of_three_blocks(call: Caller) -> None:
    blocks = [SHIFT, BLOCK, {**BLOCK, "ln_1": SHIFT["ln_1"]}]
    call.transformer_stack(X[:2], blocks, 2, norm="post", mask=CAUSAL[:2, :2]).gives(
        np.array([[4.595841, 0.751289, -0.88802, -1.790431], [4.595231, 0.751709, -0.896678, -1.77355]])
    )


def test_stack_without_blocks(call: Caller) -> None:
    call.transformer_stack(X, [], 2).gives(X)


def test_stack_with_another_norm(call: Caller) -> None:
    call.transformer_stack(X, [], 2, norm="none").raises(
        ValueError, because='norm is "pre" or "post", even without blocks'
    )
    call.transformer_stack(X, [BLOCK], 2, norm="p").raises(ValueError, because='norm is exactly "pre" or "post"')
    call.transformer_stack(X, [BLOCK], 2, norm="PRE").raises(ValueError, because='norm is exactly "pre" or "post"')


def test_gradient_with_residuals(call: Caller) -> None:
    call.gradient_flow(JACOBIANS, np.array([1.0, 3.0])).gives(np.array([9.861541, 7.433034, 3.162278]))


def test_gradient_with_residuals_by_name(call: Caller) -> None:
    call.gradient_flow(JACOBIANS[:1], np.array([1.0, 3.0]), residual=True).gives(np.array([4.031129, 3.162278]))


def test_gradient_without_residuals(call: Caller) -> None:
    call.gradient_flow(JACOBIANS, np.array([1.0, 3.0]), residual=False).gives(np.array([1.802776, 4.272002, 3.162278]))


def test_float32_stays_float32(call: Caller) -> None:
    params = {name: array.astype(np.float32) for name, array in FFN.items()}
    call.feed_forward(X.astype(np.float32), params).gives(
        np.array([[21.5, 11.5, 1.5, 1.0], [30.5, 11.5, 1.5, 7.0], [0.5, -10.5, 0.0, 11.0]], dtype=np.float32)
    )


def test_float32_stays_float32_in_the_gradient(call: Caller) -> None:
    call.gradient_flow(JACOBIANS.astype(np.float32), np.array([1.0, 3.0], dtype=np.float32)).gives(
        np.array([9.861542, 7.433034, 3.162278], dtype=np.float32)
    )
