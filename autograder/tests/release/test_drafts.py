"""Drafts of modules and homeworks can be built, graded and audited; an author's errors are one line with a place."""

import html
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError, CommandError
from autograder.homework import rubric as rubrics
from autograder.homework.homework import PACKAGE, Homework
from autograder.release import drafts, packing
from autograder.tests.files import HOMEWORK, KMEANS, clone, kmeans, put, python_says, unzipped
from autograder.tests.forked import command, python


@pytest.mark.parametrize(("name", "why"), [
    *[(name, "cannot be a module's name") for name in ("", "class", "Foo", "1x", "a-b", "test_x", "__init__")],
    *[(name, "another module that students import") for name in ("random", "numpy", "tour", "con", "readme")],
    ("layernorm", "is taken: there is "),
    ("softmax", "is taken, by a function"),
])  # fmt: skip
def test_invalid_names_change_nothing(name: str, why: str) -> None:
    before = HOMEWORK.rubric_file.read_bytes()
    with pytest.raises(ArgumentsError, match=why):
        drafts.add(HOMEWORK, name)
    assert HOMEWORK.rubric_file.read_bytes() == before


def test_damaged_notebook_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / HOMEWORK.notebook).write_text("{")
    homework = Homework()
    homework.solutions = tmp_path
    with pytest.raises(CommandError, match=r"transformer\.ipynb: not a notebook: "):
        drafts.add(homework, "dropout")


REFUSED = re.compile(r"^(?:autograder: )?(.+?):(\d+): replace the text of the draft: '(.+)'$", re.MULTILINE)


@pytest.mark.slow
def test_draft_of_a_module_is_built_once_its_placeholders_are_replaced(tmp_path: Path) -> None:
    root = clone(tmp_path / "kit")
    assert command(root, "new", "centred_rows").returncode == 0
    refused = command(root, "build")
    found = REFUSED.findall(refused.stderr)
    assert [Path(path).name for path, *_ in found] == ["centred_rows.py", "centred_rows.py", "transformer.ipynb"]
    for path, _, text in found:
        Path(path).write_text(Path(path).read_text().replace(text, "Centre every row."))
    done = command(root, "build")
    assert (refused.returncode, done.returncode) == (1, 0), done.stdout + done.stderr


# Homeworks outside the package: the draft that `new` writes, and k-means in its place

SLIP = {
    "kmeans": ("nearest.farthest", "argmin", "argmax"),
    "centred_rows": ("centred_rows.first_axis", "axis=-1", "axis=0"),
}


