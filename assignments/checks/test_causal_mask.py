"""Public checks of causal_mask.py."""

import numpy as np
from student_calls import Caller

X = np.array([[1.0, 2.0, -1.0], [0.0, 0.0, 0.0], [2.0, -1.0, 1.5], [3.0, 1.0, 0.5]])


def identity(x: np.ndarray) -> np.ndarray:
    return x


def one_before(x: np.ndarray) -> np.ndarray:
    """A filter of width 2 that looks back: y[t] = x[t] + 2 x[t - 1]."""
    return x + 2 * np.vstack([np.zeros_like(x[:1]), x[:-1]])


def both_neighbours(x: np.ndarray) -> np.ndarray:
    """A centred filter of width 3: y[t] = x[t - 1] + x[t] + x[t + 1]."""
    padded = np.vstack([np.zeros_like(x[:1]), x, np.zeros_like(x[:1])])
    return padded[:-2] + padded[1:-1] + padded[2:]


def standardise(x: np.ndarray) -> np.ndarray:
    """Every row for itself, as a layer norm does it."""
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def test_four_positions_see_1_2_3_4(call: Caller) -> None:
    call.causal_mask(4).gives(
        np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool),
        hint="True on and below the diagonal, 10 in all: position i sees itself and what is before it.",
    )


def test_padding(call: Caller) -> None:
    call.padding_mask(np.array([2, 4, 0]), 4).gives(
        np.array([[[1, 1, 0, 0]], [[1, 1, 1, 1]], [[0, 0, 0, 0]]], dtype=bool),
        hint="Shape (b, 1, t), True for the first lengths[i] keys of sequence i.",
    )
    call.padding_mask(np.array([2, 5]), 4).raises(ValueError, hint="5 is longer than t = 4.")
    call.padding_mask(np.array([-1, 2]), 4).raises(ValueError, hint="A length cannot be negative.")


def test_mask_is_applied(call: Caller) -> None:
    scores = np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [0.0, 1.0, 2.0]]])
    masked = scores.copy()
    masked[:, 0, 2] = -np.inf
    call.apply_mask(scores, np.array([[True, True, False], [True, True, True]])).gives(
        masked,
        hint="-inf where the mask is False, in a new array; a large negative number such as -1e9 is not -inf.",
    )


def test_dependency_of_a_filter_that_looks_back(call: Caller) -> None:
    call.dependency_matrix(one_before, X).gives(
        np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=bool),
        hint="7 dependencies: [i, j] is True when input row j acts on output row i. (The notes count 6 and "
        "forget the one from 4 to 4.) Row 1 of x is all zeros: change it by adding, not by "
        "multiplying.",
    )


def test_dependency_of_every_row_on_itself(call: Caller) -> None:
    call.dependency_matrix(standardise, X).gives(
        np.eye(4, dtype=bool),
        hint="The change must differ from feature to feature: a uniform shift of a row is not seen by a layer norm.",
    )
    call.dependency_matrix(identity, X).gives(
        np.eye(4, dtype=bool),
        hint="This f returns its argument itself: if you write into it afterwards, you change the result as well.",
    )


def test_is_autoregressive(call: Caller) -> None:
    call.is_autoregressive(one_before, X).gives(
        True,
        hint="No True above the diagonal: it looks back only. The notes call it not autoregressive, wrongly.",
    )
    call.is_autoregressive(both_neighbours, X).gives(
        False, hint="Position 1 depends on 2, 2 on 3, 3 on 4: a centred filter sees the future."
    )
