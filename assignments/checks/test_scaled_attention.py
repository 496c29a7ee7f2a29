"""Public checks of scaled_attention.py."""

import numpy as np
from student_calls import Caller

# "The cat sat on the mat": the query of "cat", and keys and values of the six words, as the notes list them.
QUERY = np.array([[1.0, 0.0, 1.0]])
KEYS = np.array([[1, 0, 0], [1, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
VALUES = np.array([[1, 0, 0], [0, 1, 0.5], [0, 0, 1], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])

# Three tokens with queries, keys and values alike.
QKV = np.array([[0.9, 1.0, 1.1, 1.2], [2.02, 2.28, 2.54, 2.8], [3.14, 3.56, 3.98, 4.4]])


def test_softmax(call: Caller) -> None:
    call.softmax(np.array([10.0, 2.0, 3.0, 1.0])).gives(
        np.array([0.998631, 0.000335, 0.000911, 0.000123]),
        hint="exp of each score, divided by their sum. The notes print 0.9997, 0.0001, 0.0001, 0.0000; but "
        "the weights of the scores 3 and 2 must differ by the factor e.",
    )
    call.softmax(np.array([[0.0, 5.0, 1.0], [2.0, 5.0, 1.0]]), axis=0).gives(
        np.array([[0.119203, 0.5, 0.5], [0.880797, 0.5, 0.5]]), hint="Here axis=0: the columns sum to 1."
    )


def test_softmax_of_extreme_scores(call: Caller) -> None:
    infinity = np.inf
    call.softmax(np.array([[1000.0, 1001.0, -infinity], [-infinity, -infinity, -infinity]])).gives(
        np.array([[0.268941, 0.731059, 0.0], [0.0, 0.0, 0.0]]),
        hint="Subtract the largest score first, so that exp cannot overflow; a row that is -inf throughout "
        "gives zeros.",
    )


def test_attention_of_cat(call: Caller) -> None:
    attention = call.scaled_dot_product_attention(QUERY, KEYS, VALUES)
    attention.then("the weights (part 1 of the tuple)", lambda parts: parts[1]).gives(
        np.array([[0.181867, 0.181867, 0.181867, 0.136265, 0.181867, 0.136265]]),
        hint="Divide the scores by sqrt(d_k), here sqrt(3); without it you get 0.1918 and 0.1163. The "
        "notes print 0.217 and 0.132, which sum to 1.132, so they are no weights.",
    )
    attention.then("the output (part 0 of the tuple)", lambda parts: parts[0]).gives(
        np.array([[0.340934, 0.318133, 0.431867]]), hint="The weights times the values: weights @ v."
    )


def test_attention_under_a_mask(call: Caller) -> None:
    mask = np.array([[True, False, False], [True, True, False], [False, False, False]])
    call.scaled_dot_product_attention(QKV, QKV, QKV, mask).gives(
        (
            np.array([[0.9, 1.0, 1.1, 1.2], [2.018566, 2.278361, 2.538156, 2.797951], [0.0, 0.0, 0.0, 0.0]]),
            np.array([[1.0, 0.0, 0.0], [0.001281, 0.998719, 0.0], [0.0, 0.0, 0.0]]),
        ),
        hint="Where the mask is False the score becomes -inf before the softmax, so that the other weights "
        "still sum to 1; a query that sees nothing gets zeros. Rows of the mask are queries, columns "
        "are keys.",
    )


def test_heads_are_split_and_merged(call: Caller) -> None:
    x = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]])
    heads = np.array([[[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]], [[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]])
    call.split_heads(x, 2).gives(
        heads,
        hint="Head 0 has the first two features of every token. reshape cuts, but the order of the axes "
        "needs a swap as well.",
    )
    call.merge_heads(heads).gives(x, hint="Swap the axes back before you reshape.")
    call.merge_heads(np.ones((8, 5, 64))).fulfils(
        "an array of shape (5, 512)",
        lambda merged: merged.shape == (5, 512),
        hint="8 heads of width 64 side by side are 512 features for each of 5 tokens.",
    )
    call.split_heads(x, 3).raises(ValueError, hint="3 heads cannot share 4 features equally.")


def test_multi_head_attention(call: Caller) -> None:
    eye = np.eye(4)
    params = {"w_q": np.roll(eye, 1, axis=0), "w_k": eye, "w_v": eye[::-1], "w_o": 10 * eye}
    x = np.array([[[1.0, 0.0, 2.0, 0.0], [0.0, 2.0, 1.0, 1.0], [3.0, 1.0, 0.0, 1.0]], [[0.0, 1.0, 1.0, 2.0]] * 3])
    x[1, 2] = 1.0
    call.multi_head_attention(x, params, 2).then("sequence 0", lambda y: y[0]).gives(
        np.array(
            [
                [9.546116, 8.586947, 12.033363, 14.011121],
                [9.724619, 0.826143, 7.080201, 9.960631],
                [8.216298, 4.44689, 14.359461, 9.920155],
            ]
        ),
        hint="Project, split into heads, attend in each head (its scores are divided by the root of the "
        "width of a head, here sqrt(2)), merge, multiply by w_o.",
    )
    last_is_padding = np.array([[[True, True, True]], [[True, True, False]]])
    call.multi_head_attention(x, params, 2, last_is_padding).then("sequence 1", lambda y: y[1]).gives(
        np.array([[20.0, 10.0, 10.0, 0.0], [20.0, 10.0, 10.0, 0.0], [20.0, 10.0, 10.0, 0.0]]),
        hint="A mask (b, 1, t) has no axis for the heads: give it one, mask[..., None, :, :].",
    )


def test_float32_stays_float32(call: Caller) -> None:
    q, k, v = (x.astype(np.float32) for x in (QUERY, KEYS, VALUES))
    call.scaled_dot_product_attention(q, k, v).then("the output", lambda parts: parts[0]).gives(
        np.array([[0.340934, 0.318133, 0.431867]], dtype=np.float32),
        hint="float32_array / np.sqrt(3) is float64 in NumPy 2; float32_array / math.sqrt(3) is not.",
    )
