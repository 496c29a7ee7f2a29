"""Values as text: values that differ look different."""

from typing import Any

import numpy as np
import pytest

from autograder.shared.display import display, function_source, literal, pair

A = np.array


@pytest.mark.parametrize(("expected", "actual", "texts"), [
    (A([1 / 3]), A([1 / 3]), ("[0.333333]", "[0.333333]")), (A([0.5, 1.0]), A([0.501, 1.0]), ('[0.5, 1. ]', '[0.501, 1.   ]')),
    (A([0.5, 1.0]), A([0.5 + 1e-10, 1.0]), ('[0.5, 1. ]', '[0.5000000001, 1.          ]')),
    (A([0.5, 1.0]), A([0.5 + 1e-14, 1.0]), ('[0.5, 1. ]', '[0.50000000000001, 1.              ]')),
    (A([0.5, 1.0]), A([0.5, 1.0]), ('[0.5, 1. ]', '[0.5, 1. ]')),
    (A([27.966099, 0.1234567], "f4"), A([27.966097, 0.1234568]), ('[27.9661,  0.1235]  (float32)', '[27.9661,  0.1235]')),
    (0.1, 0.1 + 1e-12, ('0.1', '0.100000000001')), (A([1.0]), [1.0], ('array([1.])', '[1.0]')),
    (A([1.0]), (1.0,), ('array([1.])', '(1.0,)')), ((A([1.0]), 2), ([1.0], 2), ('(array([1.]), 2)', '([1.0], 2)')),
    ((A([1.0]), 2), (A([1.0]), 3), ('([1.], 2)', '([1.], 3)')), (A([1.0, 2.0]), None, ('[1., 2.]', 'None')),
    (A(["a"]), ["a"], ("array(['a'])  (<U1)", "['a']")),
])  # fmt: skip
def test_digits_increase_until_the_values_look_different(expected: Any, actual: Any, texts: tuple[str, str]) -> None:
    assert pair(expected, actual) == texts


X, ENDLESS = "x" * 200, list[object]()
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(("value", "shown"), [
    (A([-0.0, -1e-9, 1.0]), "[0., 0., 1.]"), (-0.0, "0.0"), (-1.0, "-1.0"),
    ([1.0, 2.5], "[1.0, 2.5]"), ((1.0, True), "(1.0, True)"), ([], "[]"), ((1,), "(1,)"), (None, "None"),
    (("F", 19), "('F', 19)"), ([("F", 19)], "[('F', 19)]"), ({"a": 1, (1, "b"): None}, "{'a': 1, (1, 'b'): None}"),
    ({3, 1, 20}, "{1, 3, 20}"), (set(), "set()"), (frozenset({"x"}), "frozenset({'x'})"), (b"\xff", "b'\\xff'"),
    ("two\nlines `` ", "'two\\nlines `` '"), ("\u202e\ud800", "'\\u202e\\ud800'"), (10**40, "1" + 40 * "0"),
    (X, f"'{X}'"), (X + "x", f"'{X}', and 1 more characters"), (f"{X}x".encode(), f"b'{X}', and 1 more characters"),
    (2**600 - 1, str(2**600 - 1)), ({1: print}, "{1: a function}"), (ENDLESS, "[[[a list]]]"),
    (A([1.5, -0.0, 3.0]), "[1.5, 0. , 3. ]"), (A([True, False]), "[ True, False]"), (A([1, 2], "i4"), "[1, 2]  (int32)"),
    (A(3.5), "3.5  (float64)"), (A([[1.0, 2.0]], "f4"), "[[1., 2.]]  (float32)"),
    (np.arange(8).reshape(2, 2, 2), "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]  (shape (2, 2, 2))"),
    (np.zeros(101), "an array of float64 with shape (101,)"), (A([27.966099, 0.1234567], "f4"), "[27.9661,  0.1235]  (float32)"),
    (0.1234567891, "0.123457"), (1e-20, "1e-20"), (float("inf"), "inf"), (2.0, "2.0"), (2**600, "a very large integer"),
    (np.int8(3), "3"), (A([1234567.0, 250.75], "f4"), "[1234567.,     251.]  (float32)"),
    ([10000] * 16, f"[{', '.join(13 * ['10000'])},\n10000, 10000, 10000]"),
    (dict.fromkeys(range(101), 1), "{0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, ...}"), ([[[[1]]]], "[[[[1]]]]"),
    ([[[[0] * 101]]], "[[[a list]]]"), ([0] * 101, "[0, 0, 0, 0, 0, 0, 0, 0, ...]"),
    ([*range(8)] * 13, "[0, 1, 2, 3, 4, 5, 6, 7, ...]"), ((A([[1.0, 2.0], [3.0, 4.0]]), 5), "([[1., 2.],\n [3., 4.]], 5)"),
    (frozenset({2}), "frozenset({2})"), ({"k": [1, (2,)]}, "{'k': [1, (2,)]}"), ([A([1.0]), A([2.0])], "[[1.], [2.]]"),
    ([0] * 100, f"[{', '.join('0' * 30)},\n{', '.join('0' * 30)},\n{', '.join('0' * 30)},\n{', '.join('0' * 10)}]"),
    (["a" * 22] * 4, "['{0}', '{0}', '{0}',\n'{0}']".format("a" * 22)),
    (["a" * 23] * 4, "['{0}',\n'{0}',\n'{0}',\n'{0}']".format("a" * 23)),
    (["a" * 42] * 2, f"['{'a' * 42}',\n'{'a' * 42}']"), (["a" * 41] * 2, f"['{'a' * 41}', '{'a' * 41}']"),
])  # fmt: skip
def test_display(value: Any, shown: str) -> None:
    assert display(value) == shown


