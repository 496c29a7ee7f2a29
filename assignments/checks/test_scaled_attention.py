"""Public checks of scaled_attention.py."""

import numpy as np
from student_calls import Caller

# Two queries look at three keys; the values are wider than the keys.
Q = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
K = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.0, 2.0]])
V = np.array([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.5, 0.0], [3.0, 0.0, 1.0, 1.0]])
PARTS = ("output", "weights")

X = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
HEADS = np.array([[[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]], [[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]])

SENTENCES = np.array(
    [
        [[1.0, 0.0, 2.0, 0.0], [0.0, 2.0, 1.0, 1.0], [3.0, 1.0, 0.0, 1.0]],
        [[0.0, 1.0, 1.0, 2.0], [2.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 3.0]],
    ]
)
PARAMS = {
    "w_q": np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
    "w_k": np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, 1.0]]),
    "w_v": np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]]),
    "w_o": np.array([[5.0, 0.0, 0.0, 0.0], [1.0, 5.0, 0.0, 0.0], [0.0, 0.0, 5.0, 0.0], [0.0, 0.0, 0.0, 5.0]]),
}


def test_softmax(call: Caller) -> None:
    call.softmax(np.array([[10.0, 2.0, 3.0, 1.0], [0.0, 2.0, -1.0, 2.0]])).gives(
        np.array([[0.998631, 0.000335, 0.000911, 0.000123], [0.061935, 0.45764, 0.022785, 0.45764]])
    )


def test_softmax_along_another_axis(call: Caller) -> None:
    call.softmax(np.array([[0.0, 5.0, 1.0], [2.0, 5.0, 1.0]]), axis=0).gives(
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
            np.array([[1.677708, 0.264458, 0.603312, 1.0], [1.766634, 0.29916, 0.682477, 0.868784]]),
            np.array([[0.264458, 0.264458, 0.471083], [0.167943, 0.29916, 0.532897]]),
        )
    )


def test_attention_under_a_mask(call: Caller) -> None:
    mask = np.array([[True, True, False], [False, True, True]])
    call.scaled_dot_product_attention(Q, K, V, mask).returning(*PARTS).gives(
        (
            np.array([[0.5, 0.5, 0.25, 1.0], [1.921372, 0.359543, 0.820229, 0.640457]]),
            np.array([[0.5, 0.5, 0.0], [0.0, 0.359543, 0.640457]]),
        )
    )


def test_attention_of_a_query_that_sees_nothing(call: Caller) -> None:
    mask = np.array([[True, False, True], [False, False, False]])
    call.scaled_dot_product_attention(Q, K, V, mask).returning(*PARTS).gives(
        (
            np.array([[2.280915, 0.0, 0.640457, 1.359543], [0.0, 0.0, 0.0, 0.0]]),
            np.array([[0.359543, 0.0, 0.640457], [0.0, 0.0, 0.0]]),
        )
    )


def test_attention_that_hides_the_largest_score(call: Caller) -> None:
    mask = np.array([[True, True, False], [True, False, True]])
    call.scaled_dot_product_attention(np.array([[0.0, 5000.0, 10000.0], [-900.0, 0.0, -900.0]]), K, V, mask).returning(
        *PARTS
    ).gives((np.array([[0.0, 1.0, 0.5, 0.0], [1.0, 0.0, 0.0, 2.0]]), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])))


def test_attention_in_a_batch(call: Caller) -> None:
    q, k, v = (np.array([array[:2], array[-2:]]) for array in (Q, K, V))
    call.scaled_dot_product_attention(q, k, v).returning(*PARTS).gives(
        (
            np.array(
                [
                    [[0.5, 0.5, 0.25, 1.0], [0.359543, 0.640457, 0.320229, 0.719085]],
                    [[1.921372, 0.359543, 0.820229, 0.640457], [1.921372, 0.359543, 0.820229, 0.640457]],
                ]
            ),
            np.array([[[0.5, 0.5], [0.359543, 0.640457]], [[0.359543, 0.640457], [0.359543, 0.640457]]]),
        )
    )


def test_attention_of_other_sizes(call: Caller) -> None:
    """One sentence, two queries, three keys of five features, values of four."""
    q = np.array([[[1.0, 0.0, 2.0, 0.0, 1.0], [0.0, 1.0, 0.0, 3.0, 0.0]]])
    k = np.array([[[1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 3.0]]])
    call.scaled_dot_product_attention(q, k, V[np.newaxis]).returning(*PARTS).gives(
        (
            np.array([[[1.597062, 0.280588, 0.579118, 1.0], [1.664271, 0.312173, 0.644308, 0.887433]]]),
            np.array([[[0.280588, 0.280588, 0.438825], [0.199605, 0.312173, 0.488222]]]),
        )
    )


