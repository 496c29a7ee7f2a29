"""Other arguments of a call, and which of their results and properties can tell how code is wrong."""

from typing import Any

import numpy as np
import pytest

from autograder.homework import other_arguments
from autograder.homework.other_arguments import Arguments, changes, is_telling, properties, results_by_change, variants

SOURCE = '''
def scaled(x, n, mask=None, kind="pre", training=True, axis=-1, eps=1e-5):
    """Docs."""
    if kind not in ("pre", "post") or n < 1:
        raise ValueError("no such kind")
    y = n * x / np.sqrt((x * x).mean(axis, keepdims=True) + eps) + (kind == "post")
    return y * (1 if mask is None else mask) * (2 - training)

def joined(tokens, rows, d=2.0):
    return np.arange(len(tokens)) * tokens + sum((at + 1) * row for at, row in enumerate(rows)) + d

def larger(x, n=2):
    return x > n
'''
FUNCTIONS: dict[str, Any] = {"np": np}
exec(SOURCE, FUNCTIONS)
SCALED, JOINED, LARGER = (FUNCTIONS[name] for name in ("scaled", "joined", "larger"))
X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
SQUARE, ROWS, TOKENS = X[:, :2], [X[0], X[1]], np.array([1, 2, 5])
MASK = np.array([[True, False], [True, True]])
EPS = ["0", "1e-12", "1e-11", "1e-10", "1e-09", "1e-08", "1e-07", "1e-06", "0.0001", "0.001"]


@pytest.mark.parametrize(("function", "arguments", "found"), [
    (SCALED, {"x": X, "n": 2, "training": False}, {
        "`training=True`": {"x": X, "n": 2}, "`n=1`": {"x": X, "n": 1, "training": False},
        "`n` one smaller": {"x": X, "n": 1, "training": False}, "`n` one larger": {"x": X, "n": 3, "training": False},
        **{f"`eps={eps}`": {"x": X, "n": 2, "training": False, "eps": float(eps)} for eps in EPS}}),
    (SCALED, {"x": SQUARE, "n": 1, "kind": "post", "eps": 1e-5, "mask": MASK}, {
        "`mask=None`": {"x": SQUARE, "n": 1, "kind": "post"}, "`kind='pre'`": {"x": SQUARE, "n": 1, "mask": MASK},
        "`n` one larger": {"x": SQUARE, "n": 2, "kind": "post", "mask": MASK},
        **{f"`eps={eps}`": {"x": SQUARE, "n": 1, "kind": "post", "mask": MASK, "eps": float(eps)} for eps in EPS}}),
    (SCALED, {"x": X, "n": 1, "mask": X > 2}, {
        "`mask=None`": {"x": X, "n": 1}, "`n` one larger": {"x": X, "n": 2, "mask": X > 2},
        **{f"`eps={eps}`": {"x": X, "n": 1, "mask": X > 2, "eps": float(eps)} for eps in EPS}}),
    (SCALED, {"x": SQUARE[:1] * 0, "n": 1}, {}),  # the same for other arguments
    (JOINED, {"tokens": TOKENS, "rows": ROWS}, {
        "`d=0`": {"tokens": TOKENS, "rows": ROWS, "d": 0.0},
        "`tokens` in reverse order": {"tokens": TOKENS[::-1], "rows": ROWS},
        "`rows` in reverse order": {"tokens": TOKENS, "rows": ROWS[::-1]},
        "`rows` without its last entry": {"tokens": TOKENS, "rows": ROWS[:1]},
        "`rows` without its first entry": {"tokens": TOKENS, "rows": ROWS[1:]}}),
    (LARGER, {"x": X, "n": 3}, {
        "`n=2`": {"x": X}, "`n=1`": {"x": X, "n": 1}, "`n` one smaller": {"x": X, "n": 2}, "`n` one larger": {"x": X, "n": 4}}),
    (lambda tokens: tokens[:, None] > tokens, {"tokens": TOKENS}, {"`tokens` in reverse order": {"tokens": TOKENS[::-1]},
     "`tokens` without its last entry": {"tokens": TOKENS[:-1]}, "`tokens` without its first entry": {"tokens": TOKENS[1:]}}),
    (lambda tokens: tokens > 1, {"tokens": TOKENS}, {}),  # three booleans match by chance
])  # fmt: skip
def test_results_for_other_arguments(function: Any, arguments: Arguments, found: dict[str, Arguments]) -> None:
    expected = function(**arguments)
    results = dict(results_by_change(function, arguments, expected, 1e-9))
    assert results.keys() == found.keys()
    assert all(np.array_equal(value, function(**found[words])) for words, value in results.items())


def plain(arguments: Arguments) -> Arguments:
    return {name: np.asarray(value).tolist() for name, value in arguments.items()}


S, FIRST_ROW = SQUARE.tolist(), [[True, False], [True, True]]


