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
ALLOWED = 1e-8


@pytest.mark.parametrize(("expected", "actual", "said"), [
    (TABLE[:2], TABLE[:2].T, "Your result is the transpose of the expected one."),
    (TABLE, 2 * TABLE, "the same factor, 2"),
    (TABLE, TABLE * (1.5 + 1e-8), "the same factor, 1.5."),  # a small eps does not hide the factor
    (TABLE, -TABLE, "the same factor, -1."),
    (TABLE, TABLE * [[0.5], [3.0], [-2.0]], "In each row, every entry is multiplied by the same factor."),
    (TABLE, TABLE * [0.5, 3.0, -2.0], "In each column, every entry is multiplied by the same factor."),
    (TABLE, np.full((3, 3), 0.25), "All entries are equal: 0.25"),
    (TABLE, TABLE[:2], "Your result is the expected one, but ends too early."),
    (TABLE, TABLE + [[0], [0], [9.0]] * np.array([1, 2, 3]), "Only row 2 is wrong"),
    (TABLE, TABLE * [1, 7, 1], "Only column 1 is wrong"),
    (TABLE, TABLE + 9 * np.diag([0, 1.0, 0]), "Only entry [1, 1] is wrong"),
    (TABLE, np.where([[True], [False], [False]], TABLE, 20 - TABLE**2), "Only row 0 is correct"),
    (TABLE, np.where(TABLE == 1, np.nan, TABLE), "1 entry is nan; there should be none"),
    (TABLE, -(TABLE**3) + 1, "9 of 9 entries are wrong: entry [2, 2] is -999 instead of 10"),
    (TABLE, TABLE, ""),
    (MASK, np.tri(3, k=-1, dtype=bool), "Some entries on the diagonal are wrong; everything else is correct."),
    (MASK, np.ones((3, 3), bool), "Every entry is True"),
    (MASK, np.tri(3, k=1, dtype=bool), "Some entries above the diagonal are wrong"),
    (MASK[:1, :1], ~MASK[:1, :1], ""),
    (np.zeros((2, 6), bool), np.kron(np.eye(2), np.ones(3)) > 0, "6 of 12 entries are wrong: entry [0, 0] is True instead of"),
    (np.array([1.0, 4.0]), np.array([1.5, 4.5]), "2 of 2 entries are wrong: entry [0] is 1.5 instead of 1."),
    (np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([[0.25, 0.75], [0.3, 0.9]]), "sums to 1.2"),
    # The second row is further away by a rounding error, which differs between platforms.
    (np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([[0.25, 0.5], [0.5, 0.75 + 1e-12]]), "sums to 0.75"),
    (DECIMALS, np.round(DECIMALS, 1), "Your result is the expected one, rounded to 1 decimal."),
    (DECIMALS, np.round(DECIMALS, 4), "Your result is the expected one, rounded to 4 decimals."),
    (0.123456, 0.1235, "Your result is the expected one, rounded to 4 decimals."),
    # The fourth decimal is 0, so the result may have been rounded to 3 or to 4 decimals.
    (-1.74502, -1.745, "Your result is the expected one, rounded to 3 to 4 decimals."),
    (-2.055725, -2.35208, ""),
    (-2.055725, 2.055725, "Only the sign is wrong."),
    (-2.055725, -2.055725 / np.log(2), "Your result is the expected one with logarithms to base 2."),
    (-2.055725, -2.055725 / 3, "Your result is the expected one divided by 3."),
    (-2.055725, -6.167175, "Your result is 3 times the expected one."),
    (0.0, 0.0001, ""),
    (0.0, -0.0, ""),
    (np.array([2, 1, 0]), np.array([2, 1]), "Your result is the expected one, but ends too early."),
    (np.array([2, 1]), np.array([2, 1, 0, 3]), "Your result is the expected one, but ends too late."),
    (np.array([1, 1, 1]), np.array([1, 1]), ""),  # any of the three could be the missing one
    (np.array([1]), np.zeros(0, int), ""),
    ("Text", "tEXT", "Only upper and lower case differ."),
    ("two words", "two  words\n", "Only white space differs."),
    ("text", "test", ""),
    ([("a", 1), ("b", 2)], [("b", 2), ("a", 1)], "All elements are correct, but they are in the wrong order."),
    ([1, 2], [2, 2], ""),
    ((1, (2, 3, 4)), (1, (2, 0, 4)), "Only part [1] is wrong."),
    ((*range(12),), (*range(1, 12), 0), ""),  # the orders of many parts are not tried
    ({1, 2}, {1, 3}, ""),
    ({"a": 1}, {"a": 2}, ""),
])  # fmt: skip
def test_description_of_the_difference(expected: Any, actual: Any, said: str) -> None:
    text = difference(expected, actual, ALLOWED)
    assert said in text and bool(said) == bool(text)


