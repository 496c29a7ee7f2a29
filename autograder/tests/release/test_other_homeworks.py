"""Homeworks outside the package: the draft of `autograder new --homework`, and k-means, which takes its place.

Both use the engine as an instructor does: a folder anywhere, and the commands run in it.
"""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import new_homework

KMEANS = kit.PACKAGE / "tests" / "homeworks" / "kmeans"
SLIP = {
    "kmeans": ("nearest.farthest", "argmin", "argmax"),
    "centred_rows": ("centred_rows.first_axis", "axis=-1", "axis=0"),
}


@dataclass(frozen=True)
class Homework:
    """A homework of one module in a folder."""

    module: str
    folder: Path

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "autograder", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True)

    @property
    def solution(self) -> str:
        return (self.folder / "solutions" / f"{self.module}.py").read_text()


@pytest.fixture(scope="module", params=["kmeans", pytest.param("centred_rows", marks=pytest.mark.slow)])
def homework(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Homework:
    folder = new_homework.write(tmp_path_factory.mktemp("homework") / "a homework", request.param)
    if request.param == "kmeans":
        (folder / "grading" / "misconceptions" / "kmeans" / "kmeans.py").unlink()  # of the draft's only function
        shutil.copytree(KMEANS, folder, dirs_exist_ok=True)
    return Homework(request.param, folder)


def test_a_right_and_a_wrong_submission_are_graded(homework: Homework) -> None:
    name, before, after = SLIP[homework.module]
    for student, text in (("right", homework.solution), ("wrong", homework.solution.replace(before, after))):
        path = homework.folder / "class" / student / f"{homework.module}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    done = homework.command("grade", "class", "-o", "graded", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    results = homework.folder / "graded" / "results"
    right, wrong = (json.loads((results / f"{student}.json").read_text()) for student in ("right", "wrong"))
    assert right["score"] == rubrics.load(homework.folder / "rubric.yaml").points
    assert {found for test in wrong["tests"] for found in test["extra_data"]["misconceptions"]} == {name}


def test_the_audit_finds_no_problem(homework: Homework) -> None:
    done = homework.command("audit", "--jobs", "1")
    assert done.returncode == 0 and "No problems." in done.stdout, done.stdout + done.stderr
    assert "loops: nothing lost" in done.stdout


def test_it_is_built_without_any_file_of_another_homework(homework: Homework) -> None:
    done = homework.command("build")
    assert done.returncode == 0, done.stderr
    assert "NotImplementedError" in (homework.folder / "assignments" / f"{homework.module}.py").read_text()
    checks = subprocess.run(
        [sys.executable, "-m", "pytest"], cwd=homework.folder / "assignments", capture_output=True, text=True
    )
    assert (
        f"Next: write {next(iter(rubrics.load(homework.folder / 'rubric.yaml').modules[homework.module].functions))}"
        in checks.stdout
    )
    with zipfile.ZipFile(homework.folder / "dist" / "autograder.zip") as archive:
        wheel = archive.extract(next(name for name in archive.namelist() if name.endswith(".whl")), homework.folder)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert f"autograder/kit/grading/suites/test_{homework.module}.py" in names
    here = [name for name in names if any(module in name for module in rubrics.current().modules)]
    assert here == []


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    done = CliRunner().invoke(main, ["new", "--homework", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr == f"autograder: {tmp_path} exists and is not an empty folder; give a new one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_chosen_folder_without_a_homework_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kit.HOMEWORK, str(tmp_path))
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1
    assert done.stderr.startswith(f"autograder: AUTOGRADER_HOMEWORK: there is no homework in {tmp_path}; it must have")


# The engine knows neither homework

DATA = ("tests", "docs", "benchmarks", "audit/alternatives", "homework/misconceptions", "homework/suites")


def engine() -> list[Path]:
    """The files of the package that belong to no homework."""
    data = [kit.PACKAGE / folder for folder in DATA]
    files = (path for path in kit.PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [path for path in files if not any(path.is_relative_to(folder) for folder in data)]


def test_no_file_of_the_engine_names_a_module_of_a_homework() -> None:
    names = {*rubrics.current().modules, *rubrics.load(KMEANS / "rubric.yaml").modules}
    # "a decoder" is English; `decoder`, "decoder", decoder.py and "import decoder" are the module.
    words = "|".join(names - {"decoder"})
    module = re.compile(rf"""\b({words})\b|["'`]decoder["'`.]|\bdecoder\.\w|\b(import|from) decoder\b""")
    assert module.search("see decoder.py") and module.search("kmeans.nearest")
    found = [f"{path}: {match[0]}" for path in engine() for match in module.finditer(path.read_text(encoding="utf-8"))]
    assert found == [] and len(engine()) > 100


UNIT_ROWS = '''

def unit_rows(x: np.ndarray) -> np.ndarray:
    """Divide every row by its length; (..., d) as x."""
    # BEGIN SOLUTION
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))
    # END SOLUTION
'''
ITS_TESTS = """

@criterion("centred_rows.unit")
def test_every_row_has_length_one(check, rng):
    check.unit_rows(np.array([3.0, 4.0]))
    check.unit_rows(rng.normal(3, 1, (3, 4)))
    check.unit_rows(rng.normal(3, 1, (2, 3, 4)))
"""
ITS_EXAMPLES = 'import numpy as np\n\nEXAMPLES = {"unit_rows": [((np.array([1.0, 2.0]),), {})]}\n'


def test_a_function_with_three_test_calls_and_no_misconception_gets_a_useful_message(tmp_path: Path) -> None:
    folder = new_homework.write(tmp_path / "homework", "centred_rows")
    for name, addition in (
        ("solutions/centred_rows.py", UNIT_ROWS),
        ("grading/suites/test_centred_rows.py", ITS_TESTS),
    ):
        (folder / name).write_text((folder / name).read_text() + addition)
    (folder / "grading/misconceptions/centred_rows/unit_rows.py").write_text(ITS_EXAMPLES)
    rubric = (folder / "rubric.yaml").read_text().replace("points: 2\n", "points: 3\n")
    rubric = rubric.replace("      centred_rows: []\n", "      centred_rows: []\n      unit_rows: []\n")
    (folder / "rubric.yaml").write_text(
        f'{rubric}      unit: {{points: 1, grades: [unit_rows], about: "length one"}}\n'
    )
    homework = Homework("centred_rows", folder)
    (folder / "class" / "ada").mkdir(parents=True)
    (folder / "class/ada/centred_rows.py").write_text(homework.solution.replace("np.sqrt((x * x)", "((x * x)"))
    graded = homework.command("grade", "class", "-o", "out", "--feedback")
    assert "2 of 3" in graded.stdout, graded.stderr
    page = (folder / "out/feedback/ada.md").read_text()
    line = homework.solution.partition("np.sqrt")[0].count("\n") + 1
    assert f"A single edit on line {line} makes every call of `unit_rows` pass." in page
    assert "# expected: [0.447214, 0.894427]\n# yours:    [0.2, 0.4]" in page
