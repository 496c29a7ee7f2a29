"""New modules and homeworks, and homeworks with fewer modules: they build, are graded and audited; removing undoes adding."""

import ast
import io
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
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError, CommandError
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import build, modules, packing
from autograder.release.modules import Cell
from autograder.tests.files import put, unzipped
from autograder.tests.forked import command, python

MOST = rubrics.current().points + 2


@pytest.mark.parametrize(("name", "why"), [
    *[(name, "cannot be a module's name") for name in ("", "class", "Foo", "1x", "a-b", "test_x", "__init__")],
    *[(name, "another module that students import") for name in ("random", "numpy", "tour", "con", "readme")],
    ("layernorm", "is taken: there is "),
    ("softmax", "is taken, by a function"),
])  # fmt: skip
def test_invalid_names_change_nothing(name: str, why: str) -> None:
    before = kit.rubric_file().read_bytes()
    with pytest.raises(ArgumentsError, match=why):
        modules.add(name)
    assert kit.rubric_file().read_bytes() == before


def test_a_damaged_notebook_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / kit.notebook()).write_text("{")
    monkeypatch.setattr(kit, "solutions", lambda: tmp_path)
    with pytest.raises(CommandError, match=r"transformer\.ipynb: not a notebook: Expecting property name"):
        modules.add("dropout")


