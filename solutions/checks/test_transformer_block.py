"""Public checks of transformer_block.py. They use the modules that yours imports."""

from typing import Any

import numpy as np
from student_calls import Caller

X = np.array([[3.0, 1.0, 0.0, -1.0], [2.0, 7.0, 1.0, 0.0], [-2.0, 1.0, 0.0, 4.0]])
CAUSAL = np.array([[True, False, False], [True, True, False], [True, True, True]])
TWO, HALF, ZERO = np.diag([2.0, 1.0, 1.0, 1.0]), np.diag([0.5, 1.0, 1.0, 1.0]), np.zeros((4, 4))
FFN = {
    "w_1": np.array([[1.5, -1.0, 2.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, -1.0]]),
    "b_1": np.array([-0.5, 1.0, -2.0]),
    "w_2": np.array([[2.0, 0.0, 0.5, 0.0], [0.0, -1.0, 0.0, 1.0], [3.0, 2.0, 0.0, 0.0]]),
    "b_2": np.array([0.5, -0.5, 0.0, 1.0]),
}
BLOCK: dict[str, Any] = {
    "ln_1": {"gamma": np.array([2.0, 1.0, 1.0, 0.5]), "beta": np.array([-0.5, 0.0, 1.0, -1.0])},
    "attention": {"w_q": TWO, "w_k": HALF, "w_v": TWO, "w_o": HALF},
    "ln_2": {"gamma": np.array([3.0, 1.0, 1.0, 2.0]), "beta": np.array([-1.0, 0.5, 0.0, 0.0])},
    "ffn": FFN,
}
# The same parameters in another order.
REVERSED = {part: dict(reversed(BLOCK[part].items())) for part in reversed(BLOCK)}
SINGLE = {part: {name: array.astype(np.float32) for name, array in params.items()} for part, params in BLOCK.items()}
# A block without attention, whose network adds a constant.
SHIFT: dict[str, Any] = {
    "ln_1": {"gamma": np.array([2.0, 1.0, 1.0, 1.0]), "beta": np.array([0.5, 0.0, 0.0, 0.0])},
    "attention": {"w_q": ZERO, "w_k": ZERO, "w_v": ZERO, "w_o": ZERO},
    "ln_2": {"gamma": np.array([2.0, 1.0, 1.0, 1.0]), "beta": np.array([0.5, 0.0, 0.0, 0.0])},
    "ffn": {"w_1": ZERO, "b_1": np.array([-2.0, 0.0, 0.0, 0.0]), "w_2": ZERO, "b_2": np.array([-3.0, 10.0, 0.0, -5.0])},
}
JACOBIANS = np.array([[[2.0, 1.0], [0.0, -0.5]], [[0.0, 1.0], [0.5, 1.0]]])


def sublayer(x: np.ndarray) -> np.ndarray:
    return 3 * x - x.sum(axis=0)


def test_feed_forward(call: Caller) -> None:
    call.feed_forward(X, FFN).gives(
        np.array([[26.5, 11.5, 2.0, 1.0], [34.5, 11.5, 1.75, 7.0], [0.5, -12.5, 0.0, 13.0]])
    )
    call.feed_forward(X, dict(reversed(FFN.items()))).gives(
        np.array([[26.5, 11.5, 2.0, 1.0], [34.5, 11.5, 1.75, 7.0], [0.5, -12.5, 0.0, 13.0]])
    )


def test_feed_forward_of_one_token(call: Caller) -> None:
    call.feed_forward(X[2], FFN).gives(np.array([0.5, -12.5, 0.0, 13.0]))


def test_feed_forward_of_a_batch(call: Caller) -> None:
    call.feed_forward(np.array([X[:1], X[1:2]]), {**FFN, "b_2": np.array([7.0, 0.0, 0.0, 0.0])}).gives(
        np.array([[[33.0, 12.0, 2.0, 0.0]], [[41.0, 12.0, 1.75, 6.0]]])
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
                    [39.841561, 17.047842, 2.801898, -1.389273],
                    [0.86464, 5.855189, 1.492422, 1.343452],
                    [-4.517305, -11.311353, 0.524567, 15.801753],
                ]
            ]
        )
    )
    call.pre_norm_block(X[np.newaxis, np.newaxis, :1], REVERSED, 2).gives(
        np.array([[[[39.655967, 16.978094, 2.780364, -1.591607]]]])
    )