@pytest.mark.parametrize(("expected", "actual", "absent"), [
    (TABLE[:1, :2], 2 * TABLE[:1, :2], "factor"),  # two entries may share a factor by chance
    (np.array([0, 1, 2]), np.array([0, 2, 4]), "factor"),  # token ids
    (SMALL, SMALL * [6.0e-6, 4.1e-6, 3.7e-6, 3.4e-6], "factor"),
    (np.array([1.0, 3.0, 2.0, np.inf]), np.array([2.0, 6.0, 4.0, 5.0]), "factor"),
    (np.array([100.0, 1000.0]), np.array([100.0001, 1000.0]), "Every"),
    (np.array([5e-4, 1e-4]), np.array([0.0, 6e-4]), "Almost"),
    (np.array([0.0, 1.0]), np.array([0.3, 1.7]), "sums"),  # not attention weights
    (DECIMALS, np.round(DECIMALS + 0.2, 1), "rounded"),
])  # fmt: skip
def test_possible_coincidence_is_not_described(expected: Any, actual: Any, absent: str) -> None:
    assert absent not in difference(expected, actual, ALLOWED)


def test_correct_parts_are_not_mentioned() -> None:
    said = difference((TABLE, TABLE[0]), [TABLE, 2 * TABLE[0]], ALLOWED)
    assert said.startswith("Only part [1] is wrong: every entry")
    assert "Only" not in difference((TABLE, TABLE[0]), [2 * TABLE, 2 * TABLE[0]], ALLOWED)


@pytest.mark.parametrize(("expected", "actual", "said"), [
    ("text", None, "It returned None; it should return a string. Does every path through the function return a value?"),
    ([1, 2], (1, 2), "It returned a tuple of 2; it should return a list of length 2."),
    ([1, 2], [1], "It returned a list of length 1 instead of 2."),
    ((TABLE, 1), (TABLE,), "It returned 1 value instead of 2; it should return a tuple of 2."),
    ([1, "a"], [1, 2], "Part [1] is an int; it should be a string."),
    ([("F", 19)], [("F", 19.0)], "Part [0][1] is a float; it should be an int."),
    ({"k": [1]}, {"k": [None]}, "Part ['k'][0] is None; it should be an int."),
    ({"k": 1}, {"j": None}, ""),
    ({1}, {None}, ""),
])  # fmt: skip
def test_wrong_types_are_named_where_they_are(expected: Any, actual: Any, said: str) -> None:
    assert form(expected, actual, ALLOWED) == said


def test_parts_in_the_wrong_order() -> None:
    said = difference((TABLE, TABLE[0]), (TABLE[0], TABLE), ALLOWED, ("mean", "var"))
    assert said == "All parts are correct, but they are in the wrong order: `var`, `mean`."


@pytest.mark.parametrize(
    "actual", [None, "text", [[1.0], [2.0, 3.0]], [TABLE, [[1], [2, 3]]], np.zeros((3, 3), np.float16)]
)
def test_any_return_value_is_described_without_an_error(actual: Any) -> None:
    assert isinstance(difference(TABLE, actual, ALLOWED), str)
    assert isinstance(difference((TABLE, TABLE), [TABLE, actual], ALLOWED), str)
    assert not equal((TABLE, TABLE), [TABLE, actual], ALLOWED)


def test_remark_in_the_docstring_is_dropped_as_a_whole() -> None:
    said = "Returns: a tuple (y (n, d), var (d,)), in the dtype of x\n(a / np.sqrt(8) is float64; dividing by a float is not)."
    assert what_returns(said) == "a tuple (y (n, d), var (d,)), in the dtype of x"


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
