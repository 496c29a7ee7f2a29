"""Adding and removing modules, new homeworks, and selections of modules: each can be built, graded and audited."""

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
from autograder.tests.files import put, python_says, unzipped
from autograder.tests.forked import command, python


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


def test_damaged_notebook_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / kit.notebook()).write_text("{")
    monkeypatch.setattr(kit, "solutions", lambda: tmp_path)
    with pytest.raises(CommandError, match=r"transformer\.ipynb: not a notebook: "):
        modules.add("dropout")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kit, built with a new module."""
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
def test_removing_a_module_leaves_no_trace_of_it(copy: Path, tmp_path: Path) -> None:
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
SLIPS = {
    "an unknown criterion": (LIBRARY, '"statistics"', '"statistic"', "audit", "criterion 'statistic' does not grade"),
    "a misspelt function": (SUITE, FIRST, "check.layernorm(", "grade", "did you mean 'layer_norm'?"),
    "a syntax error": (SUITE, "(check, rng):", "(check, rng)", "grade", python_says("def f()\n    pass")),
    "no criterion": (SUITE, '@criterion("layernorm.example")\n', "", "grade", "the test has no @criterion"),
    "no accuracy": (
        SUITE,
        FIRST,
        "check.within(0).layer_norm(",
        "grade",
        "must be more than the rounding of these results",
    ),
    "a syntax error in the library": (LIBRARY, "@written", "@written(", "audit", python_says("@f(")),
    "a check that fails": (CHECKS, "layer_norm(", "layer_norm(3, ", "build", "this public check fails"),
}


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
def test_authoring_error_is_one_line_with_file_and_line_number(copy: Path, tmp_path: Path, slip: str) -> None:
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


# Homeworks outside the package: the draft that `new` writes, and k-means in its place

KMEANS = kit.PACKAGE / "tests" / "homeworks" / "kmeans"
SLIP = {
    "kmeans": ("nearest.farthest", "argmin", "argmax"),
    "centred_rows": ("centred_rows.first_axis", "axis=-1", "axis=0"),
}


@pytest.fixture(scope="module", params=["kmeans", pytest.param("centred_rows", marks=pytest.mark.slow)])
def homework(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The solution file of a homework with one module."""
    folder = modules.new_homework(tmp_path_factory.mktemp("homework") / "a homework", request.param)
    if request.param == "kmeans":
        (folder / "grading" / "misconceptions" / "kmeans" / "kmeans.py").unlink()  # for the draft's only function
        shutil.copytree(KMEANS, folder, dirs_exist_ok=True)
    return folder / "solutions" / f"{request.param}.py"


