"""New modules and homeworks: the drafts build, are graded and audited; removing a module undoes adding it."""

import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import modules
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
    notebook = json.loads((other / "solutions" / "transformer.ipynb").read_text())["cells"]
    whole = json.loads((kit.solutions() / "transformer.ipynb").read_text())["cells"]
    assert [modules.source(cell) for cell in notebook] == [modules.source(cell) for cell in whole]
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
    assert done.exit_code == 1
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
