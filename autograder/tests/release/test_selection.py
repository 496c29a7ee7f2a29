"""`autograder build --only`: a smaller homework that is complete, and selections that are rejected."""

import ast
import itertools
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.exceptions import ArgumentsError
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import build, modules, packing
from autograder.release.modules import Cell
from autograder.tests.files import unzipped
from autograder.tests.forked import python

KEPT = ("layernorm", "causal_mask")
LEFT_OUT = tuple(group for group in rubrics.current().groups if group not in KEPT)


def with_used(module: str) -> list[str]:
    """A module and all that it uses, in the rubric's order."""
    needed = {module, *rubrics.current().below(module)}
    return [name for name in rubrics.current().modules if name in needed]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a homework of two modules, named in another order, was built into."""
    out = tmp_path_factory.mktemp("small")
    written = build.build(out, only=("causal_mask", "layernorm"))
    assert written == [out / "autograder.zip", out / "student.zip", out / "assignments"]
    return out


@pytest.mark.slow
def test_students_get_these_modules_with_their_criteria_and_cells(small: Path) -> None:
    found = set(packing.contents(small / "assignments"))
    for module in rubrics.current().modules:
        assert (f"{module}.py" in found) is (f"checks/test_{module}.py" in found) is (module in KEPT)
    assert {name.removeprefix("transformer/") for name in unzipped(small / "student.zip")} == found
    text = (small / "assignments" / "README.md").read_text()
    assert set(re.findall(r"^\| (\w+)\.\w+ \| ", text, re.MULTILINE)) == set(KEPT)
    points = sum(rubrics.current().modules[name].points for name in KEPT)
    assert f"| **all** | **{points:g}** |" in text
    assert not re.search(r"`(decoder|concept_check)", text)
    given = notebook(small / "assignments")
    assert set(re.findall(r"-m pytest checks/test_(\w+)\.py", json.dumps(given))) == set(KEPT)
    cells = [cell for cell in given["cells"] if cell["cell_type"] == "code"]
    assert not used(cells[1:]) & set(LEFT_OUT)
    assert set(re.findall(r'"## [^"`]*`(\w+)\.py`', json.dumps(given))) == set(KEPT)


@pytest.fixture(scope="module")
def unpacked(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the zip."""
    folder = tmp_path_factory.mktemp("kit")
    with zipfile.ZipFile(small / "autograder.zip") as archive:
        archive.extractall(folder / "zip")
    with zipfile.ZipFile(next((folder / "zip").rglob("*.whl"))) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.slow
def test_zip_has_the_smaller_rubric(unpacked: Path) -> None:
    assert {path.stem for path in (unpacked / "zip" / "tests").iterdir()} == set(KEPT)
    rubric = yaml.safe_load((unpacked / "autograder/kit/rubric.yaml").read_text())
    assert list(rubric["modules"]) == list(KEPT) and "integration" not in rubric
    assert not [path for left in LEFT_OUT for path in unpacked.rglob("*.py") if path.stem in (left, f"test_{left}")]


ALTERNATIVES = """
from autograder.grading.grader import open_grader
from autograder.audit import audit, cases
rows = list(audit.run(cases.alternatives(), 2))
print(audit.__file__, *(row.case.name for row in rows))
print(*(f"{row.case.name}: {lost}" for row in rows for lost in row.lost))
"""


@pytest.mark.slow
def test_audit_of_the_smaller_kit_tries_its_correct_alternatives(unpacked: Path, tmp_path: Path) -> None:
    done = python(tmp_path, "-c", ALTERNATIVES, PYTHONPATH=str(unpacked))
    tried, lost = done.stdout.splitlines() or ["", done.stderr]
    everywhere = [path.parent.name for path in kit.alternatives().glob("*/causal_mask.py")]
    assert tried.split() == [str(unpacked / "autograder" / "audit" / "audit.py"), *sorted(everywhere)]
    assert len(everywhere) > 10 and lost == ""


def test_alternatives_without_a_remaining_module_are_left_out() -> None:
    with modules.selected(["concept_check"]) as root:
        assert [path.name for path in (root / "autograder" / "audit" / "alternatives").iterdir()] == ["ruff.toml"]


@pytest.mark.parametrize(("module", "there"), [("layernorm", False), ("decoder", True)])
def test_training_is_there_with_the_decoder_only(module: str, there: bool) -> None:
    with modules.selected(with_used(module)) as root:
        solutions = root / "solutions"
        config = modules.source(notebook(solutions)["cells"][0])
        assert (solutions / "train.py").exists() is there
        assert ("    - train.py\n" in config) is there and "    - tour\n" in config


