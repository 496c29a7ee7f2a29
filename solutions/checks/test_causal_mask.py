"""Public checks of causal_mask.py."""

import numpy as np
from student_calls import Caller

X = np.array([[-2.0, 1.0, 5.0], [0.0, 0.0, 0.0], [2.0, -1.0, 1.5], [3.0, 1.0, 0.5]])

SINGLE = np.array([[0.1], [0.7], [-0.3], [0.2]], dtype=np.float32)


def identity(x: np.ndarray) -> np.ndarray:
    return x


def standardise(x: np.ndarray) -> np.ndarray:
    """Each row is normalised on its own, as in a layer norm."""
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


def one_before(x: np.ndarray) -> np.ndarray:
    """A filter of width 2 that looks back: y[t] = x[t] - 2 x[t - 1]."""
    return x - 2 * np.vstack([0 * x[:1], x[:-1]])


def running_sums(x: np.ndarray) -> np.ndarray:
    return np.cumsum(x, axis=0)


def row_before(x: np.ndarray) -> np.ndarray:
    """Every row depends a little on the row before, and on nothing else."""
    return 1000 + 0.05 * np.vstack([0 * x[:1], x[:-1]])


def row_1_sees_row_2(x: np.ndarray) -> np.ndarray:
    return x + np.array([[0.0], [1.0], [0.0], [0.0]]) * x[2]


def row_0_sees_row_2(x: np.ndarray) -> np.ndarray:
    return x + np.array([[1.0], [0.0], [0.0], [0.0]]) * (x[2] - x[2].mean())


def last_feature(x: np.ndarray) -> np.ndarray:
    """Only the second feature of the result looks back."""
    return np.stack([x[:, 0], np.cumsum(x[:, 2])], axis=1)


def row_0_sees_row_1(x: np.ndarray) -> np.ndarray:
    return x + np.array([[1.0], [0.0], [0.0], [0.0]]) * x[1]


def row_0_sees_row_3(x: np.ndarray) -> np.ndarray:
    return x + np.array([[1.0], [0.0], [0.0], [0.0]]) * x[3]


def row_2_sees_row_3(x: np.ndarray) -> np.ndarray:
    return x + np.array([[0.0], [0.0], [1.0], [0.0]]) * x[3]


def with_opposite(x: np.ndarray) -> np.ndarray:
    """The features of each result row always sum to 0."""
    return np.concatenate([x, -x], axis=1)


def last_column(x: np.ndarray) -> np.ndarray:
    return x[:, 2:]


def large_numbers(x: np.ndarray) -> np.ndarray:
    """Count the rows so far that have a large number, in each column."""
    return np.cumsum(np.where(np.abs(x) > 10, 1.0, 0.0), axis=0)


def first_feature(x: np.ndarray) -> np.ndarray:
    return x[:, :1]


def rounded_down(x: np.ndarray) -> np.ndarray:
    """A step of less than a quarter changes nothing here, since the features of X are multiples of a half."""
    return np.floor(x + 0.25)


def above_one(x: np.ndarray) -> np.ndarray:
    """Every feature is cut off at 1 from below: a row of zeros changes nothing."""
    return np.maximum(x, 1.0)


def nearness(x: np.ndarray) -> np.ndarray:
    """The output falls, whether a feature of X rises or falls."""
    return -np.abs(x - X)


def row_0_sees_large_values_of_row_3(x: np.ndarray) -> np.ndarray:
    return x + np.array([[1.0], [0.0], [0.0], [0.0]]) * np.maximum(x[-1] - 2.5, 0.0)


def weighted_sums(x: np.ndarray) -> np.ndarray:
    return np.sum(x * [1.0, 2.0, 4.0], axis=1)[:, np.newaxis]


def test_causal_mask(call: Caller) -> None:
    call.causal_mask(1).gives(np.array([[True]]))
    call.causal_mask(4).gives(np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool))
    call.causal_mask(70).then("rows 68 and 69", lambda mask: mask[68:]).gives(np.tri(2, 70, 68, dtype=bool))


def test_padding(call: Caller) -> None:
    """The longest sequence of this batch is shorter than t."""
    call.padding_mask(np.array([2, 3, 0]), 4).gives(
        np.array([[[1, 1, 0, 0]], [[1, 1, 1, 0]], [[0, 0, 0, 0]]], dtype=bool)
    )


def test_padding_of_lengths_that_cannot_be(call: Caller) -> None:
    call.padding_mask(np.array([2, 5]), 4).raises(ValueError, because="5 is longer than t = 4")
    call.padding_mask(np.array([-1, 2]), 4).raises(ValueError, because="a length cannot be negative")
    call.padding_mask(np.array([5, 6]), 4).raises(ValueError, because="5 is longer than t = 4")
    call.padding_mask(np.array([-1, 5]), 4).raises(ValueError, because="a length cannot be negative")


def test_padding_as_long_as_t(call: Caller) -> None:
    call.padding_mask(np.array([4, 1]), 4).gives(np.array([[[1, 1, 1, 1]], [[1, 0, 0, 0]]], dtype=bool))
    call.padding_mask(np.array([3]), 3).gives(np.array([[[1, 1, 1]]], dtype=bool))