def test_display_of_named_parts() -> None:
    value = (A([[1.0, 2.0], [3.0, 4.0]]), 5)
    assert display(value, names=("mean", "variance")) == "mean      [[1., 2.],\n           [3., 4.]]\nvariance  5"
    assert display(value, names=("mean",)) == "([[1., 2.],\n [3., 4.]], 5)"


def test_shape_has_its_own_line_if_it_does_not_fit_beside_the_last_row() -> None:
    value = np.arange(12.0).reshape(1, 2, 6)
    rows = "[[[ 0.,  1.,  2.,  3.,  4.,  5.],\n  [ 6.,  7.,  8.,  9., 10., 11.]]]"
    assert display(value, width=41) == f"{rows}  (shape (1, 2, 6))"
    assert display(value, width=40) == f"{rows}\n  (shape (1, 2, 6))"
    assert len(display(np.zeros(100)).splitlines()) == 5 and len(display(np.zeros(100), width=97).splitlines()) == 5


def double(x: int) -> int:
    """Docs."""
    return 2 * x


def doubled(x: int) -> int:
    y = 2 * x
    if y:
        return y
    raise ValueError


@pytest.mark.parametrize(("value", "source"), [
    (A([[1.0, -np.inf], [np.nan, 0.1]]), "np.array([[1.0, -np.inf], [np.nan, 0.1]])"),
    (A([1.5], "f4"), "np.array([1.5], dtype=np.float32)"), (np.float64(0.1), "0.1"), (np.float32(0.1), "0.1"),
    (np.ones((2, 3)), "np.ones((2, 3))"), (np.zeros(2, "f4"), "np.zeros(2, dtype=np.float32)"),
    (np.full(2, 2.0), "np.array([2.0, 2.0])"), (np.ones(1), "np.array([1.0])"), (A(1.0), "np.array(1.0)"),
    (np.ones(2, int), "np.array([1, 1])"), (np.zeros((2, 2), bool), "np.array([[False, False], [False, False]])"),
    (A([1, 2], "u1"), "np.array([1, 2], dtype=np.uint8)"),
    (np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), "np.array([[1.0, 2.0], [3.0, 4.0]], order='F')"),
    (np.asfortranarray([[1.0, 1.0], [1.0, 1.0]]), "np.ones((2, 2))"),
    ({"w": np.eye(2), "list": [np.zeros(2), 3]}, "{'w': np.array([[1.0, 0.0], [0.0, 1.0]]), 'list': [np.zeros(2), 3]}"),
    (frozenset(), "frozenset()"), ({3, 1}, "{1, 3}"), (((), (1,), [], {}), "((), (1,), [], {})"),
    ([{"g": 1}, {"g": 1}], "2 * [{'g': 1}]"), ([{"g": 1}, {"g": 2}], "[{'g': 1}, {'g': 2}]"), ([{"g": 1}], "[{'g': 1}]"),
    ([1, 1], "[1, 1]"), (("x" * 20,) * 4, "('{0}', '{0}', '{0}', '{0}')".format("x" * 20)),
    (("x" * 30,) * 3, "(\n    '{0}',\n    '{0}',\n    '{0}',\n)".format("x" * 30)),
    ((1,) * 31 + (10, 1, 1), f"(\n    {', '.join(31 * ['1'])}, 10,\n    1, 1,\n)"),
    (("y",) * 25, f"(\n    {', '.join(19 * [repr('y')])},\n    {', '.join(6 * [repr('y')])},\n)"),
    (("x" * 97,), f"(\n    '{'x' * 97}',\n)"), (2 * [{"g": "x" * 90}], f"2 * [\n    {{'g': '{'x' * 90}'}},\n]"),
    ({"a" * 50: 1, "b" * 50: 2}, f"{{\n    '{'a' * 50}': 1,\n    '{'b' * 50}': 2,\n}}"),
    (double, "lambda x: 2 * x"), ([lambda x, y=1: x + y], "[lambda x, y=1: x + y]"), (doubled, "doubled"),
])  # fmt: skip
def test_literal(value: Any, source: str) -> None:
    assert literal(value) == source
    if not callable(value) and not isinstance(value, list):
        np.testing.assert_equal(eval(source, {"np": np}), value)


def test_source_of_a_function() -> None:
    assert function_source(double) == 'def double(x: int) -> int:\n    """Docs."""\n    return 2 * x'
    assert function_source(lambda x: x) == "lambda x: x"
