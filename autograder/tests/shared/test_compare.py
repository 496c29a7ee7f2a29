"""Results are compared by structure, then shape, then dtype if it counts, then values."""

from typing import Any

import numpy as np
import pytest

from autograder.shared.compare import TOLERANCE, Failure, compare, deviation, tolerance, values_agree
from autograder.shared.tree import Opaque

X = np.array([1.0, -200.0])


@pytest.mark.parametrize(("expected", "actual", "failure", "distance"), [
    (X, X * (1 + 1e-10), None, 1e-10), (X, np.array([1, -201]), Failure("value"), 0.005),
    (np.array([2**60]), np.array([2**60 + 1]), Failure("value"), 1.0), (X, X + 1e-3, Failure("value"), 5e-06),
    (X, X.tolist(), Failure("type", "a list"), 0.0), (X, X[None], Failure("shape"), 0.0),
    (X, X.astype(complex).real.astype("float32"), None, 0.0), (X, np.array([1, -200]), None, 0.0),
    (np.array([1, 2]), np.array([1, 2], "uint8"), None, 0.0),
    (np.array([1, 2]), np.array([1.0, 2.0]), Failure("type", "float64"), 0.0),
    (np.array([True]), np.array([1]), Failure("type", "int64"), 0.0), (X, np.array([1.0, np.nan]), Failure("value"), np.inf),
    (np.array([-np.inf, 1.0]), np.array([-np.inf, 1.0]), None, 0.0), ((X, X), [X, X], None, 0.0),
    ((X, X), (X,), Failure("length"), 0.0), (True, np.bool_(True), None, 0.0), (True, np.array(True), None, 0.0),
    (True, 1, Failure("type", "an int"), 0.0), (2.0, np.float32(2), None, 0.0),
    (2.0, np.array([2.0]), Failure("type", "an array of float64 with shape (1,)"), 0.0), (2.0, 2, None, 0.0),
    (3, 3.0, Failure("type", "a float"), 0.0), (X, Opaque("a list"), Failure("type", "a list"), 0.0),
    ({"q1": "A"}, {"q1": "B"}, Failure("value"), np.inf), ({"a": 1, 2: (1.0,)}, {2: (1.0 + 1e-12,), "a": 1}, None, 1e-12),
    ({"a": 1}, {"b": 1}, Failure("value"), np.inf), ({"a": 1}, [("a", 1)], Failure("type", "a list"), 0.0),
    ("text", "Text", Failure("value"), np.inf), ("text", None, Failure("type", "None"), 0.0),
    (None, 0, Failure("type", "an int"), 0.0), ([("F", 19)], [("F", 19)], None, 0.0),
    ([1, 2], (1, 2), Failure("type", "a tuple"), 0.0), ((1, 2), [1, 2], None, 0.0), ({1, 2, 3}, {3, 2, 1}, None, 0.0),
    ({1, 2}, frozenset({1, 2}), None, 0.0), ({0.1 + 0.2, ("a", 1)}, {("a", 1), 0.3}, None, 5.55e-17),
    ({1, 2}, {1, 3}, Failure("value"), 1.0), (10**30, 10**30 + 1, Failure("value"), 1.0),
    (1.0, 10**4000, Failure("value"), np.inf), (False, 0, Failure("type", "an int"), 0.0),
    (np.zeros(0, int), np.array([]), None, 0.0), (X, X + np.array([0, 2e-6]), None, 1e-08),
    (X, X + np.array([0, 2.02e-6]), Failure("value"), 1.01e-08), (X / 400, X / 400 + 1.1e-8, Failure("value"), 1.1e-08),
    (np.array([np.inf, 1.0]), np.array([1.0, 1.0]), Failure("value"), np.inf),
    (np.array([np.nan, 1.0]), np.array([np.nan, 1.5]), Failure("value"), 0.5), (np.array(2.0), np.float64(2), None, 0.0),
    (X, np.float64(2), Failure("type", "a float"), 0.0), (X, np.ma.array(X), Failure("type", "an ndarray subclass"), 0.0),
    ((1.0, X, "a"), (1.5, X + 4, "b"), Failure("value", "", 0), np.inf),
    ({"a": (1.0, 2.0)}, {"a": (1.0, 2.5)}, Failure("value"), 0.25), ([(1, 2)], [(1,)], Failure("length", "", 0), 0.0),
    (2.0, 2**1023, Failure("value"), np.inf), (-2.0, -(2**1024), Failure("value"), np.inf), (2, np.int8(2), None, 0.0),
    (2, True, Failure("type", "a bool"), 0.0), (2.0, True, Failure("type", "a bool"), 0.0),
    (True, np.array([True]), Failure("type", "an array of bool with shape (1,)"), 0.0),
    (2.0, "2", Failure("type", "a string"), 0.0), (2.0, 1j, Failure("type", "a complex number"), 0.0),
    ("a", np.str_("a"), None, 0.0), (b"a", b"b", Failure("value"), np.inf), (set(), frozenset(), None, 0.0),
    ({1.0}, {1.5}, Failure("value"), 0.5), ({1}, {1, 2}, Failure("value"), 0.0),
])  # fmt: skip
def test_failure_and_largest_deviation(expected: Any, actual: Any, failure: Failure | None, distance: float) -> None:
    found, furthest = compare(expected, actual, 1e-8)
    assert found == failure and furthest == pytest.approx(distance, rel=1e-2)


def test_dtype_counts_only_if_requested() -> None:
    assert compare(X, X.astype("float32"), 1e-8, True) == (Failure("dtype"), 0)
    assert compare((1, {"a": X}), (1, {"a": X.astype("float32")}), 1e-8, True) == (Failure("dtype", "", 1), 0)
    assert compare(np.array([1]), np.array([1], "int8"), 1e-8, True) == compare(X, X, 1e-8, True) == (None, 0)


def test_any_float32_argument_selects_the_float32_tolerance() -> None:
    single = X.astype("float32")
    for arguments in (((X,), {"params": [{"a": single}]}), np.float32(1)):
        assert tolerance(arguments) == TOLERANCE["float32"]
    assert tolerance(((X, 1.5, "text"), {})) == TOLERANCE["float64"]


def test_values_of_any_kind_can_be_compared() -> None:
    assert values_agree({"a": X, "b": [1, "text", None]}, {"a": X + 1e-12, "b": [1, "text", None]})
    assert not values_agree({"a": X}, {"b": X}) and not values_agree(X, None)
    assert deviation(X, X + np.array([0.0, 2.0])) == 0.01 and deviation(np.zeros(0), np.zeros(0)) == 0
