"""Sentences that describe how a result differs from the expected one."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.shared.compare import equal
from autograder.shared.differences import difference, form, reordered, what_returns

TABLE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
MASK = np.tri(3, dtype=bool)
SMALL = np.array([0.134, 0.0109, -0.0435, 0.0731])
DECIMALS = np.array([[0.123456, 7.25], [-1.3333, 0.5]])
WEIGHTS = np.array([[0.25, 0.75], [0.5, 0.5]])
ALLOWED = 1e-8


@pytest.mark.parametrize(("expected", "actual", "said"), [
    (TABLE[:2], TABLE[:2].T, "Your result is the transpose of the expected one."), (TABLE[:1], TABLE[:1].T, ""),
    (TABLE[None], TABLE, "The values are correct, but an axis of length 1 is missing."),
    (TABLE, TABLE[:, None], "The values are correct, but there is an extra axis of length 1."),
    (TABLE[:2, :2], TABLE[:2, :2].reshape(1, 4), ""), (TABLE, 2 * TABLE, "Every entry is multiplied by the same factor, 2."),
    (TABLE, TABLE * 1.005, "In each row, every entry is multiplied by the same factor."),
    (TABLE, TABLE * 1.006, "Every entry is multiplied by the same factor, 1.006."),
    (TABLE, TABLE * (1.5 + 1e-8), "Every entry is multiplied by the same factor, 1.5."),
    (TABLE, -TABLE, "Every entry is multiplied by the same factor, -1."), (TABLE, 0 * TABLE, "All entries are equal: 0."),
    (np.array([1.0, 2.0, np.inf, 3.0]), np.array([2.0, 4.0, np.inf, 6.0]), "Every entry is multiplied by the same factor, 2."),
    (np.array([1.0, 2.0, np.inf, 3.0]), np.array([5.0, 5.0, np.inf, 5.0]), "Only entry [2] is correct."),
    (np.array([0.0, 2.0, 0.0]), np.array([0.0, 3.0, 0.0]), "Only entry [1] is wrong."),
    (TABLE[0], np.array([2.0, 4.0, 6.1]), "3 of 3 entries are wrong: entry [2] is 6.1 instead of 3."),
    (TABLE, TABLE * [[0.5], [3.0], [-2.0]], "In each row, every entry is multiplied by the same factor."),
    (TABLE, TABLE * [0.5, 3.0, -2.0], "In each column, every entry is multiplied by the same factor."),
    (TABLE, TABLE * [0.5, 1.0, -2.0], "Only column 1 is correct."),
    (TABLE[:2], TABLE[:2] * [0.5, 3.0, -2.0], "6 of 6 entries are wrong: entry [1, 2] is -12 instead of 6."),
    (np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [2.0, 3.0, 4.0]]), np.array([[2.0, 2.0, 2.0], [3.0, 6.0, 9.0], [2.0, 3.0, 4.0]]),
     "Only row 2 is correct."),
    (TABLE, np.full((3, 3), 0.25), "All entries are equal: 0.25."),
    (TABLE, TABLE[:2], "Your result is the expected one, but ends too early."), (TABLE, np.concatenate([TABLE, TABLE]), ""),
    (TABLE, TABLE[:2, :2], ""), (TABLE, TABLE + [[0], [0], [9.0]] * np.array([1, 2, 3]), "Only row 2 is wrong."),
    (TABLE, TABLE * [1, 7, 1], "Only column 1 is wrong."), (TABLE, TABLE * [1, 7, 7], "Only column 0 is correct."),
    (TABLE, TABLE + 9 * np.diag([0, 1.0, 0]), "Only entry [1, 1] is wrong."),
    (TABLE, TABLE + 9 * np.diag([1.0, 1.0, 0]), "Only row 2 is correct."),
    (TABLE, np.where([[True], [False], [False]], TABLE, 20 - TABLE**2), "Only row 0 is correct."),
    (np.arange(20.0), np.arange(20.0) + (np.arange(20) % 4 == 0), "Only entries [0], [4], [8], [12] and [16] are wrong."),
    (np.arange(20.0), np.arange(20.0) + (np.arange(20) % 3 == 0), "7 of 20 entries are wrong: entry [0] is 1 instead of 0."),
    (np.arange(40.0).reshape(2, 4, 5), np.arange(40.0).reshape(2, 4, 5) + np.array([0, 0, 0, 0, 1.0]), "Only column 4 is wrong."),
    (np.arange(40.0).reshape(2, 4, 5), np.arange(40.0).reshape(2, 4, 5) + np.array([[0], [0], [1.0], [0]]),
     "Only rows [0, 2] and [1, 2] are wrong."),
    (TABLE, np.where(TABLE == 1, np.nan, TABLE), "1 entry is nan; there should be none."),
    (TABLE, np.where(TABLE < 3, np.inf, TABLE), "2 entries are nan or infinite; there should be none."),
    (np.array([1.0, -np.inf, 3.0]), np.array([1.0, np.nan, np.nan]), "2 entries are nan; there should be 1."),
    (np.array([1.0, -np.inf, 3.0]), np.array([1.0, 2.0, 3.0]), "Only entry [1] is wrong."),
    (TABLE, -(TABLE**3) + 1, "9 of 9 entries are wrong: entry [2, 2] is -999 instead of 10."),
    (TABLE.astype("f4"), (-(TABLE**3) + 1 / 3).astype("f4"), "9 of 9 entries are wrong: entry [2, 2] is -999.667 instead of 10."),
    (TABLE, TABLE, ""),
    (MASK, np.tri(3, k=-1, dtype=bool), "Some entries on the diagonal are wrong; everything else is correct."),
    (MASK, np.ones((3, 3), bool), "Every entry is True."), (MASK, np.zeros((3, 3), bool), "Every entry is False."),
    (MASK, np.tri(3, k=1, dtype=bool), "Some entries above the diagonal are wrong; everything else is correct."),
    (MASK, np.eye(3, dtype=bool), "Some entries below the diagonal are wrong; everything else is correct."),
    (MASK, MASK ^ (np.arange(9).reshape(3, 3) == 4), "Only entry [1, 1] is wrong."),
    (MASK[:2], ~MASK[:2], "6 of 6 entries are wrong: entry [0, 0] is False instead of True."), (MASK[:1, :1], ~MASK[:1, :1], ""),
    (np.zeros((2, 6), bool), np.kron(np.eye(2), np.ones(3)) > 0,
     "6 of 12 entries are wrong: entry [0, 0] is True instead of False."),
    (np.array([1.0, 4.0]), np.array([1.5, 4.5]), "2 of 2 entries are wrong: entry [0] is 1.5 instead of 1."),
    (np.array([3, 4, 5]), np.array([3, 4, 6]), "Only entry [2] is wrong."), (np.array(3.5), np.array(4.5), ""),
    (WEIGHTS, np.array([[0.25, 0.75], [0.3, 0.9]]), "Every row should sum to 1; one of yours sums to 1.2."),
    (WEIGHTS, np.array([[0.25, 0.5], [0.5, 0.75 + 1e-12]]), "Every row should sum to 1; one of yours sums to 0.75."),
    (WEIGHTS[0], np.array([0.25, 0.5]), "Every row should sum to 1; one of yours sums to 0.75."),
    (WEIGHTS, np.array([[0.25, 0.75], [0.1, 0.9]]), "Only row 1 is wrong."),
    (np.array([[0.25, 0.3], [0.75, 0.7]]), np.array([[0.25, 0.4], [0.75, 0.7]]),
     "Every column should sum to 1; one of yours sums to 1.1."),
    (DECIMALS, np.round(DECIMALS, 1), "Your result is the expected one, rounded to 1 decimal."),
    (DECIMALS, np.round(DECIMALS, 4), "Your result is the expected one, rounded to 4 decimals."),
    (0.123456, 0.1235, "Your result is the expected one, rounded to 4 decimals."), (0.123456, 0.2, ""), (0.123456, 0.17, ""),
    (0.1234567, 0.123457, "Your result is the expected one, rounded to 6 decimals."), (0.12345678, 0.1234568, ""),
    (0.001, 0.0, ""), (-1.74502, -1.745, "Your result is the expected one, rounded to 3 to 4 decimals."),
    (-2.055725, -2.35208, ""), (-2.055725, 2.055725, "Only the sign is wrong."), (0.0, 0.0001, ""), (0.1, 0.2, ""),
    (-2.055725, -2.055725 / np.log(2), "Your result is the expected one with logarithms to base 2."),
    (-2.055725, -2.055725 / np.log(10), "Your result is the expected one with logarithms to base 10."),
    (-2.055725, -2.055725 / 3, "Your result is the expected one divided by 3."),
    (-2.055725, -18.501525, "Your result is 9 times the expected one."), (-2.055725, -20.55725, ""),
    (np.inf, 2.0, ""), (np.array([2, 1, 0]), np.array([2, 1]), "Your result is the expected one, but ends too early."),
    (np.array([2, 1]), np.array([2, 1, 0, 3]), "Your result is the expected one, but ends too late."),
    (np.array([1, 1, 1]), np.array([1, 1]), ""), (np.array([1]), np.zeros(0, int), ""),
    (np.array([1.0, 2.0]), np.array(["a"]), ""), ("Text", "tEXT", "Only upper and lower case differ."),
    ("two words", "two  words\n", "Only white space differs."), ("text", "test", ""),
    ([("a", 1), ("b", 2)], [("b", 2), ("a", 1)], "All elements are correct, but they are in the wrong order."),
    ([1, 2], [2, 2], ""), ((1, (2, 3, 4)), (1, (2, 0, 4)), "Only part [1] is wrong."), ((*range(12),), (*range(1, 12), 0), ""),
    ((TABLE, TABLE[0]), (TABLE[0], TABLE), "All parts are correct, but they are in the wrong order: part [1], part [0]."),
    ((1, 2, 3), (2, 3, 1), "All parts are correct, but they are in the wrong order: part [1], part [2], part [0]."),
    ((TABLE, TABLE[0]), [TABLE, 2 * TABLE[0]], "Only part [1] is wrong: every entry is multiplied by the same factor, 2."),
    ((TABLE, TABLE[0]), [2 * TABLE, 3 * TABLE[0]],
     "Part [0]: Every entry is multiplied by the same factor, 2. Part [1]: Every entry is multiplied by the same factor, 3."),
    ((TABLE, 1, 2, 3), (2 * TABLE, 0, 2, 3),
     "Only part [0] and part [1] are wrong. Part [0]: Every entry is multiplied by the same factor, 2."),
    ((TABLE, TABLE[0]), (TABLE, None), "Only part [1] is wrong."), ((1.5,), (2.5,), ""), ({1, 2}, {1, 3}, ""),
    ({"a": 1}, {"a": 2}, ""), (TABLE[:1, :2], 2 * TABLE[:1, :2], "2 of 2 entries are wrong: entry [0, 1] is 4 instead of 2."),
    (np.array([0, 1, 2]), np.array([0, 2, 4]), "Only entry [0] is correct."),
    (SMALL, SMALL * [6.0e-6, 4.1e-6, 3.7e-6, 3.4e-6], "4 of 4 entries are wrong: entry [0] is 8.04e-07 instead of 0.134."),
    (np.array([1.0, 3.0, 2.0, np.inf]), np.array([2.0, 6.0, 4.0, 5.0]), "4 of 4 entries are wrong: entry [3] is 5 instead of inf."),
    (np.array([100.0, 1000.0]), np.array([100.0001, 1000.0]), "Only entry [0] is wrong."),
    (np.array([5e-4, 1e-4]), np.array([0.0, 6e-4]), "2 of 2 entries are wrong: entry [0] is 0 instead of 0.0005."),
    (np.array([0.0, 1.0]), np.array([0.3, 1.7]), "2 of 2 entries are wrong: entry [1] is 1.7 instead of 1."),
    (DECIMALS, np.round(DECIMALS + 0.2, 1), "4 of 4 entries are wrong: entry [1, 0] is -1.1 instead of -1.3333."),
    (TABLE, np.zeros((3, 3), np.float16), "All entries are equal: 0."),
    (np.array([1.0, 2.0]), np.array([5.0, 5.0]), "All entries are equal: 5."),
    (np.ones(3), np.full(3, 2.0), "3 of 3 entries are wrong: entry [0] is 2 instead of 1."),
    (np.array([2.0]), np.array([4.0]), ""), (np.array(1.0), np.ones(2), ""), (np.ones(2), np.array(1.0), ""),
    (np.array([True, False]), np.array([True, True]), "Every entry is True."),
    (TABLE[0], TABLE[0] * [1.01, 1.01, 1.0105], "3 of 3 entries are wrong: entry [2] is 3.0315 instead of 3."),
    ((1, 2, 3, 4, 5), (2, 3, 4, 5, 1),
     "All parts are correct, but they are in the wrong order: part [1], part [2], part [3], part [4], part [0]."),
    ((1, 2, 3, 4, 5, 6), (2, 3, 4, 5, 6, 1), ""),
])  # fmt: skip
def test_description_of_the_difference(expected: Any, actual: Any, said: str) -> None:
    assert difference(expected, actual, ALLOWED) == said


@pytest.mark.parametrize(("expected", "actual", "returned", "said"), [
    ("text", None, "", "It returned None; it should return a string. Does every path through the function return a value?"),
    ([1, 2], (1, 2), "", "It returned a tuple of 2; it should return a list of length 2."),
    ([1, 2], [1], "y", "It returned a list of length 1 instead of 2."),
    ((TABLE, 1), (TABLE,), "", "It returned 1 value instead of 2; it should return a tuple of 2."),
    ((TABLE, 1), (TABLE, 1, 2), "y (n, d)", "It returned 3 values instead of 2; the docstring says y (n, d)."),
    ((TABLE, 1), TABLE, "", "It returned an array; it should return a tuple of 2."),
    ((TABLE, 1), (1, TABLE), "y (n, d)", "Part [0] is an int; it should be an array of floats of shape (3, 3)."),
    ((TABLE, [1, 2]), (TABLE, [1]), "", "Part [1] is a list of length 1; it should be a list of length 2."),
    ((TABLE, (1, 2)), (TABLE, (1,)), "", "Part [1] is a tuple of 1; it should be a tuple of 2."),
    (TABLE, TABLE[0], "", "It returned an array of shape (3,) instead of (3, 3)."),
    (TABLE, TABLE[0], "y (n, d)", "It returned an array of shape (3,) instead of (3, 3); the docstring says y (n, d)."),
    ((TABLE, 1), (TABLE[0], 1), "", "Part [0] has shape (3,); it should have shape (3, 3)."),
    (TABLE, None, "y (n, d)",
     "It returned None; the docstring says y (n, d). Does every path through the function return a value?"),
    (TABLE, np.float64(3.5), "", "It returned a float; it should return an array of floats of shape (3, 3)."),
    (MASK, MASK.astype("f4"), "", "It returned an array of float32; it should return an array of bools of shape (3, 3)."),
    (np.array([1, 2], "u1"), np.array([1.0, 2.0]), "",
     "It returned an array of float64; it should return an array of integers of shape (2,)."),
    (np.array([1, 2]), [1], "", "It returned a list of length 1; it should return an array of integers of shape (2,)."),
    (TABLE, np.ma.array(TABLE), "", "It returned an ndarray subclass; it should return an array of floats of shape (3, 3)."),
    (TABLE.astype("f4"), TABLE, "y (n, d)",
     "It returned float64 instead of float32: floating-point results keep the dtype of the arguments."),
    ((1, TABLE), (1, TABLE.astype(int)), "",
     "Part [1] is integers instead of float64: floating-point results keep the dtype of the arguments."),
    (2.0, np.array([2.0]), "", "It returned an array; it should return a float."),
    (2.0, np.array("x"), "", "It returned an array of <U1 with shape (); it should return a float."),
    ([1, "a"], [1, 2], "", "Part [1] is an int; it should be a string."),
    ([("F", 19)], [("F", 19.0)], "", "Part [0][1] is a float; it should be an int."),
    ({"k": [1]}, {"k": [None]}, "", "Part ['k'][0] is None; it should be an int."), ({"k": 1}, {"j": None}, "", ""),
    ({1}, {None}, "", ""), (TABLE, TABLE + 1, "", ""),
])  # fmt: skip
def test_wrong_types_shapes_and_dtypes_are_described_where_they_are(
    expected: Any, actual: Any, returned: str, said: str
) -> None:
    assert form(expected, actual, ALLOWED, True, returned) == said


def test_parts_of_a_tuple_may_have_names() -> None:
    names, pair = ("mean", "var"), (TABLE, 1)
    assert form(pair, (TABLE,), ALLOWED, names=names) == (
        "It returned 1 value instead of 2; it should return a tuple of 2 (`mean`, `var`)."
    )
    assert form(pair, (TABLE, "x"), ALLOWED, names=names) == "`var` is a string; it should be an int."
    assert form(pair, (TABLE, TABLE), ALLOWED, names=("mean",)).startswith("Part [1] is")
    assert difference(pair, (TABLE, 2), ALLOWED, names) == "Only `var` is wrong."
    assert reordered(pair, (1, TABLE), ALLOWED) and not reordered(pair, (1, 1), ALLOWED)


@pytest.mark.parametrize("actual", ["text", [[1.0], [2.0, 3.0]], [TABLE, [[1], [2, 3]]], np.zeros((3, 3), np.float16)])
def test_any_return_value_is_described_without_an_error(actual: Any) -> None:
    assert isinstance(difference(TABLE, actual, ALLOWED), str)
    assert isinstance(difference((TABLE, TABLE), [TABLE, actual], ALLOWED), str)
    assert not equal((TABLE, TABLE), [TABLE, actual], ALLOWED)


@pytest.mark.parametrize(("docstring", "said"), [
    ("Returns: a tuple (y (n, d), var (d,)), in the dtype of x\n(a / np.sqrt(8) is float64; dividing by a float is not).",
     "a tuple (y (n, d), var (d,)), in the dtype of x"),
    ("About.\n  Returns: (n, d).\nMore.", "an array of shape (n, d)"), ("Returns: a; b", "a"), ("Returns: a.b\n  c\n\nd", "a.b c"),
    ("Returns: a\nRaises: b", "a"), ("Return a.", ""),
])  # fmt: skip
def test_the_docstring_says_what_is_returned(docstring: str, said: str) -> None:
    assert what_returns(docstring) == said


# Descriptions are true for any result: each sentence is parsed and checked against every entry.

NUMBERS = st.sampled_from(
    [0.0, 1.0, -2.0, 0.5, 3e-9, 8e-9, 2e-8, 1e-4, 1 + 1e-4, 100.0, 100.0001, 1000.0, np.inf, np.nan]
)
EXPECTED = st.lists(st.sampled_from([0.0, 1.0, 2.0, -2.0, 0.25, 100.0, 200.0, 1e-5, -np.inf]), min_size=1, max_size=6)
CHANGES = st.sampled_from(["one", "offset", "factor", "both", "any"])


@st.composite
def arrays(draw: st.DrawFn) -> tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]:
    """An expected and an actual array, which may differ everywhere or in one entry."""
    expected = np.array(draw(EXPECTED))
    actual, number, change = expected.copy(), draw(NUMBERS), draw(CHANGES)
    with np.errstate(invalid="ignore"):
        if change == "any":
            actual = np.array(draw(st.lists(NUMBERS, min_size=len(expected), max_size=len(expected))))
        if change in ("factor", "both"):
            actual = actual * number
        if change in ("offset", "both"):
            actual = actual + number
        if change == "one":
            actual[draw(st.integers(0, len(expected) - 1))] += number
    if len(expected) % 2 == 0 and draw(st.booleans()):
        expected, actual = expected.reshape(2, -1), actual.reshape(2, -1)
    return expected, actual


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.lists(arrays(), min_size=1, max_size=3), st.sampled_from([1e-8, 2e-4]))
def test_parts_called_wrong_are_those_that_compare_unequal(parts: list[Any], allowed: float) -> None:
    expected, actual = tuple(e for e, _ in parts), [a for _, a in parts]
    said = difference(expected, actual, allowed)
    unequal = [n for n, (e, a) in enumerate(parts) if not equal(e, a, allowed)]
    only, end, rest = re.split(r"( wrong[.:](?: |$))", said, maxsplit=1) if said.startswith("Only") else ("", "", said)
    if reordered(expected, tuple(actual), allowed):
        return
    named = [int(number) for number in re.findall(r"part \[(\d+)\]", only)]
    assert named == (unequal if 0 < len(unequal) < len(parts) else [])
    about = named if ":" in end else [int(number) for number in re.findall(r"Part \[(\d+)\]: ", rest)]
    assert set(about) == set(unequal) - {n for n in unequal if not difference(parts[n][0], parts[n][1], allowed)}


def holds(said: str, expected: Any, actual: Any, allowed: float) -> bool:
    """Whether a sentence about an array is true for every entry."""
    slack = allowed * max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
    number = float(said.rstrip(".").rpartition(" ")[2]) if re.search(r"(factor|equal).* \S*\d\.$", said) else np.nan
    unequal = np.array([not equal(np.array([e, *expected.flat]), np.array([a, *expected.flat]), allowed)
                        for e, a in zip(expected.flat, actual.flat, strict=True)]).reshape(expected.shape)  # fmt: skip
    finite = np.isfinite(expected)
    wanted, got = expected[finite], actual[finite]

    def all_near(model: Any, share: float = 2e-3) -> bool:
        return bool((np.abs(got - model) <= share * np.abs(model - wanted) + slack).all())

    if line := re.match(r"In each (row|column), every entry is multiplied by the same factor", said):
        axis = int(line[1] == "row")
        model = expected * (actual * expected).sum(axis, keepdims=True) / (expected**2).sum(axis, keepdims=True)
        return bool((np.abs(actual - model) <= 2e-3 * np.abs(model - expected) + slack).all()) and bool(
            unequal.any(axis).all()
        )
    if "same factor" in said:
        return all_near(wanted * number)
    if "All entries are equal" in said:
        return bool((np.abs(actual - number) <= 2 * slack + 1e-5 * abs(number)).all())
    if digits := re.match(r"Your result is the expected one, rounded to (\d)(?: to \d)? decimal", said):
        half = 0.5 * 10.0 ** -int(digits[1])
        return bool((np.abs(got - wanted) <= half + slack).all() and (np.round(got, int(digits[1])) == got).all())
    if count := re.match(r"(\d+) of (\d+) entries are wrong", said):
        return (int(count[1]), int(count[2])) == (unequal.sum(), unequal.size)
    if place := re.match(r"Only (row|column|entr)(?:s|y|ies)? (.*) (?:is|are) (wrong|correct)\.", said):
        lines = {"row": unequal.any(-1), "column": unequal.any(0), "entr": unequal}[place[1]]
        own = [eval(index) for index in re.findall(r"\[.*?\]|\d+", place[2])]
        named = np.isin(np.arange(lines.size), [np.ravel_multi_index(np.atleast_1d(one), lines.shape) for one in own])
        return np.array_equal(lines.ravel(), named if place[3] == "wrong" else ~named)
    if "nan" in said:
        return not np.isfinite(actual[finite]).all()
    return "transpose" in said or "sums to" in said


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@given(arrays(), st.sampled_from([1e-8, 2e-4]))
def test_description_is_true_for_every_entry(pair: Any, allowed: float) -> None:
    said = difference(pair[0], pair[1], allowed)
    assert not said or holds(said, pair[0], pair[1], allowed), said
    assert bool(said) <= (not equal(pair[0], pair[1], allowed))