def test_pre_norm_under_a_mask(call: Caller) -> None:
    call.pre_norm_block(X, BLOCK, 2, mask=CAUSAL).gives(
        np.array(
            [
                [39.655967, 16.978094, 2.780364, -1.591607],
                [1.697764, 7.226474, 1.469752, 0.381742],
                [-4.517305, -11.311353, 0.524567, 15.801753],
            ]
        )
    )
    nothing = np.array([[False, False], [True, True]])
    call.pre_norm_block(X[:2], BLOCK, 2, mask=nothing).gives(
        np.array([[36.666591, 16.826204, 2.169321, 0.0], [1.697764, 7.226474, 1.469752, 0.381742]])
    )


def test_pre_norm_under_the_masks_of_a_batch(call: Caller) -> None:
    masks = np.array([CAUSAL[:2, :2], [[True, False], [False, True]]])
    call.pre_norm_block(np.array([X[:2], X[1:]]), {**BLOCK, "ln_2": BLOCK["ln_1"]}, 2, mask=masks).gives(
        np.array(
            [
                [[28.247834, 10.06259, 2.521645, -1.591607], [1.697764, 7.389288, 1.469752, 0.218927]],
                [[1.62861, 7.357549, 1.442914, 0.34947], [-4.540338, -3.548221, 0.65359, 8.914246]],
            ]
        )
    )


def test_post_norm(call: Caller) -> None:
    call.post_norm_block(X[np.newaxis], BLOCK, 2).gives(
        np.array(
            [
                [
                    [3.412662, 0.851974, -0.751446, -2.142831],
                    [-6.174608, 1.208202, 0.453047, 1.12724],
                    [-2.988699, -0.611908, 0.275338, 2.99894],
                ]
            ]
        )
    )
    call.post_norm_block(X[np.newaxis, np.newaxis, :1], REVERSED, 2).gives(
        np.array([[[[3.843658, 0.527161, -0.671074, -1.941279]]]])
    )


def test_post_norm_under_a_mask(call: Caller) -> None:
    call.post_norm_block(X, BLOCK, 2, mask=CAUSAL).gives(
        np.array(
            [
                [3.843658, 0.527161, -0.671074, -1.941279],
                [-5.25405, 1.702179, 0.618011, -0.804348],
                [-2.988699, -0.611908, 0.275338, 2.99894],
            ]
        )
    )
    nothing = np.array([[False, False], [True, True]])
    call.post_norm_block(X[:2], BLOCK, 2, mask=nothing).gives(
        np.array([[3.843658, 0.527161, -0.671074, -1.941279], [-5.25405, 1.702179, 0.618011, -0.804348]])
    )


def test_post_norm_under_the_masks_of_a_batch(call: Caller) -> None:
    masks = np.array([CAUSAL[:2, :2], [[True, False], [False, True]]])
    call.post_norm_block(np.array([X[:2], X[1:]]), {**BLOCK, "ln_2": BLOCK["ln_1"]}, 2, mask=masks).gives(
        np.array(
            [
                [[2.729105, 0.027161, 0.328926, -1.48532], [-3.336033, 1.202179, 1.618011, -1.201087]],
                [[-3.653618, 1.009696, 1.691642, -1.062265], [-1.832303, -1.129065, 1.318795, -0.261789]],
            ]
        )
    )


def test_stack(call: Caller) -> None:
    call.transformer_stack(X, [SHIFT, BLOCK], 2, mask=CAUSAL).gives(
        np.array(
            [
                [-0.407231, 11.993859, 0.796384, -6.496142],
                [-1.769867, 16.325622, 1.779877, -3.719311],
                [-6.925154, 6.482313, 0.782301, 4.220067],
            ]
        )
    )


def test_stack_of_pre_norm_blocks(call: Caller) -> None:
    call.transformer_stack(X, [SHIFT, BLOCK], 2, norm="pre").gives(
        np.array(
            [
                [-1.496434, 11.432667, 0.782328, -5.740405],
                [-2.673955, 15.957334, 1.782313, -3.261214],
                [-6.925154, 6.482313, 0.782301, 4.220067],
            ]
        )
    )


def test_stack_of_post_norm_blocks(call: Caller) -> None:
    call.transformer_stack(X, [BLOCK, SHIFT], 2, norm="post").gives(
        np.array(
            [
                [0.323061, 1.563486, -0.258004, -1.217012],
                [-1.394619, 1.614882, 0.03495, -0.702523],
                [-1.395746, 1.631413, -0.020512, -0.663028],
            ]
        )
    )