def test_rubric_without_a_module_and_a_group_keeps_its_comments() -> None:
    text = kit.rubric_file().read_text(encoding="utf-8").replace("  causal_mask:\n", "  # on masks\n  causal_mask:\n")
    left = modules._without_entries(text, ["concept_check", "scaled_attention", "integration"])
    document, whole = yaml.safe_load(left), yaml.safe_load(text)
    gone = {"concept_check", "scaled_attention"}
    assert document["modules"] == {name: entry for name, entry in whole["modules"].items() if name not in gone}
    assert "integration" not in document and "\n  # on masks\n  causal_mask:\n" in left
    assert document["points"] == sum(entry["points"] for entry in document["modules"].values())


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kit with a new module, built."""
    root = tmp_path_factory.mktemp("new") / "kit"
    shutil.copytree(kit.home(), root, ignore=shutil.ignore_patterns(".*", "__pycache__", "tests", "dist"))
    assert command(root, "new", "centred_rows").returncode == 0
    for name, lines in (("centred_rows.py", 2), ("transformer.ipynb", 1)):
        path = root / "solutions" / name
        for _ in range(lines):
            refused = command(root, "build")
            assert refused.returncode == 1 and refused.stderr.splitlines()[-1].startswith(f"autograder: {path}:")
            text = refused.stderr.split("replace the text of the draft: ")[1].strip().strip("'")
            path.write_text(path.read_text().replace(text, "Centre every row."))
    done = command(root, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.mark.slow
def test_students_get_stub_checks_and_cells_and_other_cells_are_unchanged(copy: Path) -> None:
    stub = (copy / "assignments" / "centred_rows.py").read_text()
    assert "NotImplementedError" in stub and "keepdims" not in stub
    assert (copy / "assignments" / "checks" / "test_centred_rows.py").is_file()
    assert "centred_rows" in (copy / "assignments" / "transformer.ipynb").read_text()
    before = json.loads((kit.solutions() / "transformer.ipynb").read_text())["cells"]
    after = json.loads((copy / "solutions" / "transformer.ipynb").read_text())["cells"]
    new = [cell for cell in after if cell not in before]
    assert len(after) == len(before) + 6
    assert ["centred_rows" in "".join(cell["source"]) for cell in new] == [True, True, True]


@pytest.mark.slow
def test_new_module_is_graded_and_audited(copy: Path) -> None:
    text = "import numpy as np\n\ndef centred_rows(x):\n    return x - np.mean(x, 0)\n"
    put(copy / "dist" / "class", {"wrong/centred_rows.py": text})
    shutil.copytree(copy / "solutions", copy / "dist" / "class" / "right")
    done = command(copy, "grade", "dist/class", "-o", "dist/graded")
    assert done.returncode == 0, done.stderr
    results = {one: json.loads((copy / f"dist/graded/results/{one}.json").read_text()) for one in ("right", "wrong")}
    assert results["right"]["score"] == MOST
    named = {name for test in results["wrong"]["tests"] for name in test["extra_data"]["misconceptions"]}
    assert named == {"centred_rows.first_axis"}
    audit = command(copy, "audit", "--only", "centred_rows")
    assert audit.returncode == 0 and "No problems." in audit.stdout, audit.stdout + audit.stderr
    assert "0 of 15 alternatives contain centred_rows.py" in audit.stdout


@pytest.mark.slow
def test_removing_a_module_leaves_nothing_of_it(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "kit"
    shutil.copytree(copy, other)
    assert command(other, "remove", "layernorm").stderr.startswith("autograder: layernorm is used by ")
    assert command(other, "remove", "layer_norms").stderr.startswith("autograder: there is no module 'layer_norms'")
    done = command(other, "remove", "centred_rows")
    assert done.returncode == 0, done.stderr
    assert (other / "rubric.yaml").read_text() == kit.rubric_file().read_text()
    notebook = Path("solutions", "transformer.ipynb")
    assert (other / notebook).read_text() == (kit.home() / notebook).read_text()
    made = {"assignments", "dist", "__pycache__"}
    assert [path for path in other.rglob("*centred_rows*") if not made & {*path.parts}] == []
    built = command(other, "build")
    assert built.returncode == 0 and not list((other / "assignments").rglob("*centred_rows*")), built.stderr


SUITE = "autograder/homework/suites/test_layernorm.py"
LIBRARY = "autograder/homework/misconceptions/layernorm/layer_norm.py"
CHECKS = "solutions/checks/test_layernorm.py"
FIRST = "check.layer_norm("
WITHIN = "check.within({}).layer_norm("
SLIPS = {
    "an unknown criterion": (LIBRARY, '"statistics"', '"statistic"', "audit", "criterion 'statistic' does not grade"),
    "a misspelt function": (SUITE, FIRST, "check.layernorm(", "grade", "did you mean 'layer_norm'?"),
    "a syntax error": (SUITE, "(check, rng):", "(check, rng)", "grade", "expected ':'"),
    "no accuracy": (SUITE, FIRST, WITHIN.format(0), "grade", "an accuracy is a number above 0"),
    "less than rounding": (SUITE, FIRST, WITHIN.format(1e-17), "grade", "is less than the rounding of these results"),
    "a syntax error in the library": (LIBRARY, "@written", "@written(", "audit", "was never closed"),
    "an unknown name": (LIBRARY, "@written", "@writen", "audit", "NameError: name 'writen' is not defined"),
    "a check that fails": (CHECKS, "layer_norm(", "layer_norm(3, ", "build", "this public check fails"),
}


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
def test_an_authors_slip_is_one_line_with_file_and_line(copy: Path, tmp_path: Path, slip: str) -> None:
    file, before, after, name, said = SLIPS[slip]
    other = tmp_path / "kit"
    shutil.copytree(copy, other, ignore=shutil.ignore_patterns("assignments", "dist"))
    text = (other / file).read_text()
    (other / file).write_text(text.replace(before, after, 1))
    words = {"audit": ("--only", "layernorm"), "grade": ("solutions", "-o", str(tmp_path / "out")), "build": ()}[name]
    done = command(other, name, *words)
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert line.startswith("autograder: ") and f"{other / file}:" in line and said in line, line


# Homeworks outside the package: the draft, and k-means, which takes its place

KMEANS = kit.PACKAGE / "tests" / "homeworks" / "kmeans"
SLIP = {
    "kmeans": ("nearest.farthest", "argmin", "argmax"),
    "centred_rows": ("centred_rows.first_axis", "axis=-1", "axis=0"),
}


@pytest.fixture(scope="module", params=["kmeans", pytest.param("centred_rows", marks=pytest.mark.slow)])
def homework(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The solution of a homework of one module."""
    folder = modules.new_homework(tmp_path_factory.mktemp("homework") / "a homework", request.param)
    if request.param == "kmeans":
        (folder / "grading" / "misconceptions" / "kmeans" / "kmeans.py").unlink()  # of the draft's only function
        shutil.copytree(KMEANS, folder, dirs_exist_ok=True)
    return folder / "solutions" / f"{request.param}.py"


