"""The checks give the same verdict in the same words in a browser and in a terminal: for every misconception and style."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.audit import cases
from autograder.audit.cases import Case
from autograder.homework.homework import Homework
from autograder.tests.release import workbench

pytestmark = pytest.mark.slow
HOMEWORK = Homework()
FUNCTIONS = [(module, function) for module, entry in HOMEWORK.rubric.modules.items() for function in entry.functions]
BATCH = 20  # commands in one worker
PLATFORM = {  # styles that need what a browser lacks, and the sentence that says so
    "threads": "A browser cannot start threads, but the grader can",
    "float64_inside": "In a browser, indices have 32 bits.",
}


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workbench.student_folder(tmp_path_factory.mktemp("student") / "transformer")


@pytest.fixture(scope="module")
def page(student: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page of the site that runs many commands in one worker."""
    with workbench.browser() as browser:
        folder = tmp_path_factory.mktemp("site")
        workbench.write_site(folder, student, workbench.PYODIDE)
        with workbench.served(folder) as address:
            opened = browser.new_page()
            opened.goto(f"{address}readme.html")
            opened.evaluate(workbench.START_BATCH, workbench.BATCH)
            yield opened


def both(page: Any, student: Path, folder: Path, jobs: list[tuple[Case, list[str]]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each case with what pytest returns and prints in a terminal and in the browser."""
    for start in range(0, len(jobs), BATCH):
        some = jobs[start : start + BATCH]
        todo: workbench.Jobs = [(cases.submission(HOMEWORK, case).files, arguments) for case, arguments in some]
        home, there = workbench.in_terminal(student, folder, todo), workbench.in_browser(page, todo)
        for (case, _), terminal, browser in zip(some, home, there, strict=True):
            yield case.name, terminal, browser


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_misconceptions_are_named_alike(page: Any, student: Path, tmp_path: Path, module: str, function: str) -> None:
    own = [
        case for case in (*cases.singles(HOMEWORK, module), *cases.holes(HOMEWORK, module)) if case.function == function
    ]
    arguments = ["--only", function, "--hint", "--hint"]
    found = list(both(page, student, tmp_path / "home", [(case, arguments) for case in own]))
    assert [(name, home, there) for name, home, there in found if home != there] == []


@pytest.mark.parametrize("style", [case.name for case in cases.alternatives(HOMEWORK)])
def test_correct_styles_pass_alike(page: Any, student: Path, tmp_path: Path, style: str) -> None:
    [(_, home, there)] = both(page, student, tmp_path / "home", [(Case("alternative", style), [])])
    if style in PLATFORM:
        assert PLATFORM[style] in " ".join(there[1].split())
    else:
        assert home == there
        assert there[0] == 0
