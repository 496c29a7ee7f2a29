"""`autograder build --only`: a smaller homework that is whole in itself, and what is refused."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import build, rehearse, sections, selection
from autograder.release.build import BuildError
from autograder.release.sections import Cell, MixedSectionError
from autograder.release.selection import SelectionError

KEPT = ("layernorm", "causal_mask")
LEFT_OUT = tuple(group for group in rubrics.current().groups if group not in KEPT)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a homework of two modules, named in another order, was built into."""
    out = tmp_path_factory.mktemp("small")
    written = build.build(out, only=("causal_mask", "layernorm"))
    assert written == [out / "autograder.zip", out / "student.zip", out / "assignments"]
    return out


# What is built


def test_students_get_these_modules_only(small: Path) -> None:
    found = set(build.contents(small / "assignments"))
    for module in rubrics.current().modules:
        assert ({f"{module}.py", f"checks/test_{module}.py"} <= found) is (module in KEPT)
        assert (f"{module}.py" in found) is (module in KEPT)
    with zipfile.ZipFile(small / "student.zip") as archive:
        assert {name.removeprefix("transformer/") for name in archive.namelist()} == found


def test_repository_stays_as_it_is(small: Path) -> None:
    assert set(rubrics.load().modules) == set(rubrics.current().modules)
    assert {f"{name}.py" for name in LEFT_OUT[:-1]} <= set(build.contents(kit.home() / "assignments"))


def test_readme_has_these_criteria_and_their_sum(small: Path) -> None:
    text = (small / "assignments" / "README.md").read_text()
    assert set(re.findall(r"^\| (\w+)\.\w+ \| ", text, re.MULTILINE)) == set(KEPT)
    points = sum(rubrics.current().modules[name].points for name in KEPT)
    assert f"| **all** | **{points:g}** |" in text
    assert not re.search(r"`(decoder|concept_check)", text)


def test_zip_grades_by_the_smaller_rubric(small: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(small / "autograder.zip") as archive:
        names = archive.namelist()
        wheel = archive.extract(next(name for name in names if name.endswith(".whl")), tmp_path)
    assert {name for name in names if name.startswith("tests/")} == {f"tests/{name}.py" for name in KEPT}
    with zipfile.ZipFile(wheel) as archive:
        inside = archive.namelist()
        rubric = yaml.safe_load(archive.read("autograder/kit/rubric.yaml"))
    assert list(rubric["modules"]) == list(KEPT)
    assert "integration" not in rubric
    assert not [name for name in inside for left in LEFT_OUT if re.search(rf"\b(test_)?{left}\.py$", name)]


def test_solutions_get_full_marks_with_the_zip(small: Path, tmp_path: Path) -> None:
    for module in KEPT:
        shutil.copy(kit.solutions() / f"{module}.py", tmp_path)
    document = rehearse.run(small / "autograder.zip", tmp_path, here=True).document
    assert document["score"] == sum(test["max_score"] for test in document["tests"]) == 34
    assert {test["extra_data"]["criterion"].partition(".")[0] for test in document["tests"]} == set(KEPT)


def test_public_checks_are_about_these_modules(small: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(small / "assignments", tmp_path / "homework")
    for module in KEPT:
        shutil.copy(kit.solutions() / f"{module}.py", folder)
    done = subprocess.run([sys.executable, "-m", "pytest"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.findall(r"^(\w+) +\d+/\d+ done$", done.stdout, re.MULTILINE) == list(KEPT)


def notebook(folder: Path) -> Any:
    return json.loads((folder / "transformer.ipynb").read_text())


def test_notebook_has_the_questions_and_names_of_these_modules(small: Path) -> None:
    given = notebook(small / "assignments")
    assert set(given["metadata"]["otter"]["tests"]) == set(KEPT)
    cells = [cell for cell in given["cells"] if cell["cell_type"] == "code"]
    used = {name for cell in cells[2:] for name in sections.Part([cell]).used}
    assert not used & set(LEFT_OUT)
    headings = [
        line for cell in given["cells"] for line in sections.source(cell).split("\n")[:1] if line.startswith("## ")
    ]
    assert [re.findall(r"`(\w+)\.py`", heading) for heading in headings if ".py`" in heading] == [
        [name] for name in KEPT
    ]
    assert not re.search(r"checks/test_(?!layernorm|causal_mask)", json.dumps(given))


@pytest.mark.slow
@pytest.mark.parametrize("written", [True, False], ids=["solutions", "stubs"])
def test_notebook_runs(small: Path, tmp_path: Path, written: bool) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    folder = shutil.copytree(small / "assignments", tmp_path / "homework")
    for module in KEPT if written else ():
        shutil.copy(kit.solutions() / f"{module}.py", folder)
    ran = nbformat.read(folder / "transformer.ipynb", as_version=4)
    nbclient.NotebookClient(ran, resources={"metadata": {"path": str(folder)}}, timeout=120).execute()
    text = json.dumps([cell.get("outputs", []) for cell in ran["cells"]])
    assert "No module named" not in text
    assert ("is not written yet" in text) is not written


# Every module with what it uses


GRADE = """
from autograder.homework import kit
from autograder.homework import rubric
from autograder.grading.grader import open_grader
from autograder.intake.submission import Submission
names = rubric.current().modules
with open_grader() as grader:
    result = grader.grade(Submission("", {f"{n}.py": (kit.solutions() / f"{n}.py").read_bytes() for n in names}))
print(result.points == rubric.current().points, *names)
"""


@pytest.mark.parametrize("module", rubrics.current().modules)
def test_each_module_with_all_that_it_uses_is_a_homework(module: str) -> None:
    needed = selection._with_all_used([module], rubrics.current())
    names = [name for name in rubrics.current().modules if name in needed]
    with selection.selected(names) as root:
        done = subprocess.run([sys.executable, "-c", GRADE], cwd=root, capture_output=True, text=True)
        assert done.stdout.split() == ["True", *names], done.stderr
    assert not root.exists()


# What is refused


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (["layer_norm"], "rubric.yaml has no module 'layer_norm'; choose among layernorm, batchnorm_comparison, "),
        (["integration"], "rubric.yaml has no module 'integration'; choose among "),
        (["", "layernorm"], "rubric.yaml has no module ''; choose among "),
        (
            ["batchnorm_comparison"],
            "batchnorm_comparison uses layernorm; add what is left out: --only layernorm,batchnorm_comparison",
        ),
        (
            ["decoder", "causal_mask"],
            "decoder uses scaled_attention, transformer_block; add what is left out: "
            "--only layernorm,scaled_attention,causal_mask,transformer_block,decoder",
        ),
    ],
)
def test_modules_that_are_no_homework(tmp_path: Path, only: list[str], said: str) -> None:
    with pytest.raises(SelectionError, match=f"^{re.escape(said)}"):
        build.build(tmp_path, only=only)


def test_repositorys_own_assignments_are_not_overwritten() -> None:
    with pytest.raises(BuildError, match="is for the whole homework; give another folder with -o"):
        build.build(kit.home(), only=("layernorm",))


def test_no_disk_space_for_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28), "rubric.yaml")

    monkeypatch.setattr("shutil.copytree", fail)
    with pytest.raises(BuildError, match=f"^rubric.yaml: {os.strerror(28)}$"):
        build.build(tmp_path, only=("layernorm",))


# The notebook by sections


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
        MixedSectionError, match="the section '## Both' has the questions one, two; give each a heading"
    ):
        sections.without(given, ["two"])
    assert sections.without(given, ["one", "two"]) == []