@pytest.fixture(scope="module", params=["kmeans", pytest.param("centred_rows", marks=pytest.mark.slow)])
def homework(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The solution file of a homework with one module."""
    folder = tmp_path_factory.mktemp("homework") / "a homework"
    written = kmeans(folder) if request.param == "kmeans" else drafts.new_homework(folder, request.param)
    return written / "solutions" / f"{request.param}.py"


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
    shutil.unpack_archive(folder / "dist" / "student.zip", folder)
    assert f"Next: write {next(iter(functions))}" in python(folder / "homework", "-m", "pytest").stdout
    wheel = next(data for name, data in unzipped(folder / "dist" / "autograder.zip").items() if name.endswith(".whl"))
    names = zipfile.ZipFile(io.BytesIO(wheel)).namelist()
    assert f"autograder/kit/grading/suites/test_{homework.stem}.py" in names
    assert [name for name in names if any(module in name for module in HOMEWORK.rubric.modules)] == []


SOLUTION, RUBRIC, SUITE = "solutions/kmeans.py", "rubric.yaml", "grading/suites/test_kmeans.py"
CHECKS, LIBRARY = "solutions/checks/test_kmeans.py", "grading/misconceptions/kmeans/nearest.py"
DISTANCES = "grading/misconceptions/kmeans/squared_distances.py"
DIFFERS, NO_TUPLE = (
    "differs from the solution in {solution} for",
    "must be a tuple of arguments and a dict, such as ((2,), {{}})",
)
PLANTED = {  # file, the replaced text and another one, the beginning of the line and the problem that are reported
    "a wrong correct version": (DISTANCES, "x[:, np.newaxis] - centres", "x[:, np.newaxis] - centres + 1", "@written",
        f"this version of squared_distances {DIFFERS} test_the_worked_examples"),
    "a correct version that is wrong for an example only": (LIBRARY, "return distances.argmin(axis=1)",
        "return distances.argmin(axis=1) + (x.shape == (1, 1))", "@written",
        f"this version of nearest {DIFFERS} EXAMPLES['nearest'][1]"),
    "an example that the function does not accept": (LIBRARY, '"nearest": [', '"nearest": [((np.eye(2)), {}), ',
        "EXAMPLES", f"EXAMPLES['nearest'][0] {NO_TUPLE}, not (np.array([[1.0, 0.0], [0.0, 1.0]]), {{{{}}}})"),
    "an example with a missing argument": (LIBRARY, '"nearest": [', '"nearest": [((np.eye(2),), {}), ', "EXAMPLES",
        "nearest(np.array([[1.0, 0.0], [0.0, 1.0]])) raises TypeError: nearest() missing 1 required positional"),
    "a wrong result in a docstring": (SOLUTION, "[18.]", "[81.]", ">>> squared_distances",
        "prints array([[ 1.], [81.]]), but the solution prints array([[ 1.], [18.]])"),
    "an incomplete list of functions": (RUBRIC, "nearest, new_centres]", "nearest]", "grades: [squared_distances, nearest]",
        "add new_centres: the tests of this criterion call it"),
    "a function that no test of its criterion calls": (RUBRIC, "grades: [nearest]", "grades: [nearest, new_centres]",
        "grades: [nearest, new_centres]", "no test of this criterion calls new_centres"),
    "a docstring example that is not graded": (RUBRIC, "        looks_at: examples\n", "", "new_centres: []",
        "its docstring has an example, which no criterion with `looks_at: examples` grades"),
    "an unknown criterion": (LIBRARY, '"farthest", "nearest"', '"farthest", "near"', "nearest.wrong",
        "criterion 'near' does not grade"),
    "a misspelt function": (SUITE, "check.nearest(", "check.nearst(", "check.nearst(", "did you mean 'nearest'?"),
    "no criterion": (SUITE, '@criterion("kmeans.example")\n', "", "def test_the_worked", "the test has no @criterion"),
    "no accuracy": (SUITE, "check.squared", "check.within(0).squared", "check.within", "must be more than the rounding"),
    "a syntax error": (SUITE, "(check, rng):", "(check, rng)", "def test_every", python_says("def f()\n    pass")),
    "a syntax error in the library": (LIBRARY, "@written", "@written(", "@written(", python_says("@f(")),
    "a check with a wrong result": (CHECKS, "array([[1.0, 16.0]", "array([[8.0, 16.0]", "def test_squared", "public check fails"),
    "a check that fails": (CHECKS, "nearest(", "nearest(3, ", "def test_nearest", "this public check fails"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_build_and_audit_name_the_place_of_an_authors_mistake(name: str, tmp_path: Path) -> None:
    folder = kmeans(tmp_path / "homework")
    file, before, after, place, problem = PLANTED[name]
    text = (folder / file).read_text(encoding="utf-8").replace(before, after, 1)
    (folder / file).write_text(text, encoding="utf-8")
    line = text.partition(place)[0].count("\n") + 1
    audit = [["audit", "--only", "kmeans", "--jobs", "1"]] if file != CHECKS else []
    for words in (["build", "-o", str(tmp_path)], *audit):
        done = CliRunner().invoke(main, ["--homework", str(folder), *words])
        assert done.exit_code == 1
        [told] = [text for text in done.output.splitlines() if f"{folder / file}:{line}: " in text]
        assert problem.format(solution=folder / SOLUTION) in told


def test_sentences_of_the_draft_are_rejected_once_its_code_is_replaced(tmp_path: Path) -> None:
    folder = drafts.new_homework(tmp_path / "homework", "sorting")
    drafts.refuse_placeholders(Homework(folder))
    solution = folder / "solutions" / "sorting.py"
    solution.write_text(solution.read_text().replace("x - x.mean(axis=-1, keepdims=True)", "np.sort(x)"))
    with pytest.raises(CommandError) as refused:
        drafts.refuse_placeholders(Homework(folder))
    found = REFUSED.findall(str(refused.value))
    assert [Path(path).name for path, *_ in found] == ["sorting.py", "sorting.py", "homework.ipynb", "rubric.yaml"]
    assert all(text in Path(path).read_text().splitlines()[int(row) - 1] for path, row, text in found)


def test_title_of_a_new_homework_is_what_students_read(tmp_path: Path) -> None:
    title = 'Linear "models": a start'
    done = CliRunner().invoke(main, ["new", "fit", "--homework", str(tmp_path / "h"), "--title", title])
    assert done.exit_code == 0, done.output
    solutions = tmp_path / "h" / "solutions"
    assert rubrics.load(tmp_path / "h" / "rubric.yaml").title == title
    assert (solutions / "README.md").read_text().startswith(f"# {title}\n")
    cells = json.loads((solutions / "homework.ipynb").read_text())["cells"]
    assert [f"# {title}"] in [cell["source"] for cell in cells]


def test_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    done = CliRunner().invoke(main, ["new", "--homework", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr == f"autograder: {tmp_path} exists and is not an empty folder; give a new one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_function_without_misconceptions_gets_a_useful_message(tmp_path: Path) -> None:
    folder = drafts.new_homework(tmp_path / "homework", "centred_rows")
    library = folder / "grading" / "misconceptions" / "centred_rows" / "centred_rows.py"
    library.write_text(f"import numpy as np\n\nEXAMPLES{library.read_text().partition('EXAMPLES')[2]}")
    solution = (folder / "solutions" / "centred_rows.py").read_text()
    put(folder / "class", {"ada/centred_rows.py": solution.replace("axis=-1", "axis=0")})
    graded = command(folder, "grade", "class", "-o", "out", "--feedback")
    assert "1 of 2" in graded.stdout, graded.stderr
    page = html.unescape(re.sub("<[^>]+>", "", (folder / "out/feedback/ada.html").read_text()))
    line = solution.partition("axis=-1")[0].count("\n") + 1
    assert f"An edit of line {line} makes every call of centred_rows pass." in page
    assert "# expected: [[-2.,  2.],\n" in page and "# yours:    [[-0.5, -1.5],\n" in page


# The engine does not depend on a homework

DATA = ("tests", "docs", "benchmarks", "audit/alternatives", "homework/misconceptions", "homework/suites")


def test_no_file_of_the_engine_names_a_module_of_a_homework() -> None:
    data = [PACKAGE / folder for folder in DATA]
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    engine = [path for path in files if not any(path.is_relative_to(folder) for folder in data)]
    names = {*HOMEWORK.rubric.modules, *rubrics.load(KMEANS / "rubric.yaml").modules}
    # "a decoder" is English; `decoder`, "decoder", decoder.py and "import decoder" refer to the module.
    words = "|".join(names - {"decoder"})
    module = re.compile(rf"""\b({words})\b|["'`]decoder["'`.]|\bdecoder\.\w|\b(import|from) decoder\b""")
    assert module.search("see decoder.py") and module.search("kmeans.nearest")
    found = [f"{path}: {match[0]}" for path in engine for match in module.finditer(path.read_text(encoding="utf-8"))]
    assert found == [] and len(engine) > 80


@pytest.mark.parametrize("is_after", [True, False])
def test_module_is_added_after_the_last_one_unless_that_has_only_questions(tmp_path: Path, is_after: bool) -> None:
    folder = kmeans(tmp_path / "homework")
    text = (
        (folder / "rubric.yaml").read_text().replace("modules:", ("" if is_after else "feedback: score\n") + "modules:")
    )
    ending = "\n# the limits\nlimits: {call_seconds: 3}\n"
    put(folder, {"rubric.yaml": text + ending})
    before, homework = packing.contents(folder), Homework(folder)
    written = {path.relative_to(folder).as_posix() for path in drafts.add(homework, "sorted_rows")}
    files = {name: data for name, data in packing.contents(folder).items() if before.get(name) != data}
    assert files.keys() == written == {
        "rubric.yaml", "solutions/homework.ipynb", "solutions/sorted_rows.py", "solutions/checks/test_sorted_rows.py",
        "grading/suites/test_sorted_rows.py", "grading/misconceptions/sorted_rows/sorted_rows.py",
    }  # fmt: skip
    rules, template = rubrics.load(folder / "rubric.yaml"), rubrics.load(drafts.TEMPLATE / "home" / "rubric.yaml")
    modules = ["kmeans", "sorted_rows"][:: 1 if is_after else -1]
    points = template.modules["centred_rows"].points
    assert [*rules.modules] == modules and rules.modules["sorted_rows"].points == points
    added = files["rubric.yaml"].decode().replace(f"points: {8 + points:g}", "points: 8", 1)
    start = added.index("  sorted_rows:")
    end = added.index("\n# the limits" if is_after else "  kmeans:")
    assert added[:start] + added[end:] == text + ending and "Sorted rows" in added[start:end]
    cells = ["".join(cell["source"]) for cell in json.loads(files["solutions/homework.ipynb"])["cells"]]
    questions = [cell.partition("name: ")[2] for cell in cells if cell.startswith("# BEGIN QUESTION")]
    assert questions == modules and cells.count("# END QUESTION") == 2
    refused = REFUSED.findall(error_of(lambda: drafts.refuse_placeholders(Homework(folder))))
    assert [Path(path).name for path, *_ in refused] == ["sorted_rows.py", "sorted_rows.py", "homework.ipynb"]


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(CommandError) as caught:
        call()
    return str(caught.value)


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"file": ""})
    said = error_of(lambda: drafts.new_homework(tmp_path / "file" / "homework", "fit"))
    assert said.startswith(f"{tmp_path}/file/homework") and said.endswith(": Not a directory")
