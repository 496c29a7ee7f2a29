"""The tables of allowed inputs fit the rubric and the references; what a mistake in them would hide is tried in audit/."""

import inspect

import numpy as np
import pytest

from autograder.homework import factors, reference
from autograder.homework.factors import Inputs
from autograder.homework.rubric import current

TABLES = [(m, f, table) for m in current().modules for f, table in factors.of_module(m).items()]
NAMES = [function for _, function, _ in TABLES]


def test_every_graded_function_with_arguments_has_a_table() -> None:
    graded = {function for criterion in current().criteria.values() for function in criterion.grades}
    assert {f for f in graded if inspect.signature(reference.functions()[f]).parameters} == set(NAMES)


@pytest.mark.parametrize(("module", "function", "table"), TABLES, ids=NAMES)
def test_factors_speak_of_criteria_that_grade_the_function(module: str, function: str, table: Inputs) -> None:
    for one in table.factors:
        for criterion in one.about.split():
            assert function in current().criteria[f"{module}.{criterion}"].grades, one.name


@pytest.mark.parametrize(("module", "function", "table"), TABLES, ids=NAMES)
def test_conditions_ask_for_arguments_that_there_are(module: str, function: str, table: Inputs) -> None:
    known = {*inspect.signature(reference.functions()[function]).parameters, "result", "named", "left_out"}
    for one in table.factors:
        for words, value in one.values.items():
            for condition in factors.parts(value):
                assert set(factors.parameters(condition)) <= known, f"{one.name}: {words}"


@pytest.mark.parametrize(("module", "function", "table"), TABLES, ids=NAMES)
def test_pairs_are_of_factors_and_values_that_there_are(module: str, function: str, table: Inputs) -> None:
    names = [one.name for one in table.factors]
    values = {value for one in table.factors for value in one.values}
    assert len(set(names)) == len(names)
    assert {name for pair in table.pairs for name in pair} <= set(names)
    assert {value for pair in table.never for value in pair} <= values


def test_classes_are_values_pairs_and_ways_of_giving() -> None:
    names = [one.name for one in factors.classes("layernorm") if one.function == "rms_norm"]
    assert len(set(names)) == len(names)
    assert {"eps left out", "eps given by position", "x given by name", "eps: another eps"} <= set(names)
    assert "eps: another eps and x: three leading axes" in names
    assert "x left out" not in names


def test_a_class_knows_the_arguments_that_it_uses() -> None:
    found = {one.name: one.uses for one in factors.classes("layernorm") if one.function == "rms_norm"}
    assert found["eps: another eps"] == found["eps given by name"] == ("eps",)
    assert found["eps: the default eps"] == found["eps left out"] == found["x: no leading axis"] == ()


@pytest.mark.parametrize(
    ("mask", "shape", "what"),
    [
        (np.tri(3, dtype=bool), "(queries, keys)", {"the future is hidden", "some query sees one key"}),
        (np.zeros((1, 1), dtype=bool), "(1, 1)", {"everything is hidden"}),
        (np.ones((2, 1, 3), dtype=bool), "(n, 1, keys)", {"nothing is hidden"}),
        (np.stack([np.ones((2, 2)), np.zeros((2, 2))]) > 0, "(n, queries, keys)", {"some example alone sees nothing"}),
    ],
)
def test_masks_are_told_apart(mask: "np.ndarray", shape: str, what: set[str]) -> None:
    assert [words for words, condition in factors.masks().items() if condition(mask)] == [shape]
    assert what <= {words for words, condition in factors.hidden().items() if condition(mask)}
    assert not any(condition(None) for condition in (*factors.masks().values(), *factors.hidden().values()))