@pytest.mark.parametrize(("function", "arguments", "found"), [
    (SCALED, {"x": SQUARE, "n": 2, "kind": "post", "mask": MASK}, [
        ("`mask=None`", {"x": S, "n": 2, "kind": "post"}), ("`kind='pre'`", {"x": S, "n": 2, "mask": FIRST_ROW}),
        *((f"`n{words}", {"x": S, "n": n, "kind": "post", "mask": FIRST_ROW})
          for words, n in (("=1`", 1), ("` one smaller", 1), ("` one larger", 3))),
        *((f"`kind={kind!r}`", {"x": S, "n": 2, "kind": kind, "mask": FIRST_ROW}) for kind in ("keepdims", "pre")),
        ("a causal mask", {"x": S, "n": 2, "kind": "post", "mask": FIRST_ROW}),
        ("the first row alone", {"x": S[:1], "n": 2, "kind": "post", "mask": [[True]]})]),
    (SCALED, {"x": SQUARE[0], "training": False, "axis": -1, "mask": MASK[:, :1]}, [
        ("`mask=None`", {"x": S[0], "training": False, "axis": -1}),
        ("`training=True`", {"x": S[0], "axis": -1, "mask": [[True], [True]]}),
        ("`training=True`", {"x": S[0], "training": True, "axis": -1, "mask": [[True], [True]]}),
        *((f"`axis{words}", {"x": S[0], "training": False, "axis": axis, "mask": [[True], [True]]})
          for words, axis in (("=1`", 1), ("` one smaller", -2), ("` one larger", 0))),
        ("the first row alone", {"x": S[0], "training": False, "axis": -1, "mask": [[True]]})]),
    (SCALED, {"x": X[:1]}, [("a causal mask", {"x": X[:1].tolist(), "mask": [[True]]})]),
    (LARGER, {"x": X[None]}, []),
    (LARGER, {"x": SQUARE, "n": 2}, [
        ("`n=1`", {"x": S, "n": 1}), ("`n` one smaller", {"x": S, "n": 1}), ("`n` one larger", {"x": S, "n": 3}),
        ("the first row alone", {"x": S[:1], "n": 2})]),
])  # fmt: skip
def test_changes_that_may_make_a_call_correct(
    function: Any, arguments: Arguments, found: list[tuple[str, Arguments]]
) -> None:
    assert [(words, plain(changed)) for words, changed in changes(function, arguments)] == found


@pytest.mark.parametrize(("function", "arguments", "words"), [
    (SCALED, {"x": SQUARE, "n": 2, "mask": MASK}, [
        "a 2-D `x`", "a 2-D `mask`", "a square array `x`", "a square array `mask`", "a `mask`", "`axis` set to the last axis",
        "axis 1 (counted from 0)", "the default `eps`", "`n>1`", "float64 arrays"]),
    (SCALED, {"x": X[None].astype("f"), "n": 1, "axis": 1, "eps": 0.5}, [
        "a 3-D `x`", "a non-square array `x`", "no `mask`", "`axis` set to another axis", "axis 1 (counted from 0)",
        "another `eps`", "`n=1`", "float32 arrays"]),
    (SCALED, {"x": X[0], "n": 2, "eps": 1e-5 + 1e-12}, [
        "a 1-D `x`", "a non-square array `x`", "no `mask`", "`axis` set to the last axis", "axis 0 (counted from 0)",
        "the default `eps`", "`n>1`", "float64 arrays"]),
    (JOINED, {"tokens": TOKENS, "rows": ROWS}, ["a 1-D `tokens`", "a non-square array `tokens`", "the default `d`"]),
    (lambda x, y: x, {"x": X, "y": X.astype("f")}, [
        "a 2-D `x`", "a 2-D `y`", "a non-square array `x`", "a non-square array `y`"]),
])  # fmt: skip
def test_properties_of_arguments(function: Any, arguments: Arguments, words: list[str]) -> None:
    found = properties(function, arguments, lambda value: value)
    assert [text.format(word) for (text, _), word in found.items()] == words


P = [[4.0, 3.0, 7.0], [5.0, 1.0, 2.0]]  # X in another order
FLIPPED = [P, [row[::-1] for row in P]]
THREE = [[[9.0, 2.0], [7.0, 4.0], [5.0, 11.0]], [[0.0, 3.0], [6.0, 10.0], [8.0, 1.0]]]


@pytest.mark.parametrize(("arguments", "together", "found"), [
    ({"x": X, "n": 1}, [], [{"x": P, "n": 1}]),
    ({"x": X}, ["x"], [{"x": P}, {"x": FLIPPED}, {"x": P[1]}]),
    ({"x": X, "n": 3}, ["x"], [
        {"x": P, "n": 3}, {"x": FLIPPED, "n": 3}, {"x": P[1], "n": 3}, {"x": P}, *({"x": P, "n": n} for n in (1, 2, 4))]),
    ({"x": X, "y": MASK}, ["x"], [{"x": P, "y": MASK.tolist()}, {"x": FLIPPED, "y": MASK.tolist()}]),
    ({"x": np.arange(12.0).reshape(2, 3, 2)}, ["x"], [
        {"x": THREE}, {"x": [THREE, [[row[::-1] for row in part] for part in THREE]]}, {"x": THREE[1]},
        {"x": [part[1:] for part in THREE]}]),
    ({"x": np.array(2.0)}, ["x"], [{"x": 2.0}]),
    ({"x": TOKENS}, ["x"], [{"x": [1, 2, 5]}, {"x": [[1, 2, 5], [5, 2, 1]]}, {"x": 5}]),
])  # fmt: skip
def test_variants_have_other_numbers_axes_and_rows(
    arguments: Arguments, together: list[str], found: list[Arguments]
) -> None:
    assert [plain(changed) for changed in variants(LARGER, arguments, together)] == found


@pytest.mark.parametrize(("value", "telling"), [
    (X, True), (np.ones(3), False), (np.ones(1), True), ((np.ones(3), X), True), ((np.ones(3), np.zeros(2)), False),
    (np.ones(3, int), True), (np.array([1.0, np.nan]), False), (np.array([1.0, np.inf]), False), (1.5, True),
    (np.array([1.0, -np.inf]), True), ((X, np.array([np.nan, 1.0])), False),
])  # fmt: skip
def test_constant_and_undefined_results_tell_nothing(value: Any, telling: bool) -> None:
    assert is_telling(value) is telling


def test_rejected_arguments_have_no_result() -> None:
    assert other_arguments.result(SCALED, {"x": X, "n": 0}) is None
    assert other_arguments.result(LARGER, {"x": 3}) is True