def test_correct_and_wrong_submissions_are_graded(homework: Path) -> None:
    (name, before, after), text, folder = SLIP[homework.stem], homework.read_text(), homework.parents[1]
    wrong = text.replace(before, after)
    put(folder / "class", {f"right/{homework.name}": text, f"wrong/{homework.name}": wrong})
    done = command(folder, "grade", "class", "-o", "graded", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    right, wrong = (json.loads((folder / f"graded/results/{one}.json").read_text()) for one in ("right", "wrong"))
    assert right["score"] == rubrics.load(folder / "rubric.yaml").points
    assert {found for test in wrong["tests"] for found in test["extra_data"]["misconceptions"]} == {name}


def test_audit_finds_no_problem(homework: Path) -> None:
    done = command(homework.parents[1], "audit", "--jobs", "1")
    assert done.returncode == 0 and "No problems." in done.stdout, done.stdout + done.stderr
    assert "loops: nothing lost" in done.stdout


def test_build_contains_no_file_of_another_homework(homework: Path) -> None:
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


def test_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    done = CliRunner().invoke(main, ["new", "--homework", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr == f"autograder: {tmp_path} exists and is not an empty folder; give a new one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_folder_without_a_homework_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kit.HOMEWORK, str(tmp_path))
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 2
    assert done.stderr.startswith(f"autograder: AUTOGRADER_HOMEWORK: there is no homework in {tmp_path}; it must have")


def test_function_without_misconceptions_gets_a_useful_message(tmp_path: Path) -> None:
    folder = modules.new_homework(tmp_path / "homework", "centred_rows")
    library = folder / "grading" / "misconceptions" / "centred_rows" / "centred_rows.py"
    library.write_text(f"import numpy as np\n\nEXAMPLES{library.read_text().partition('EXAMPLES')[2]}")
    solution = (folder / "solutions" / "centred_rows.py").read_text()
    put(folder / "class", {"ada/centred_rows.py": solution.replace("axis=-1", "axis=0")})
    graded = command(folder, "grade", "class", "-o", "out", "--feedback")
    assert "1 of 2" in graded.stdout, graded.stderr
    page = (folder / "out/feedback/ada.md").read_text()
    line = solution.partition("axis=-1")[0].count("\n") + 1
    assert f"A single edit on line {line} makes every call of `centred_rows` pass." in page
    assert "# expected: [[-2.,  2.],\n" in page and "# yours:    [[-0.5, -1.5],\n" in page


# The engine does not depend on a homework

DATA = ("tests", "docs", "benchmarks", "audit/alternatives", "homework/misconceptions", "homework/suites")


def test_no_file_of_the_engine_names_a_module_of_a_homework() -> None:
    data = [kit.PACKAGE / folder for folder in DATA]
    files = [path for path in kit.PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    engine = [path for path in files if not any(path.is_relative_to(folder) for folder in data)]
    names = {*rubrics.current().modules, *rubrics.load(KMEANS / "rubric.yaml").modules}
    # "a decoder" is English; `decoder`, "decoder", decoder.py and "import decoder" refer to the module.
    words = "|".join(names - {"decoder"})
    module = re.compile(rf"""\b({words})\b|["'`]decoder["'`.]|\bdecoder\.\w|\b(import|from) decoder\b""")
    assert module.search("see decoder.py") and module.search("kmeans.nearest")
    found = [f"{path}: {match[0]}" for path in engine for match in module.finditer(path.read_text(encoding="utf-8"))]
    assert found == [] and len(engine) > 80


KEPT = ("layernorm", "causal_mask")


def with_dependencies(module: str) -> list[str]:
    """A module and everything that it uses, in the order of the rubric."""
    needed = {module, *rubrics.current().below(module)}
    return [name for name in rubrics.current().modules if name in needed]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a homework with two modules, which are named in another order."""
    out = tmp_path_factory.mktemp("small")
    written = build.build(out, only=("causal_mask", "layernorm"))
    assert written == [out / "autograder.zip", out / "student.zip", out / "assignments"]
    return out


@pytest.mark.slow
def test_students_get_the_selected_modules_with_their_criteria_and_cells(small: Path) -> None:
    found = set(packing.contents(small / "assignments"))
    for module in rubrics.current().modules:
        assert (f"{module}.py" in found) is (f"checks/test_{module}.py" in found) is (module in KEPT)
    assert {name.removeprefix("transformer/") for name in unzipped(small / "student.zip")} == found
    text = (small / "assignments" / "README.md").read_text()
    assert set(re.findall(r"^\| (\w+)\.\w+ \| ", text, re.MULTILINE)) == set(KEPT)
    assert not re.search(r"`(decoder|concept_check)", text)
    given = json.dumps(notebook(small / "assignments"))
    assert set(re.findall(r"-m pytest checks/test_(\w+)\.py", given)) == set(KEPT)
    assert set(re.findall(r'"## [^"`]*`(\w+)\.py`', given)) == set(KEPT)


@pytest.mark.parametrize(("module", "trains"), [("concept_check", False), ("layernorm", False), ("decoder", True)])
def test_selection_has_what_its_modules_need_and_nothing_else(module: str, trains: bool) -> None:
    names, whole = with_dependencies(module), kit.rubric_file().read_text(encoding="utf-8")
    left_out = {*rubrics.current().groups} - {*names}
    with modules.selected(names) as root:
        text = (root / "rubric.yaml").read_text()
        config = modules.source(notebook(root / "solutions")["cells"][0])
        files = {path.relative_to(root).as_posix() for path in root.rglob("*.py")}
    document, entries = yaml.safe_load(text), yaml.safe_load(whole)["modules"]
    assert document["modules"] == {name: entries[name] for name in names} and "integration" not in document
    assert document["points"] == sum(entries[name]["points"] for name in names)
    assert [line for line in whole.splitlines() if line.startswith("#") and line not in text] == []
    assert (
        not {f"{folder}{name}.py" for name in left_out for folder in ("solutions/", "solutions/checks/test_")} & files
    )
    assert any("audit/alternatives/" in name for name in files) is (module != "concept_check")
    assert ("solutions/train.py" in files) is ("    - train.py\n" in config) is trains and "    - tour\n" in config


@pytest.mark.slow
def test_public_checks_cover_the_selected_modules(small: Path, tmp_path: Path) -> None:
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
    """Notebook cells, raw if they begin with "# BEGIN" or "# END", and Markdown if with a heading or a capital letter.

    `needs` maps the last word of a heading to the modules that its section needs.
    """
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


START, ONE, TWO, LAST = ["# Title", "a, b = 1, 2"], question("one"), question("two"), ["## Last", "Text"]
TOUR = cells(*START, *ONE, "### Part", "c = a", *TWO, "### Part", "d = b", *LAST)
LATE = cells("## One", "x = 1", "# BEGIN QUESTION\nname: one", "Text", "# END QUESTION", "## Two", "y = 2")
OWN, REST = ["### Of two", "a = 1", "### Other", "b = 1"], ["## Last", "c = 1", "### End", "d = 1"]
NEEDY_CELLS = cells(*ONE, *OWN, *REST, two=["two"], Last=["three"])


@pytest.mark.parametrize(("given", "left_out", "left"), [
    (TOUR, ["two"], [*START, *ONE, "### Part", "c = a", *LAST]),
    (TOUR, [], [cell["source"] for cell in TOUR]),
    (TOUR, ["one", "two"], [*START, *LAST]),
    (LATE, ["one"], ["## Two", "y = 2"]),
    (NEEDY_CELLS, [], [*ONE, *OWN, *REST]),
    (NEEDY_CELLS, ["two"], [*ONE, *OWN[2:], *REST]),
    (NEEDY_CELLS, ["three"], [*ONE, *OWN]),
], ids=["one of two", "none", "all", "heading before the question", "needs", "part in need", "section in need"])  # fmt: skip
def test_sections_and_parts_are_removed_with_the_modules_they_need(
    given: list[Cell], left_out: list[str], left: list[str]
) -> None:
    assert [cell["source"] for cell in modules.without(given, left_out)] == left


def test_section_of_two_modules_cannot_be_split() -> None:
    begin, end = "# BEGIN QUESTION\nname: {}", "# END QUESTION"
    given = cells("## Both", begin.format("one"), end, begin.format("two"), end)
    said = "the notebook's section '## Both' has the questions one, two; give each its own heading"
    with pytest.raises(ArgumentsError, match=said):
        modules.without(given, ["two"])
    assert modules.without(given, ["one", "two"]) == []


def names(found: list[Cell], context: type[ast.expr_context]) -> set[str]:
    """The names that code assigns (ast.Store) or reads (ast.Load), except for function arguments."""
    found_names: set[str] = set()
    for cell in found:
        code = re.sub("^[%!].*$", "", modules.source(cell), flags=re.MULTILINE)  # Jupyter commands
        nodes = list(ast.walk(ast.parse(code))) if cell["cell_type"] == "code" else []
        own = {node.arg for node in nodes if isinstance(node, ast.arg)}
        found_names |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)} - own
    return found_names


def valid_selections() -> Iterator[tuple[str, ...]]:
    """Every selection of modules that includes their dependencies."""
    known = rubrics.current().modules
    for count in range(1, len(known) + 1):
        for only in itertools.combinations(known, count):
            if all(set(known[name].uses) <= set(only) for name in only):
                yield only


@pytest.mark.slow
def test_no_remaining_cell_reads_a_removed_module_or_name() -> None:
    whole = json.loads((kit.solutions() / "transformer.ipynb").read_text())["cells"]
    introduction = len(modules._split(whole, "## ")[0])
    for only in valid_selections():
        left_out = [name for name in rubrics.current().groups if name not in only]
        kept = modules.without(whole, left_out)
        places = {id(cell) for cell in kept}
        gone = names([cell for cell in whole if id(cell) not in places], ast.Store) - names(kept, ast.Store)
        assert not names(kept[introduction:], ast.Load) & {*left_out, *gone}, only


@pytest.mark.slow
@pytest.mark.parametrize("module", rubrics.current().modules)
def test_each_module_and_its_dependencies_form_a_homework(module: str, tmp_path: Path) -> None:
    with modules.selected(with_dependencies(module)) as root:
        points = rubrics.load(root / "rubric.yaml").points
        done = command(root, "grade", "solutions", "-o", str(tmp_path / "out"))
        assert done.returncode == 0 and f"median {points:g} of {points:g};" in done.stdout, done.stdout + done.stderr
    assert not root.exists()


# Rejected selections

KNOWN = ", ".join(rubrics.current().modules)
NEEDY = next(name for name, entry in rubrics.current().modules.items() if entry.uses)


@pytest.mark.parametrize(("only", "said"), [
    (["layer_norm"], f"rubric.yaml has no module 'layer_norm'; choose among {KNOWN}"),
    (["integration"], f"rubric.yaml has no module 'integration'; choose among {KNOWN}"),
    (["", "layernorm"], f"rubric.yaml has no module ''; choose among {KNOWN}"),
    ([NEEDY], f"{NEEDY} uses {', '.join(rubrics.current().modules[NEEDY].uses)}; add the missing"),
    ([NEEDY], f"add the missing modules: --only {','.join(with_dependencies(NEEDY))}"),
])  # fmt: skip
def test_invalid_selection_is_rejected(only: list[str], said: str) -> None:
    with pytest.raises(ArgumentsError, match=re.escape(said)), modules.selected(only):
        pytest.fail("there is no such homework")