def test_mask_is_applied(call: Caller) -> None:
    scores = np.array([[7.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    call.apply_mask(scores, np.array([[True, False, True], [False, True, True]])).gives(
        np.array([[7.0, -np.inf, 3.0], [-np.inf, 5.0, 6.0]])
    )


def test_mask_is_applied_to_a_batch(call: Caller) -> None:
    scores = np.array([[[-1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [0.0, 1.0, 2.0]]])
    call.apply_mask(scores, np.array([[[True, True, True]], [[True, True, False]]])).gives(
        np.array([[[-1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, -np.inf], [0.0, 1.0, -np.inf]]])
    )


def test_mask_that_hides_nothing_gives_a_new_array(call: Caller) -> None:
    call.apply_mask(np.array([[7.0, 2.0], [4.0, 5.0]]), np.ones((2, 2), dtype=bool)).as_new_array().gives(
        np.array([[7.0, 2.0], [4.0, 5.0]])
    )


def test_dependency_of_a_filter_that_looks_back(call: Caller) -> None:
    """Row 1 of x is all zeros: multiplying it changes nothing."""
    call.dependency_matrix(one_before, X).gives(
        np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=bool)
    )


def test_dependency_of_one_feature(call: Caller) -> None:
    call.dependency_matrix(last_feature, X).gives(
        np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    )


def test_dependency_on_the_row_before_alone(call: Caller) -> None:
    call.dependency_matrix(row_before, X).gives(
        np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)
    )


def test_dependency_of_every_row_on_itself(call: Caller) -> None:
    """A layer norm does not react to a uniform shift of a row."""
    call.dependency_matrix(standardise, X).gives(np.eye(4, dtype=bool))


def test_dependency_of_outputs_that_rise_and_fall(call: Caller) -> None:
    call.dependency_matrix(with_opposite, X).gives(
        np.array(
            [
                [True, False, False, False],
                [False, True, False, False],
                [False, False, True, False],
                [False, False, False, True],
            ]
        )
    )


def test_dependency_on_the_last_feature(call: Caller) -> None:
    call.dependency_matrix(last_column, X).gives(
        np.array(
            [
                [True, False, False, False],
                [False, True, False, False],
                [False, False, True, False],
                [False, False, False, True],
            ]
        )
    )


def test_dependency_on_the_first_feature(call: Caller) -> None:
    call.dependency_matrix(first_feature, X).gives(np.eye(4, dtype=bool))
    call.dependency_matrix(weighted_sums, X).gives(np.eye(4, dtype=bool))


def test_dependency_on_changes_of_about_delta(call: Caller) -> None:
    call.dependency_matrix(rounded_down, X).gives(np.zeros((4, 4), dtype=bool))
    call.dependency_matrix(rounded_down, X, delta=2.0).gives(np.eye(4, dtype=bool))


def test_dependency_near_x(call: Caller) -> None:
    call.dependency_matrix(above_one, X).gives(np.diag([True, False, True, True]))


def test_dependency_where_every_change_lowers_the_output(call: Caller) -> None:
    call.dependency_matrix(nearness, X).gives(np.eye(4, dtype=bool))


def test_dependency_on_a_later_row(call: Caller) -> None:
    call.dependency_matrix(row_1_sees_row_2, X).gives(
        np.array(
            [
                [True, False, False, False],
                [False, True, True, False],
                [False, False, True, False],
                [False, False, False, True],
            ]
        )
    )


def test_dependency_on_large_changes_only(call: Caller) -> None:
    call.dependency_matrix(large_numbers, X, delta=50.0).gives(np.tri(4, dtype=bool))


def test_dependency_in_single_precision(call: Caller) -> None:
    """f rounds to the dtype of its argument: with another dtype, every row differs a little."""
    call.dependency_matrix(running_sums, SINGLE).gives(np.tri(4, dtype=bool))


def test_large_changes_leave_no_trace_in_x(call: Caller) -> None:
    call.dependency_matrix(identity, 0.7 * X, delta=3000.0).gives(np.eye(4, dtype=bool))


def test_dependency_where_f_returns_its_argument_itself(call: Caller) -> None:
    call.dependency_matrix(identity, X).gives(np.eye(4, dtype=bool))


def test_is_autoregressive(call: Caller) -> None:
    call.is_autoregressive(one_before, X).gives(True)
    call.is_autoregressive(identity, X).gives(True)
    call.is_autoregressive(identity, X[:1]).gives(True)


def test_is_autoregressive_in_single_precision(call: Caller) -> None:
    call.is_autoregressive(running_sums, SINGLE).gives(True)


def test_is_not_autoregressive(call: Caller) -> None:
    call.is_autoregressive(row_1_sees_row_2, X).gives(False)
    call.is_autoregressive(row_0_sees_row_2, X).gives(False)


def test_leaks_between_other_rows(call: Caller) -> None:
    call.is_autoregressive(row_before, X).gives(True)
    call.is_autoregressive(row_0_sees_row_1, X).gives(False)
    call.is_autoregressive(row_0_sees_row_3, X).gives(False)
    call.is_autoregressive(row_2_sees_row_3, X).gives(False)
    call.is_autoregressive(row_0_sees_large_values_of_row_3, X).gives(False)


def test_float32_stays_float32(call: Caller) -> None:
    scores = np.array([[5.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    call.apply_mask(scores, np.array([[True, False], [True, True]])).gives(
        np.array([[5.0, -np.inf], [3.0, 4.0]], dtype=np.float32)
    )