def test_stack_of_three_blocks(call: Caller) -> None:
    blocks = [SHIFT, BLOCK, {**BLOCK, "ln_1": SHIFT["ln_1"]}]
    call.transformer_stack(X[:2], blocks, 2, norm="post", mask=CAUSAL[:2, :2]).gives(
        np.array([[3.735222, 0.639673, -0.777729, -1.880702], [-2.581877, -0.665461, 0.164117, 3.057272]])
    )


def test_stack_without_blocks(call: Caller) -> None:
    call.transformer_stack(X, [], 2).gives(X)


def test_stack_of_a_batch_of_one_token(call: Caller) -> None:
    call.transformer_stack(X[np.newaxis, :1], [SHIFT], 2).gives(np.array([[[0.0, 11.0, 0.0, -6.0]]]))


def test_stack_with_another_norm(call: Caller) -> None:
    call.transformer_stack(X, [], 2, norm="none").raises(
        ValueError, because='norm is "pre" or "post", even without blocks'
    )
    call.transformer_stack(X, [BLOCK], 2, norm="p").raises(ValueError, because='norm is exactly "pre" or "post"')
    call.transformer_stack(X, [BLOCK], 2, norm="PRE").raises(ValueError, because='norm is exactly "pre" or "post"')
    for norm in (" pre", "post ", "prenorm", "post_norm"):
        call.transformer_stack(X, [BLOCK], 2, norm=norm).raises(ValueError, because='norm is exactly "pre" or "post"')


def test_gradient_with_residuals(call: Caller) -> None:
    call.gradient_flow(JACOBIANS, np.array([2.0, 3.0])).gives(np.array([12.903488, 8.732125, 3.605551]))


def test_gradient_with_residuals_by_name(call: Caller) -> None:
    call.gradient_flow(JACOBIANS[:1], np.array([2.0, 3.0]), residual=True).gives(np.array([6.946222, 3.605551]))


def test_gradient_without_residuals(call: Caller) -> None:
    call.gradient_flow(JACOBIANS, np.array([2.0, 3.0]), residual=False).gives(np.array([3.162278, 5.220153, 3.605551]))


def test_gradient_that_is_tiny(call: Caller) -> None:
    flow = call.gradient_flow(JACOBIANS, np.array([2e-9, 3e-9]))
    flow.then("the norms times 1e9", lambda norms: 1e9 * np.asarray(norms)).gives(
        np.array([12.903488, 8.732125, 3.605551])
    )


def test_float32_stays_float32(call: Caller) -> None:
    params = {name: array.astype(np.float32) for name, array in FFN.items()}
    call.feed_forward(X.astype(np.float32), params).gives(
        np.array([[26.5, 11.5, 2.0, 1.0], [34.5, 11.5, 1.75, 7.0], [0.5, -12.5, 0.0, 13.0]], dtype=np.float32)
    )


def test_float32_stays_float32_in_residual(call: Caller) -> None:
    call.residual(X.astype(np.float32), sublayer).gives(
        np.array([[9.0, -5.0, -1.0, -7.0], [5.0, 19.0, 3.0, -3.0], [-11.0, -5.0, -1.0, 13.0]], dtype=np.float32)
    )


def test_float32_stays_float32_with_pre_norm(call: Caller) -> None:
    call.pre_norm_block(X[:1].astype(np.float32), SINGLE, 2).gives(
        np.array([[39.655968, 16.978094, 2.780364, -1.591607]], dtype=np.float32)
    )


def test_float32_stays_float32_with_post_norm(call: Caller) -> None:
    call.post_norm_block(X[:1].astype(np.float32), SINGLE, 2).gives(
        np.array([[3.843658, 0.527161, -0.671074, -1.941279]], dtype=np.float32)
    )


def test_float32_stays_float32_in_the_stack(call: Caller) -> None:
    call.transformer_stack(X[:1].astype(np.float32), [SINGLE], 2, norm="post").gives(
        np.array([[3.843658, 0.527161, -0.671074, -1.941279]], dtype=np.float32)
    )


def test_float32_stays_float32_in_the_gradient(call: Caller) -> None:
    call.gradient_flow(JACOBIANS.astype(np.float32), np.array([2.0, 3.0], dtype=np.float32)).gives(
        np.array([12.903488, 8.732124, 3.605551], dtype=np.float32)
    )
