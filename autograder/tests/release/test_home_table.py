"""The table of misconceptions that the public checks read, and the sentences that they print for matching results."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograder.release import home_table
from autograder.tests.files import HOMEWORK
from autograder.tests.forked import python


@pytest.fixture
def known() -> Iterator[ModuleType]:
    """The module of the checks that looks up misconceptions."""
    with home_table.importable_checks(HOMEWORK.solutions):
        yield importlib.import_module("known_mistakes")


def table(*rows: list[Any], default: dict[str, float] | None = None) -> dict[str, Any]:
    """A table for the calls f(1) and f(2), whose correct results are 1 and 2."""
    return {"calls": ["f(1)", "f(2)"], "mistakes": [[*row, default or {}] for row in rows]}


FIRST, SECOND = {"0": {"value": 3.0}}, {"1": {"value": 4.0}}
A, B = ["A is done.", "read on", "B is right.", FIRST], ["C is done.", "read on", "D is right.", FIRST | SECOND]
E = ["G is done.", "read on", "H is right.", SECOND]


@pytest.mark.parametrize(("rows", "one", "two", "said"), [
    ([A, B], 3.0, 2.0, ("A is done.", "B is right.")),
    ([A, B], 3.0 + 1e-7, 4.0, ("C is done.", "D is right.")),
    ([A, B], 1.0, 4.0, ()),  # matches B, but not on every call
    ([A, B], 5.0, 2.0, ()),
    ([], 3.0, 2.0, ()),
    ([A, ["E is done.", "read on", "B is right.", FIRST]], 3.0, 2.0, ("B is right.",)),
    ([A, ["E is done.", "read on", "F is right.", FIRST]], 3.0, 2.0, ()),
    ([A, E], 3.0, 4.0, ("A is done.", "B is right.", "G is done.", "H is right.")),
    ([A, E], 3.0, 5.0, ()),
    ([A, E, ["I is done.", "read on", "J is right.", SECOND]], 3.0, 4.0, ("A is done.", "B is right.")),
])  # fmt: skip
def test_sentences_of_all_matching_misconceptions_are_printed(
    known: ModuleType, rows: list[list[Any]], one: float, two: float, said: tuple[str, ...]
) -> None:
    calls = [known.Seen(f"f({n})", {"value": v}, v == n, 1e-6) for n, v in ((1, one), (2, two))]
    assert tuple(text for title, text in known.explanation(table(*rows), calls) if title != "read") == said


@pytest.mark.parametrize(("defaults", "named"), [({"eps": 1e-8}, True), ({"eps": 1e-5}, False), ({}, False)])
def test_wrong_default_is_named_only_if_the_signature_has_it(
    known: ModuleType, defaults: dict[str, float], named: bool
) -> None:
    calls = [known.Seen("f(1)", {"value": 3.0}, False, 1e-6), known.Seen("f(2)", {"value": 2.0}, True, 1e-6)]
    assert bool(known.explanation(table(A, default={"eps": 1e-8}), calls, defaults)) is named


def test_calls_outside_the_table_must_pass(known: ModuleType) -> None:
    for right in (True, False):
        calls = [known.Seen("f(1)", {"value": 3.0}, False, 1e-6), known.Seen("f(7)", {"value": 7.0}, right, 1e-6)]
        said = [("probably", "A is done."), ("read", "read on"), ("right", "B is right.")]
        assert known.explanation(table(A), calls) == (said if right else [])


VALUES: list[Any] = [
    None, 1, 1.5, True, "1", b"1", [1], [1, 2], {1}, {1, 2}, {("a", 1)}, {"a": 1}, {"a": 2}, {1: "a"}, {(1, 2): [3]}, ("F", 19),
    ("F", "19"), (), np.ones(2), np.ones(2, bool), 10**30, {frozenset({1}): None},
]  # fmt: skip


def test_entries_distinguish_values_of_every_kind(known: ModuleType) -> None:
    entries = [json.loads(json.dumps(known.as_entry(value))) for value in VALUES]
    for number, value in enumerate(VALUES):
        same = [known.same(known.as_entry(value), entry, 1e-6) for entry in entries]
        assert [place for place, found in enumerate(same) if found] == [number], value


def test_missing_table_has_no_misconceptions(known: ModuleType) -> None:
    assert not known.TABLE.exists()  # generated for students, not stored with the solutions
    assert known.known("layernorm", "layer_norm")["mistakes"] == []


def test_table_covers_public_calls_and_library_misconceptions(known: ModuleType) -> None:
    text = (HOMEWORK.folder / "assignments" / home_table.MISTAKES).read_text(encoding="utf-8")
    written, lines = json.loads(text), {line.removesuffix(",") for line in text.splitlines()}
    assert set(written) == set(HOMEWORK.rubric.modules) - {"concept_check"}
    for module, functions in written.items():
        public = {call.key for call in importlib.import_module("student_calls").calls_in(module) if call.told}
        for function, part in functions.items():
            assert part["calls"] and set(part["calls"]) <= public
            halves = {(m.does, m.right) for m in HOMEWORK.of_function(module, function)}
            said = {(does, right) for does, _, right, *_ in part["mistakes"]}
            assert said and all(
                pair in halves or pair[0].startswith("Your code ignores the argument ") for pair in said
            )
            # One line each: two branches can add one misconception each.
            assert {json.dumps(row, separators=(",", ":")) for row in part["mistakes"]} <= lines


def test_table_omits_expected_results_that_no_check_contains(known: ModuleType) -> None:
    """One check compares two calls with each other, so their result is in no file."""
    calls = importlib.import_module("student_calls").calls_in("decoder")
    untold = {call.key for call in calls} - {call.key for call in calls if call.told}
    text = (HOMEWORK.folder / "assignments" / home_table.MISTAKES).read_text(encoding="utf-8")
    assert len(untold) == 2 and not any(key in text for key in untold)


@pytest.mark.slow
def test_table_does_not_depend_on_the_kernels_of_the_machine() -> None:
    """Single precision would. This test selects the oldest OpenBLAS kernels, which run on every x86_64 machine."""
    program = "import json; from autograder.release import home_table; from autograder.tests.files import HOMEWORK\n"
    program += "with home_table.importable_checks(HOMEWORK.solutions):\n"
    program += "    print(json.dumps(home_table.table_of(HOMEWORK, 'scaled_attention')))"
    made = python(Path.cwd(), "-c", program, OPENBLAS_CORETYPE="Prescott")
    with home_table.importable_checks(HOMEWORK.solutions):
        assert json.dumps(home_table.table_of(HOMEWORK, "scaled_attention")) == made.stdout.rstrip()
