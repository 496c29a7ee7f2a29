"""Results are compared by structure, then shape, then dtype if it counts, then values."""

from typing import Any

import numpy as np
import pytest

from autograder.shared.compare import TOLERANCE, compare, deviation, tolerance, values_agree
from autograder.shared.tree import Opaque

X = np.array([1.0, -200.0])


def kind(expected: Any, actual: Any, dtype: bool = False) -> str:
    difference, _ = compare(expected, actual, 1e-8, dtype)
    return difference.kind if difference else ""


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        (X, X * (1 + 1e-10), ""),
        (X, X + 1e-3, "value"),
        (X, X.tolist(), "type"),
        (X, X[None], "shape"),
        (X, X.astype(complex).real.astype("float32"), ""),
        (X, np.array([1, -200]), ""),
        (np.array([1, 2]), np.array([1, 2], "uint8"), ""),
        (np.array([1, 2]), np.array([1.0, 2.0]), "type"),
        (np.array([True]), np.array([1]), "type"),
        (X, np.array([1.0, np.nan]), "value"),
        (np.array([-np.inf, 1.0]), np.array([-np.inf, 1.0]), ""),
        ((X, X), [X, X], ""),
        ((X, X), (X,), "length"),
        (True, np.bool_(True), ""),
        (True, np.array(True), ""),
        (True, 1, "type"),
        (2.0, np.float32(2), ""),
        (2.0, np.array([2.0]), "type"),
        (2.0, 2, ""),
        (3, 3.0, "type"),
        (X, Opaque("a list"), "type"),
        ({"q1": "A"}, {"q1": "B"}, "value"),
        ({"a": 1, 2: (1.0,)}, {2: (1.0 + 1e-12,), "a": 1}, ""),
        ({"a": 1}, {"b": 1}, "value"),
        ({"a": 1}, [("a", 1)], "type"),
        ("text", "Text", "value"),
        ("text", None, "type"),
        (None, 0, "type"),
        ([("F", 19)], [("F", 19)], ""),
        ([1, 2], (1, 2), "type"),
        ((1, 2), [1, 2], ""),
        ({1, 2, 3}, {3, 2, 1}, ""),
        ({1, 2}, frozenset({1, 2}), ""),
        ({0.1 + 0.2, ("a", 1)}, {("a", 1), 0.3}, ""),
        ({1, 2}, {1, 3}, "value"),
        (10**30, 10**30 + 1, "value"),
        (1.0, 10**4000, "value"),
        (False, 0, "type"),
        (np.zeros(0, int), np.array([]), ""),
    ],
)
def test_kind_of_difference(expected: Any, actual: Any, found: str) -> None:
    assert kind(expected, actual) == found


def test_dtype_counts_only_if_requested() -> None:
    assert kind(X, X.astype("float32"), dtype=True) == "dtype"


def test_any_float32_argument_selects_the_float32_tolerance() -> None:
    single = X.astype("float32")
    assert tolerance(((X,), {"params": [{"a": single}]})) == TOLERANCE["float32"]
    assert tolerance(((X,), {})) == TOLERANCE["float64"]


def test_deviation_is_relative_to_the_largest_magnitude() -> None:
    assert deviation(X, X + np.array([0.0, 2.0])) == pytest.approx(0.01)
    assert deviation(np.array([0.1]), np.array([0.2])) == pytest.approx(0.1)
    assert deviation(X, np.array([1.0, np.inf])) == np.inf


def test_values_of_any_kind_can_be_compared() -> None:
    assert values_agree({"a": X, "b": [1, "text", None]}, {"a": X + 1e-12, "b": [1, "text", None]})
    assert not values_agree({"a": X}, {"b": X})
    assert not values_agree(X, None)
