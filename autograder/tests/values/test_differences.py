"""How one array differs from another: only what helps is said."""

from typing import Any

import numpy as np
import pytest

from autograder.values.differences import difference, equal, factor

TABLE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
WEIGHTS = np.array([[0.25, 0.75], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (TABLE.T, "right up to a transpose of the last two axes"),
        (TABLE.ravel(), "only the shape is another"),
        (2 * TABLE, "the same factor, 2"),
        (-TABLE, "the wrong sign"),
        (TABLE + 0.5, "the same amount, 0.5"),
        (np.sqrt(TABLE), "the square root of the right one"),
        (np.full((3, 3), 0.25), "Every entry is the same, 0.25"),
        (TABLE[[0, 2, 1]], "another order: your row 1 is the expected row 2"),
        (TABLE[:, [1, 0, 2]], "another order: your column 0 is the expected column 1"),
        (TABLE[:2], "the last row is missing"),
        (TABLE[1:], "the first row is missing"),
        (np.vstack([TABLE, TABLE[:1]]), "one row too many at the end"),
        (np.vstack([TABLE[:1], TABLE]), "one row too many at the start"),
        (TABLE + np.array([[0], [0], [9.0]]) * np.array([1, 2, 3]), "except for the row 2"),
        (TABLE * np.array([1, 7, 1]), "except for the column 1"),
        (TABLE + 9 * np.diag([0, 1.0, 0]), "except for the entry (1, 1)"),
        (np.where(TABLE == 4, TABLE, -(TABLE**2)), "only for the row 0"),
        (np.where(TABLE == 1, np.nan, TABLE), "1 entry is nan; expected are none"),
        (TABLE + 3e-6 * TABLE**2, "Nearly right: no entry is off by more than 0.0003"),
        (-(TABLE**3) + 1, ""),
        (TABLE, ""),
    ],
)
def test_what_is_known_is_said(actual: "np.ndarray[Any, Any]", said: str) -> None:
    if said == "only for the row 0":
        actual = np.where(np.arange(3)[:, None] == 0, TABLE, 20 - TABLE**2)
    text = difference(TABLE, actual)
    assert said in text
    assert bool(said) == bool(text)


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (~np.tri(3, dtype=bool), "Every True should be False"),
        (np.tri(3, dtype=bool).T, "right up to a transpose"),
        (np.tri(3, k=-1, dtype=bool), "Every entry on the diagonal is wrong"),
        (np.ones((3, 3), bool), "Every entry is True"),
        (np.tri(3, k=1, dtype=bool), "Something above the diagonal is wrong"),
    ],
)
def test_masks(actual: "np.ndarray[Any, Any]", said: str) -> None:
    assert said in difference(np.tri(3, dtype=bool), actual)


def test_one_truth_says_nothing() -> None:
    assert difference(np.array([[True]]), np.array([[False]])) == ""


def test_weights_that_do_not_sum_to_one() -> None:
    assert "sums to 1.2" in difference(WEIGHTS, np.array([[0.25, 0.75], [0.3, 0.9]]))
    running = np.array([0.0, 1.0])
    assert "sums" not in difference(running, np.array([0.3, 1.7]))


def test_numbers_with_the_digits_of_float32() -> None:
    exact = np.array([1 / 3, 1 / 7, 1 / 9])
    assert "only the digits of float32" in difference(exact, exact.astype(np.float32).astype(np.float64))


def test_parts_that_are_right_are_not_spoken_of() -> None:
    said = difference((TABLE, TABLE[0]), [TABLE, 2 * TABLE[0]])
    assert said.startswith("Only part [1] of the result is wrong. Part [1]: Every entry")
    assert "Only" not in difference((TABLE, TABLE[0]), [2 * TABLE, 2 * TABLE[0]])


@pytest.mark.parametrize(
    "actual", [None, "text", [[1.0], [2.0, 3.0]], [TABLE, [[1], [2, 3]]], np.zeros((3, 3), np.float16)]
)
def test_whatever_comes_back_is_looked_at_without_an_error(actual: Any) -> None:
    assert isinstance(difference(TABLE, actual), str)
    assert isinstance(difference((TABLE, TABLE), [TABLE, actual]), str)
    assert not equal((TABLE, TABLE), [TABLE, actual])


def test_tokens_have_no_factor() -> None:
    assert "factor" not in difference(np.array([0, 1, 2]), np.array([0, 2, 4]))


def test_a_factor_survives_an_eps() -> None:
    assert factor(TABLE, TABLE * (1.5 + 1e-8)) == pytest.approx(1.5)
    assert factor(TABLE, TABLE) is None
    assert factor(np.array([1.0, np.inf]), np.array([2.0, 5.0])) is None
