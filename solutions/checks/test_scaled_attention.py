"""Public checks of scaled_attention.py."""

import numpy as np
from student_calls import Caller

# Two queries look at three keys; the values are wider than the keys.
Q = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
K = np.array([[0.5, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.0, 2.0]])
V = np.array([[4.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.5, 0.0], [3.0, 0.0, 1.0, 1.0]])
PARTS = ("output", "weights")

X = np.array([[0.5, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
HEADS = np.array([[[0.5, 2.0], [5.0, 6.0], [9.0, 10.0]], [[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]])

SENTENCES = np.array(
    [
        [[2.0, 0.0, 1.0, 0.0], [0.0, 2.0, 1.0, 1.0], [3.0, 1.0, 0.0, 1.0]],
        [[3.0, 1.0, 1.0, 2.0], [2.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 3.0]],
    ]
)
PARAMS = {
    "w_q": np.array([[-1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
    "w_k": np.array([[0.5, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, 1.0]]),
    "w_v": np.array([[2.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]]),
    "w_o": np.array([[5.0, 0.0, 0.0, 0.0], [1.0, 5.0, 0.0, 0.0], [0.0, 0.0, 5.0, 0.0], [0.0, 0.0, 0.0, 5.0]]),
}


def test_softmax(call: Caller) -> None:
    call.softmax(np.array([[10.0, 2.0, 3.0, 1.0], [0.0, 2.0, -1.0, 2.0]])).gives(
        np.array([[0.998631, 0.000335, 0.000911, 0.000123], [0.061935, 0.45764, 0.022785, 0.45764]])
    )
    call.softmax(np.array([2.0, 0.0, 1.0])).gives(np.array([0.665241, 0.090031, 0.244728]))


def test_softmax_along_another_axis(call: Caller) -> None:
    call.softmax(np.array([[4.0, 5.0, 1.0], [6.0, 5.0, 1.0]]), axis=0).gives(
        np.array([[0.119203, 0.5, 0.5], [0.880797, 0.5, 0.5]])
    )


def test_softmax_of_large_scores(call: Caller) -> None:
    call.softmax(np.array([[3000.0, 3001.0, 0.0], [-1000.0, -1001.0, -999.0]])).gives(
        np.array([[0.268941, 0.731059, 0.0], [0.244728, 0.090031, 0.665241]])
    )


def test_softmax_of_a_batch(call: Caller) -> None:
    call.softmax(np.array([[[2.0, 1.0], [0.0, 3.0]], [[1.0, 1.0], [-1.0, 0.0]]])).gives(
        np.array([[[0.731059, 0.268941], [0.047426, 0.952574]], [[0.5, 0.5], [0.268941, 0.731059]]])
    )


def test_softmax_of_minus_infinity(call: Caller) -> None:
    call.softmax(np.array([[2.0, 1.0, -np.inf], [-np.inf, -np.inf, -np.inf]])).gives(
        np.array([[0.731059, 0.268941, 0.0], [0.0, 0.0, 0.0]])
    )


def test_attention(call: Caller) -> None:
    call.scaled_dot_product_attention(Q, K, V).returning(*PARTS).gives(
        (
            np.array([[2.04793, 0.390414, 0.585621, 0.828758], [2.270464, 0.29916, 0.682477, 0.868784]]),
            np.array([[0.219172, 0.390414, 0.390414], [0.167943, 0.29916, 0.532897]]),
        )
    )


def test_attention_under_a_mask(call: Caller) -> None:
    mask = np.array([[True, True, False], [False, True, True]])
    call.scaled_dot_product_attention(Q, K, V, mask=mask).returning(*PARTS).gives(
        (
            np.array([[1.43817, 0.640457, 0.320229, 0.719085], [1.921372, 0.359543, 0.820229, 0.640457]]),
            np.array([[0.359543, 0.640457, 0.0], [0.0, 0.359543, 0.640457]]),
        )
    )


def test_attention_of_a_query_that_sees_nothing(call: Caller) -> None:
    mask = np.array([[True, False, True], [False, False, False]])
    call.scaled_dot_product_attention(Q, K, V, mask=mask).returning(*PARTS).gives(
        (
            np.array([[3.359543, 0.0, 0.640457, 1.359543], [0.0, 0.0, 0.0, 0.0]]),
            np.array([[0.359543, 0.0, 0.640457], [0.0, 0.0, 0.0]]),
        )
    )
    call.scaled_dot_product_attention(Q, K, V, mask=np.zeros((2, 3), dtype=bool)).returning(*PARTS).gives(
        (np.zeros((2, 4)), np.zeros((2, 3)))
    )


def test_attention_that_hides_the_largest_score(call: Caller) -> None:
    mask = np.array([[True, True, False], [True, False, True]])
    call.scaled_dot_product_attention(
        np.array([[-20.0, 5000.0, 10000.0], [-1800.0, 1800.0, -900.0]]), K, V, mask=mask
    ).returning(*PARTS).gives(
        (np.array([[0.0, 1.0, 0.5, 0.0], [4.0, 0.0, 0.0, 2.0]]), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    )
    call.scaled_dot_product_attention(
        np.array([[-1e10, 0.0, 0.0]]), K, V, mask=np.array([[True, True, False]])
    ).returning(*PARTS).gives((np.array([[4.0, 0.0, 0.0, 2.0]]), np.array([[1.0, 0.0, 0.0]])))


def test_attention_in_a_batch(call: Caller) -> None:
    q, k, v = (np.array([array[:2], array[-2:]]) for array in (Q, K, V))
    call.scaled_dot_product_attention(q, k, v).returning(*PARTS).gives(
        (
            np.array(
                [
                    [[1.43817, 0.640457, 0.320229, 0.719085], [1.43817, 0.640457, 0.320229, 0.719085]],
                    [[1.5, 0.5, 0.75, 0.5], [1.921372, 0.359543, 0.820229, 0.640457]],
                ]
            ),
            np.array([[[0.359543, 0.640457], [0.359543, 0.640457]], [[0.5, 0.5], [0.359543, 0.640457]]]),
        )
    )


def test_attention_of_other_sizes(call: Caller) -> None:
    """One sentence, two queries, three keys of five features, values of four."""
    q = np.array([[[3.0, 0.0, 2.0, 0.0, 1.0], [0.0, 1.0, 0.0, 3.0, 0.0]]])
    k = np.array([[[0.5, 1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 3.0]]])
    call.scaled_dot_product_attention(q, k, V[np.newaxis]).returning(*PARTS).gives(
        (
            np.array([[[2.541379, 0.262156, 0.541076, 1.065691], [2.263088, 0.312173, 0.644308, 0.887433]]]),
            np.array([[[0.327846, 0.262156, 0.409998], [0.199605, 0.312173, 0.488222]]]),
        )
    )


def test_attention_under_masks_of_a_batch(call: Caller) -> None:
    """One mask for each, then one for all."""
    q, k, v = (np.array([array[:2], array[-2:]]) for array in (Q, K, V))
    masks = np.array([[[True, False], [True, True]], [[True, True], [False, True]]])
    call.scaled_dot_product_attention(q, k, v, mask=masks).returning(*PARTS).gives(
        (
            np.array(
                [
                    [[4.0, 0.0, 0.0, 2.0], [1.43817, 0.640457, 0.320229, 0.719085]],
                    [[1.5, 0.5, 0.75, 0.5], [3.0, 0.0, 1.0, 1.0]],
                ]
            ),
            np.array([[[1.0, 0.0], [0.359543, 0.640457]], [[0.5, 0.5], [0.0, 1.0]]]),
        )
    )
    call.scaled_dot_product_attention(q, k, v, mask=masks[0]).returning(*PARTS).gives(
        (
            np.array(
                [
                    [[4.0, 0.0, 0.0, 2.0], [1.43817, 0.640457, 0.320229, 0.719085]],
                    [[0.0, 1.0, 0.5, 0.0], [1.921372, 0.359543, 0.820229, 0.640457]],
                ]
            ),
            np.array([[[1.0, 0.0], [0.359543, 0.640457]], [[1.0, 0.0], [0.359543, 0.640457]]]),
        )
    )


def test_heads_are_split(call: Caller) -> None:
    call.split_heads(X, 2).gives(HEADS)
    call.split_heads(X, 1).gives(X[np.newaxis])
    call.split_heads(np.array([X, X + 12]), 2).gives(np.array([HEADS, HEADS + 12]))
    call.split_heads(X, 4).gives(
        np.array([[[0.5], [5.0], [9.0]], [[2.0], [6.0], [10.0]], [[3.0], [7.0], [11.0]], [[4.0], [8.0], [12.0]]])
    )


def test_heads_of_unequal_width(call: Caller) -> None:
    call.split_heads(X, 3).raises(ValueError, because="3 heads cannot share 4 features equally")


def test_heads_are_merged(call: Caller) -> None:
    call.merge_heads(HEADS).gives(X)
    call.merge_heads(np.array([[HEADS[:, 0]], [HEADS[:, 1]]]).swapaxes(1, 2)).gives(X[:2, np.newaxis])
    call.merge_heads(np.array([HEADS, HEADS + 12])).gives(np.array([X, X + 12]))
    call.merge_heads(np.arange(2.0, 18.0).reshape(1, 2, 2, 2, 2)).gives(
        np.array([[[[2.0, 3.0, 6.0, 7.0], [4.0, 5.0, 8.0, 9.0]], [[10.0, 11.0, 14.0, 15.0], [12.0, 13.0, 16.0, 17.0]]]])
    )


def test_multi_head_attention(call: Caller) -> None:
    call.multi_head_attention(SENTENCES[0], PARAMS, 2).gives(
        np.array(
            [
                [8.325725, 4.735713, 7.179731, 14.259931],
                [27.966099, 1.635791, 5.0, 12.966637],
                [11.226066, 4.560256, 8.409792, 11.984141],
            ]
        )
    )


def test_multi_head_attention_with_one_head(call: Caller) -> None:
    w_v = np.array([[2.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 3.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]])
    call.multi_head_attention(SENTENCES[1], {**PARAMS, "w_q": 2 * np.eye(4), "w_v": w_v}, 1).gives(
        np.array(
            [
                [36.94835, 5.0, 4.994511, 49.956084],
                [34.754972, 5.0, 3.776358, 40.210861],
                [27.787596, 5.0, 4.99967, 49.997363],
            ]
        )
    )


def test_multi_head_attention_under_a_causal_mask(call: Caller) -> None:
    mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
    call.multi_head_attention(SENTENCES[0], PARAMS, 2, mask=mask).gives(
        np.array([[21.0, 5.0, 0.0, 10.0], [13.5, 5.0, 5.0, 10.0], [11.226066, 4.560256, 8.409792, 11.984141]])
    )


def test_multi_head_attention_with_padding(call: Caller) -> None:
    """The last word of the second sentence is padding; one mask serves all heads."""
    mask = np.array([[[True, True, True]], [[True, True, False]]])
    call.multi_head_attention(SENTENCES, PARAMS, 2, mask=mask).gives(
        np.array(
            [
                [
                    [8.325725, 4.735713, 7.179731, 14.259931],
                    [27.966099, 1.635791, 5.0, 12.966637],
                    [11.226066, 4.560256, 8.409792, 11.984141],
                ],
                [
                    [31.0, 5.0, 4.92917, 34.645849],
                    [31.0, 5.0, 4.720964, 33.60482],
                    [34.395231, 5.0, 4.022148, 30.110742],
                ],
            ]
        )
    )
    masks = np.array([[[[True, False], [True, True]], [[True, True], [False, True]]]])
    call.multi_head_attention(SENTENCES[np.newaxis, :, :2], PARAMS, 2, mask=masks).gives(
        np.array(
            [
                [
                    [[21.0, 5.0, 0.0, 10.0], [13.5, 5.0, 5.0, 10.0]],
                    [[31.0, 5.0, 4.92917, 34.645849], [21.0, 5.0, 0.0, 10.0]],
                ]
            ]
        )
    )


def test_multi_head_attention_of_a_query_that_sees_nothing(call: Caller) -> None:
    """A batch of one sentence, with the parameters in another order."""
    params = {name: PARAMS[name] for name in ("w_o", "w_v", "w_k", "w_q")}
    mask = np.array([[False, False, False], [True, True, False], [True, True, True]])
    call.multi_head_attention(SENTENCES[:1], params, 2, mask=mask).gives(
        np.array([[[0.0, 0.0, 0.0, 0.0], [13.5, 5.0, 5.0, 10.0], [11.226066, 4.560256, 8.409792, 11.984141]]])
    )


def test_float32_stays_float32(call: Caller) -> None:
    q, k, v = (x.astype(np.float32) for x in (Q, K, V))
    call.scaled_dot_product_attention(q, k, v).returning(*PARTS).gives(
        (
            np.array(
                [[2.04793, 0.390414, 0.585621, 0.828758], [2.270464, 0.29916, 0.682477, 0.868784]], dtype=np.float32
            ),
            np.array([[0.219172, 0.390414, 0.390414], [0.167943, 0.29916, 0.532897]], dtype=np.float32),
        )
    )


def test_float32_stays_float32_in_softmax(call: Caller) -> None:
    call.softmax(np.array([[2.0, 1.0, 3.0], [0.0, 0.0, 3.0]], dtype=np.float32)).gives(
        np.array([[0.244728, 0.090031, 0.665241], [0.045279, 0.045279, 0.909443]], dtype=np.float32)
    )


def test_float32_stays_float32_when_heads_are_split(call: Caller) -> None:
    call.split_heads((3 * X).astype(np.float32), 2).gives((3 * HEADS).astype(np.float32))


def test_float32_stays_float32_when_heads_are_merged(call: Caller) -> None:
    call.merge_heads((3 * HEADS).astype(np.float32)).gives((3 * X).astype(np.float32))


def test_float32_stays_float32_in_the_heads(call: Caller) -> None:
    params = {name: array.astype(np.float32) for name, array in PARAMS.items()}
    call.multi_head_attention(SENTENCES[0].astype(np.float32), params, 2).gives(
        np.array(
            [
                [8.325726, 4.735713, 7.17973, 14.259932],
                [27.966099, 1.635791, 5.0, 12.966638],
                [11.226066, 4.560256, 8.409792, 11.98414],
            ],
            dtype=np.float32,
        )
    )