def test_a_right_and_a_wrong_submission_are_graded(homework: Path) -> None:
    (name, before, after), text, folder = SLIP[homework.stem], homework.read_text(), homework.parents[1]
    wrong = text.replace(before, after)
    put(folder / "class", {f"right/{homework.name}": text, f"wrong/{homework.name}": wrong})
    done = command(folder, "grade", "class", "-o", "graded", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    right, wrong = (json.loads((folder / f"graded/results/{one}.json").read_text()) for one in ("right", "wrong"))
    assert right["score"] == rubrics.load(folder / "rubric.yaml").points
    assert {found for test in wrong["tests"] for found in test["extra_data"]["misconceptions"]} == {name}


def test_the_audit_finds_no_problem(homework: Path) -> None:
    done = command(homework.parents[1], "audit", "--jobs", "1")
    assert done.returncode == 0 and "No problems." in done.stdout, done.stdout + done.stderr
    assert "loops: nothing lost" in done.stdout


def test_it_is_built_without_any_file_of_another_homework(homework: Path) -> None:
    folder = homework.parents[1]
    done = command(folder, "build")
    assert done.returncode == 0, done.stderr
    assert "NotImplementedError" in (folder / "assignments" / homework.name).read_text()
    functions = rubrics.load(folder / "rubric.yaml").modules[homework.stem].functions
    assert f"Next: write {next(iter(functions))}" in python(folder / "assignments", "-m", "pytest").stdout
    wheel = next(data for name, data in unzipped(folder / "dist" / "autograder.zip").items() if name.endswith(".whl"))
    names = zipfile.ZipFile(io.BytesIO(wheel)).namelist()
    assert f"autograder/kit/grading/suites/test_{homework.stem}.py" in names
    assert [name for name in names if any(module in name for module in rubrics.current().modules)] == []


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    done = CliRunner().invoke(main, ["new", "--homework", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr == f"autograder: {tmp_path} exists and is not an empty folder; give a new one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_chosen_folder_without_a_homework_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kit.HOMEWORK, str(tmp_path))
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"autograder: AUTOGRADER_HOMEWORK: there is no homework in {tmp_path}; it must have")


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
    folder = modules.new_homework(tmp_path / "homework", "centred_rows")
    for name, addition in (
        ("solutions/centred_rows.py", UNIT_ROWS),
        ("grading/suites/test_centred_rows.py", ITS_TESTS),
    ):
        (folder / name).write_text((folder / name).read_text() + addition)
    (folder / "grading/misconceptions/centred_rows/unit_rows.py").write_text(ITS_EXAMPLES)
    rubric = (folder / "rubric.yaml").read_text().replace("points: 2\n", "points: 3\n")
    rubric = rubric.replace("      centred_rows: []\n", "      centred_rows: []\n      unit_rows: []\n")
    entry = '      unit: {points: 1, grades: [unit_rows], about: "length one"}\n'
    (folder / "rubric.yaml").write_text(rubric + entry)
    solution = (folder / "solutions/centred_rows.py").read_text()
    put(folder / "class", {"ada/centred_rows.py": solution.replace("np.sqrt((x * x)", "((x * x)")})
    graded = command(folder, "grade", "class", "-o", "out", "--feedback")
    assert "2 of 3" in graded.stdout, graded.stderr
    page = (folder / "out/feedback/ada.md").read_text()
    line = solution.partition("np.sqrt")[0].count("\n") + 1
    assert f"A single edit on line {line} makes every call of `unit_rows` pass." in page
    assert "# expected: [0.447214, 0.894427]\n# yours:    [0.2, 0.4]" in page


# The engine knows neither homework

DATA = ("tests", "docs", "benchmarks", "audit/alternatives", "homework/misconceptions", "homework/suites")


def test_no_file_of_the_engine_names_a_module_of_a_homework() -> None:
    data = [kit.PACKAGE / folder for folder in DATA]
    files = [path for path in kit.PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    engine = [path for path in files if not any(path.is_relative_to(folder) for folder in data)]
    names = {*rubrics.current().modules, *rubrics.load(KMEANS / "rubric.yaml").modules}
    # "a decoder" is English; `decoder`, "decoder", decoder.py and "import decoder" are the module.
    words = "|".join(names - {"decoder"})
    module = re.compile(rf"""\b({words})\b|["'`]decoder["'`.]|\bdecoder\.\w|\b(import|from) decoder\b""")
    assert module.search("see decoder.py") and module.search("kmeans.nearest")
    found = [f"{path}: {match[0]}" for path in engine for match in module.finditer(path.read_text(encoding="utf-8"))]
    assert found == [] and len(engine) > 80


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

KNOWN = ", ".join(rubrics.current().modules)
NEEDY = next(name for name, entry in rubrics.current().modules.items() if entry.uses)


@pytest.mark.parametrize(("only", "said"), [
    (["layer_norm"], f"rubric.yaml has no module 'layer_norm'; choose among {KNOWN}"),
    (["integration"], f"rubric.yaml has no module 'integration'; choose among {KNOWN}"),
    (["", "layernorm"], f"rubric.yaml has no module ''; choose among {KNOWN}"),
    ([NEEDY], f"{NEEDY} uses {', '.join(rubrics.current().modules[NEEDY].uses)}; add the missing"),
    ([NEEDY], f"add the missing modules: --only {','.join(with_used(NEEDY))}"),
])  # fmt: skip
def test_selections_that_cannot_stand_alone(only: list[str], said: str) -> None:
    with pytest.raises(ArgumentsError, match=re.escape(said)), modules.selected(only):
        pytest.fail("there is no such homework")
