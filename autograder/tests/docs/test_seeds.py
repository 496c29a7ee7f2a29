"""The map of the source notes is complete, correct and up to date."""

import pytest

from autograder.docs import seeds
from autograder.docs.seeds import Place, Row

COUNTS = {"S0": 24, "S1": 102, "S2": 23, "S3": 48, "S4": 39}
EVERY_ID = [f"{note}-{n:03}" for note, count in COUNTS.items() for n in range(1, count + 1)]


def test_every_row_of_the_notes_appears_once_and_in_order() -> None:
    assert list(seeds.rows()) == EVERY_ID


def test_every_place_exists() -> None:
    assert seeds.missing(seeds.rows()) == []


def test_pages_are_up_to_date() -> None:
    made = seeds.pages(seeds.rows(), seeds.errata())
    there = {path.name: path.read_text(encoding="utf-8") for path in seeds.FOLDER.glob("*.md")}
    assert there == made, "run: python -m autograder.docs.seeds"


def test_rows_name_every_erratum_and_no_other() -> None:
    assert {erratum for row in seeds.rows().values() for erratum in row.errata} == set(seeds.errata())
    verdicts = [tuple(verdict) for verdict in seeds.errata().values()]
    assert set(verdicts) == {("corrected",), ("qualified",), ("open",)}


@pytest.mark.parametrize(("place", "problem"), [
    (Place(criterion="layernorm.speed"), "rubric.yaml has no criterion layernorm.speed"),
    (Place(check="test_layernorm.py::test_speed"), "there is no public check test_layernorm.py::test_speed"),
    (Place(check="test_speed.py::test_speed"), "there is no public check test_speed.py::test_speed"),
    (Place(notebook="Speed", says="fast"), "the notebook has no section 'Speed'"),
    (Place(notebook="What eps does", says="is fast"), "the section 'What eps does' does not say 'is fast'"),
    (Place(notebook="What eps does"), "the section 'What eps does' does not say ''"),
    (Place(docstring="layernorm.speed"), "there is no docstring of layernorm.speed"),
    (Place(question="q99"), "there is no question q99"),
    (Place(criterion="layernorm.rms", question="q1"), "a place must be one thing"),
    (Place(), "a place must be one thing"),
])  # fmt: skip
def test_missing_place_is_reported(place: Place, problem: str) -> None:
    row = Row.model_validate({"is": "a row", "at": [place]})
    [found] = seeds.missing({"S0-001": row})
    assert found.startswith(f"S0-001: {problem}")