@pytest.mark.slow
def test_public_checks_are_about_these_modules(small: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(small / "assignments", tmp_path / "homework")
    for module in KEPT:
        shutil.copy(kit.solutions() / f"{module}.py", folder)
    done = python(folder, "-m", "pytest")
    assert done.returncode == 0, done.stdout
    passing = re.findall(r"^(\w+) +(\d+) of \2 checks pass$", done.stdout, re.MULTILINE)
    assert [name for name, _ in passing] == list(KEPT)


def notebook(folder: Path) -> Any:
    return json.loads((folder / "transformer.ipynb").read_text())


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


def cells(*sources: str, **needs: list[str]) -> list[Cell]:
    """Raw cells begin with "# BEGIN" or "# END", markdown ones with "#" or a capital letter; `needs` by a heading's last word."""
    kinds = {"# B": "raw", "# E": "raw"}
    made = []
    for text in sources:
        kind = kinds.get(text[:3]) or ("markdown" if re.match(r"#+ |[A-Z]", text) else "code")
        word = text.split()[-1]
        metadata = {"needs": needs[word]} if kind == "markdown" and word in needs else {}
        made.append({"cell_type": kind, "metadata": metadata, "source": text})
    return made


def question(name: str) -> list[str]:
    begin = [f"# BEGIN QUESTION\nname: {name}", f"## {name}"]
    return [*begin, "# BEGIN TESTS", "def test(): pass", "# END TESTS", "# END QUESTION"]


def left(given: list[Cell], *left_out: str) -> list[str]:
    return [str(cell["source"]) for cell in modules.without(given, left_out)]


ONE, TWO, LAST = question("one"), question("two"), ["## Last", "Text"]
TOUR = ["# Title", "a, b = 1, 2", *ONE, "### Part", "c = a", *TWO, "### Part", "d = b", *LAST]


def test_a_section_goes_with_its_question() -> None:
    assert left(cells(*TOUR), "two") == ["# Title", "a, b = 1, 2", *ONE, "### Part", "c = a", *LAST]
    assert left(cells(*TOUR)) == TOUR
    assert left(cells(*TOUR), "one", "two") == ["# Title", "a, b = 1, 2", *LAST]


def test_a_heading_before_the_question_begins_the_section_too() -> None:
    given = cells("## One", "x = 1", "# BEGIN QUESTION\nname: one", "Text", "# END QUESTION", "## Two", "y = 2")
    assert left(given, "one") == ["## Two", "y = 2"]


def test_parts_and_sections_that_need_a_removed_module_are_left_out() -> None:
    own = ("### Of two", "a = 1", "### Other", "b = 1")
    given = cells(*ONE, *own, "## Last", "c = 1", "### End", "d = 1", two=["two"], Last=["three"])
    assert left(given) == [cell["source"] for cell in given]
    assert left(given, "two") == [*ONE, "### Other", "b = 1", "## Last", "c = 1", "### End", "d = 1"]
    assert left(given, "three") == [*ONE, *own]


def test_section_of_two_modules_cannot_be_divided() -> None:
    begin, end = "# BEGIN QUESTION\nname: {}", "# END QUESTION"
    given = cells("## Both", begin.format("one"), end, begin.format("two"), end)
    said = "the notebook's section '## Both' has the questions one, two; give each its own heading"
    with pytest.raises(ArgumentsError, match=said):
        modules.without(given, ["two"])
    assert modules.without(given, ["one", "two"]) == []


def nodes(cell: Cell) -> list[ast.AST]:
    code = re.sub("^[%!].*$", "", modules.source(cell), flags=re.MULTILINE)  # Jupyter's own commands
    return list(ast.walk(ast.parse(code))) if cell["cell_type"] == "code" else []


def defined(found: list[Cell]) -> set[str]:
    """The names that code assigns."""
    every = [node for cell in found for node in nodes(cell)]
    return {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def used(found: list[Cell]) -> set[str]:
    """The names that code reads, except arguments of its own functions."""
    names = set()
    for every in map(nodes, found):
        own = {node.arg for node in every if isinstance(node, ast.arg)}
        names |= {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - own
    return names


def possible() -> Iterator[tuple[str, ...]]:
    """Every choice of modules that is a homework."""
    known = rubrics.current().modules
    for count in range(1, len(known) + 1):
        for only in itertools.combinations(known, count):
            if all(set(known[name].uses) <= set(only) for name in only):
                yield only


@pytest.mark.slow
def test_no_remaining_cell_reads_a_removed_module_or_name() -> None:
    whole = json.loads((kit.solutions() / "transformer.ipynb").read_text())["cells"]
    introduction = len(modules._split(whole, "## ")[0])
    for only in possible():
        left_out = [name for name in rubrics.current().groups if name not in only]
        kept = modules.without(whole, left_out)
        places = {id(cell) for cell in kept}
        gone = defined([cell for cell in whole if id(cell) not in places]) - defined(kept)
        assert not used(kept[introduction:]) & {*left_out, *gone}, only


GRADE = """
from autograder.homework import reference, rubric
from autograder.grading.grader import open_grader
from autograder.submissions.submission import Submission
with open_grader() as grader:
    result = grader.grade(Submission("", reference.files()))
print(result.points == rubric.current().points, *rubric.current().modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize("module", rubrics.current().modules)
def test_each_module_with_all_that_it_uses_is_a_homework(module: str) -> None:
    names = with_used(module)
    with modules.selected(names) as root:
        done = python(root, "-c", GRADE)
        assert done.stdout.split() == ["True", *names], done.stderr
    assert not root.exists()


# What is refused

NAMES = ", ".join(rubrics.current().modules)
NEEDY = next(name for name, entry in rubrics.current().modules.items() if entry.uses)


@pytest.mark.parametrize(("only", "said"), [
    (["layer_norm"], f"rubric.yaml has no module 'layer_norm'; choose among {NAMES}"),
    (["integration"], f"rubric.yaml has no module 'integration'; choose among {NAMES}"),
    (["", "layernorm"], f"rubric.yaml has no module ''; choose among {NAMES}"),
    ([NEEDY], f"{NEEDY} uses {', '.join(rubrics.current().modules[NEEDY].uses)}; add the missing"),
    ([NEEDY], f"add the missing modules: --only {','.join(with_used(NEEDY))}"),
])  # fmt: skip
def test_selections_that_cannot_stand_alone(only: list[str], said: str) -> None:
    with pytest.raises(ArgumentsError, match=re.escape(said)), modules.selected(only):
        pytest.fail("there is no such homework")