def test_attention_under_masks_of_a_batch(call: Caller) -> None:
    """One mask for each, then one for all."""
    q, k, v = (np.array([array[:2], array[-2:]]) for array in (Q, K, V))
    masks = np.array([[[True, False], [True, True]], [[True, True], [False, True]]])
    call.scaled_dot_product_attention(q, k, v, masks).returning(*PARTS).gives(
        (
            np.array(
                [
                    [[1.0, 0.0, 0.0, 2.0], [0.359543, 0.640457, 0.320229, 0.719085]],
                    [[1.921372, 0.359543, 0.820229, 0.640457], [3.0, 0.0, 1.0, 1.0]],
                ]
            ),
            np.array([[[1.0, 0.0], [0.359543, 0.640457]], [[0.359543, 0.640457], [0.0, 1.0]]]),
        )
    )
    weights = np.array([[1.0, 0.0], [0.359543, 0.640457]])
    call.scaled_dot_product_attention(q, k, v, masks[0]).returning(*PARTS).gives(
        (
            np.array(
                [
                    [[1.0, 0.0, 0.0, 2.0], [0.359543, 0.640457, 0.320229, 0.719085]],
                    [[0.0, 1.0, 0.5, 0.0], [1.921372, 0.359543, 0.820229, 0.640457]],
                ]
            ),
            np.array([weights, weights]),
        )
    )


def test_heads_are_split(call: Caller) -> None:
    call.split_heads(X, 2).gives(HEADS)
    call.split_heads(X, 1).gives(X[np.newaxis])
    call.split_heads(np.ones((2, 5, 8)), 4).gives(np.ones((2, 4, 5, 2)))


def test_heads_of_unequal_width(call: Caller) -> None:
    call.split_heads(X, 3).raises(ValueError, because="3 heads cannot share 4 features equally")


def test_heads_are_merged(call: Caller) -> None:
    call.merge_heads(HEADS).gives(X)
    call.merge_heads(np.ones((8, 5, 4))).gives(np.ones((5, 32)))
    call.merge_heads(np.ones((2, 4, 1, 3))).gives(np.ones((2, 1, 12)))
    call.merge_heads(np.array([HEADS, HEADS + 12])).gives(np.array([X, X + 12]))


def test_multi_head_attention(call: Caller) -> None:
    call.multi_head_attention(SENTENCES[0], PARAMS, 2).gives(
        np.array(
            [
                [5.631753, 4.293473, 5.619311, 12.920459],
                [4.944924, 0.413071, 3.5401, 9.220562],
                [4.552838, 2.223445, 5.795053, 9.49264],
            ]
        )
    )


def test_multi_head_attention_with_one_head(call: Caller) -> None:
    call.multi_head_attention(SENTENCES[1], {**PARAMS, "w_q": np.eye(4)}, 1).gives(
        np.array(
            [
                [14.360349, 5.0, 4.892004, 30.513032],
                [5.571233, 5.0, 1.673795, 17.018518],
                [15.264411, 5.0, 4.95155, 32.987033],
            ]
        )
    )


def test_multi_head_attention_under_a_causal_mask(call: Caller) -> None:
    mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
    call.multi_head_attention(SENTENCES[0], PARAMS, 2, mask).gives(
        np.array([[2.0, 10.0, 0.0, 5.0], [4.0, 7.5, 3.302385, 6.651192], [4.552838, 2.223445, 5.795053, 9.49264]])
    )


def test_multi_head_attention_with_padding(call: Caller) -> None:
    """The last word of the second sentence is padding; one mask serves all heads."""
    mask = np.array([[[True, True, True]], [[True, True, False]]])
    call.multi_head_attention(SENTENCES, PARAMS, 2, mask).gives(
        np.array(
            [
                [
                    [5.631753, 4.293473, 5.619311, 12.920459],
                    [4.944924, 0.413071, 3.5401, 9.220562],
                    [4.552838, 2.223445, 5.795053, 9.49264],
                ],
                [
                    [4.302385, 5.0, 2.5, 15.0],
                    [7.697615, 5.0, 4.720964, 19.441928],
                    [4.302385, 5.0, 4.022148, 18.044297],
                ],
            ]
        )
    )


def test_float32_stays_float32(call: Caller) -> None:
    q, k, v = (x.astype(np.float32) for x in (Q, K, V))
    call.scaled_dot_product_attention(q, k, v).returning(*PARTS).gives(
        (
            np.array([[1.677708, 0.264458, 0.603312, 1.0], [1.766634, 0.29916, 0.682477, 0.868784]], dtype=np.float32),
            np.array([[0.264458, 0.264458, 0.471083], [0.167943, 0.29916, 0.532897]], dtype=np.float32),
        )
    )


def test_float32_stays_float32_in_softmax(call: Caller) -> None:
    call.softmax(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]], dtype=np.float32)).gives(
        np.array([[0.244728, 0.090031, 0.665241], [0.045279, 0.045279, 0.909443]], dtype=np.float32)
    )


def test_float32_stays_float32_when_heads_are_split_and_merged(call: Caller) -> None:
    x, heads = (2 * X).astype(np.float32), (2 * HEADS).astype(np.float32)
    call.split_heads(x, 2).gives(heads)
    call.merge_heads(heads).gives(x)


def test_float32_stays_float32_in_the_heads(call: Caller) -> None:
    params = {name: array.astype(np.float32) for name, array in PARAMS.items()}
    call.multi_head_attention(SENTENCES[0].astype(np.float32), params, 2).gives(
        np.array(
            [
                [5.631752, 4.293473, 5.619311, 12.92046],
                [4.944924, 0.413072, 3.540101, 9.220562],
                [4.552838, 2.223445, 5.795053, 9.49264],
            ],
            dtype=np.float32,
        )
    )
