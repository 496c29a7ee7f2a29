"""The notebook by sections: what goes with a module that is left out, and what stays."""

import re
from collections.abc import Iterator

import pytest

from autograder.faults import ArgumentsError
from autograder.release import sections
from autograder.release.sections import Cell


def cells(*sources: str) -> list[Cell]:
    """Raw cells begin with "# BEGIN" or "# END", markdown ones with "#", ">" or a capital letter; all others are code."""
    kinds = {"# B": "raw", "# E": "raw"}
    made = []
    for text in sources:
        kind = kinds.get(text[:3]) or ("markdown" if re.match(r"#+ |[A-Z>]", text) else "code")
        made.append({"cell_type": kind, "metadata": {}, "source": text})
    return made


def question(name: str) -> Iterator[str]:
    yield from (f"# BEGIN QUESTION\nname: {name}", f"## {name}", "# BEGIN TESTS", "def test(): pass", "# END TESTS")
    yield "# END QUESTION"


def left(given: list[Cell], *left_out: str) -> list[str]:
    return [str(cell["source"]) for cell in sections.without(given, left_out)]


TOUR = (
    "# Title",
    "a, b = 1, 2",
    *question("one"),
    "### Part",
    "c = a",
    *question("two"),
    "### Part",
    "d = b",
    "## Last",
    "Text",
)


def test_a_section_goes_with_its_question() -> None:
    assert left(cells(*TOUR), "two") == [
        "# Title",
        "a, b = 1, 2",
        *question("one"),
        "### Part",
        "c = a",
        "## Last",
        "Text",
    ]
    assert left(cells(*TOUR)) == list(TOUR)
    assert left(cells(*TOUR), "one", "two") == ["# Title", "a, b = 1, 2", "## Last", "Text"]


def test_a_heading_before_the_question_begins_the_section_too() -> None:
    given = cells("## One", "x = 1", "# BEGIN QUESTION\nname: one", "Text", "# END QUESTION", "## Two", "y = 2")
    assert left(given, "one") == ["## Two", "y = 2"]


@pytest.mark.parametrize(
    "code",
    ["two.f(1)", "import two", "from two import f", "lambda: two.f(1)", "%time two.f(1)\nlambda: d", "x = d + 1"],
)
def test_a_part_goes_when_it_needs_what_is_left_out(code: str) -> None:
    given = cells("a = 1", *question("two"), "d = 2", *question("one"), "### Needs two", code, "### Does not", "e = a")
    assert left(given, "two") == ["a = 1", *question("one"), "### Does not", "e = a"]


def test_a_part_goes_when_it_needs_a_part_that_goes() -> None:
    given = cells(*question("one"), "### A", "f = two", "### B", "g = f", "### C", "h = g", "### D", "i = 1")
    assert left(given, "two") == [*question("one"), "### D", "i = 1"]


def test_a_name_that_is_defined_elsewhere_as_well_is_not_missed() -> None:
    given = cells("x = 0", *question("two"), "x = 1", *question("one"), "### A", "y = x")
    assert left(given, "two") == ["x = 0", *question("one"), "### A", "y = x"]


def test_introduction_and_question_stay_whatever_they_name() -> None:
    given = cells("two = Lazy('two')", "### A", "two.f", *question("one"), "print(two)", *question("two"))
    assert left(given, "two") == ["two = Lazy('two')", "### A", "two.f", *question("one"), "print(two)"]


def test_cell_that_is_not_python_stays() -> None:
    given = cells(*question("one"), "### A", "%%bash\nls | wc", *question("two"))
    assert left(given, "two") == [*question("one"), "### A", "%%bash\nls | wc"]


def test_section_of_two_modules_cannot_be_divided() -> None:
    given = cells(
        "## Both", "# BEGIN QUESTION\nname: one", "# END QUESTION", "# BEGIN QUESTION\nname: two", "# END QUESTION"
    )
    with pytest.raises(
        ArgumentsError, match="the notebook's section '## Both' has the questions one, two; give each a heading"
    ):
        sections.without(given, ["two"])
    assert sections.without(given, ["one", "two"]) == []
