"""Values as text: values that differ look different."""

from typing import Any

import numpy as np
import pytest

from autograder.shared.display import display, literal, pair


@pytest.mark.parametrize("off", [1e-3, 1e-7, 1e-10, 1e-14])
def test_digits_increase_until_the_values_look_different(off: float) -> None:
    expected, yours = pair(np.array([0.5, 1.0]), np.array([0.5 + off, 1.0]))
    assert expected != yours
    assert expected.startswith("[0.5")


def test_digits_beyond_single_precision_are_left_out() -> None:
    expected = np.array([27.966099, 0.1234567], np.float32)
    of_other_machine = np.array([27.966097, 0.1234568])
    assert pair(expected, of_other_machine) == ("[27.9661,  0.1235]  (float32)", "[27.9661,  0.1235]")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.array([-0.0, -1e-9, 1.0]), "[0., 0., 1.]"), (-0.0, "0.0"),
        ([1.0, 2.5], "[1.0, 2.5]"), ((1.0, True), "(1.0, True)"), ([], "[]"), ((1,), "(1,)"), (None, "None"),
        (("F", 19), "('F', 19)"), ([("F", 19)], "[('F', 19)]"), ({"a": 1, (1, "b"): None}, "{'a': 1, (1, 'b'): None}"),
        ({3, 1, 20}, "{1, 3, 20}"), (set(), "set()"), (frozenset({"x"}), "frozenset({'x'})"), (b"\xff", "b'\\xff'"),
        ("two\nlines `` ", "'two\\nlines `` '"), ("\u202e\ud800", "'\\u202e\\ud800'"), (10**40, "1" + 40 * "0"),
        ("x" * 300, f"'{'x' * 200}', and 100 more characters"), (10**4000, "a very large integer"), ({1: print}, "{1: a function}"),
    ],
)  # fmt: skip
def test_display_of_plain_data(value: Any, shown: str) -> None:
    assert display(value) == shown


def test_large_or_deeply_nested_values_are_described() -> None:
    assert display(np.zeros(600)) == "an array of float64 with shape (600,)"
    assert display([[[[1] * 200]] * 9]) == f"[[{7 * '[a list], '}[a list], ...]]"
    assert display([0] * 500) == "[0, 0, 0, 0, 0, 0, 0, 0, ...]"
    endless: list[object] = []
    endless.append(endless)
    assert display(endless) == "[[[a list]]]"


@pytest.mark.parametrize(
    "value", [np.tri(9, dtype=bool), [[[[[1], ("a", {2})]]]], [("Alice", 19)] * 30, {n: [n] for n in range(40)}]
)
def test_small_values_are_shown_in_full_with_several_short_parts_in_a_line(value: Any) -> None:
    shown = display(value)
    assert "..." not in shown and len(shown.splitlines()) < 10
    assert isinstance(value, np.ndarray) or eval(shown) == eval(literal(value)) == value


def test_shape_has_its_own_line_if_it_does_not_fit_beside_the_last_row() -> None:
    value = np.arange(12.0).reshape(1, 2, 6)
    rows = "[[[ 0.,  1.,  2.,  3.,  4.,  5.],\n  [ 6.,  7.,  8.,  9., 10., 11.]]]"
    assert display(value, width=41) == f"{rows}  (shape (1, 2, 6))"
    assert display(value, width=40) == f"{rows}\n  (shape (1, 2, 6))"


@pytest.mark.parametrize(
    "value",
    [
        np.array([[1.0, -np.inf], [np.nan, 0.1]]),
        np.array([1.5], np.float32),
        {"w": np.eye(2), "list": [np.zeros(2), 3]},
        np.float64(0.1),
        ("F", 19),
        (np.eye(2),),
        {("a", 1): {2, 1}},
        frozenset(),
        {"x"},
        [set(), b"x", None, ()],
        ("long",) * 40,
    ],
)
def test_literal_evaluates_to_the_value(value: Any) -> None:
    np.testing.assert_equal(eval(literal(value), {"np": np}), value)


def test_literal_keeps_the_order_in_memory() -> None:
    """A function may be wrong for one order only."""
    by_columns = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    assert literal(by_columns) == "np.array([[1.0, 2.0], [3.0, 4.0]], order='F')"


def test_repeated_block_is_written_once() -> None:
    block = {"gamma": np.array([1.0, 2.0])}
    text = literal([block, {"gamma": block["gamma"].copy()}])
    assert text == "2 * [{'gamma': np.array([1.0, 2.0])}]"
    assert literal([1, 1]) == "[1, 1]"


def double(x: int) -> int:
    """Docs."""
    return 2 * x


def test_literal_of_a_function_is_a_lambda_or_its_name() -> None:
    assert literal(double) == "lambda x: 2 * x"
    assert literal([lambda x, y=1: x + y]) == "[lambda x, y=1: x + y]"
    assert literal(test_repeated_block_is_written_once) == "test_repeated_block_is_written_once"
