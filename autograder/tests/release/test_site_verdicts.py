"""The checks give the same verdict in the same words in a browser and in a terminal: for every misconception and style."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.audit import cases
from autograder.homework.homework import Homework
from autograder.tests.release import workbench

pytestmark = pytest.mark.slow
HOMEWORK = Homework()
FUNCTIONS = [(module, function) for module, entry in HOMEWORK.rubric.modules.items() for function in entry.functions]
PLATFORM = {  # styles that need what a browser lacks, and the sentence that says so
    "threads": "A browser cannot start threads, but the grader can",
    "float64_inside": "In a browser, indices have 32 bits.",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str, Path]]:
    """A browser, the address of a page of the site, and the student folder."""
    student = workbench.student_folder(tmp_path_factory.mktemp("student") / "transformer")
    with workbench.browser() as browser:
        folder = tmp_path_factory.mktemp("site")
        workbench.write_site(folder, student, workbench.PYODIDE)
        with workbench.served(folder) as address:
            yield browser, f"{address}readme.html", student


@pytest.fixture
def both(opened: tuple[Any, str, Path]) -> Iterator[Any]:
    """A function that runs jobs in a terminal and in the browser, on a new page, so that a crash fails one test only."""
    browser, address, student = opened
    with browser.new_page() as page:
        page.goto(address)
        with workbench.batches(page, student) as run:
            yield run


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_misconceptions_are_named_alike(both: Any, module: str, function: str) -> None:
    own = [
        case for case in (*cases.singles(HOMEWORK, module), *cases.holes(HOMEWORK, module)) if case.function == function
    ]
    arguments = ["--only", function, "--hint", "--hint"]
    home, there = both([(cases.submission(HOMEWORK, case).files, arguments) for case in own])
    assert [found for found in zip(own, home, there, strict=True) if found[1] != found[2]] == []


def test_correct_styles_pass_alike(both: Any) -> None:
    own = cases.alternatives(HOMEWORK)
    home, there = both([(cases.submission(HOMEWORK, case).files, []) for case in own])
    for case, one, other in zip(own, home, there, strict=True):
        if case.name in PLATFORM:
            assert PLATFORM[case.name] in " ".join(other[1].split())
        else:
            assert other == one and one[0] == 0, case.name
