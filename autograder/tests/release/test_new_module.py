"""`autograder new NAME` and `remove NAME`, in a copy of the kit: the draft builds, is graded and audited, and goes again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.homework import kit
from autograder.homework import rubric as rubrics

pytestmark = pytest.mark.slow  # a copy of the kit is built, graded and audited

MOST = rubrics.current().points + 2


def command(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "autograder", *words], cwd=tree, capture_output=True, text=True)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_stub_checks_and_cells_are_handed_out(tree: Path) -> None:
    stub = (tree / "assignments" / "centred_rows.py").read_text()
    assert "NotImplementedError" in stub and "keepdims" not in stub
    assert (tree / "assignments" / "checks" / "test_centred_rows.py").is_file()
    assert "centred_rows" in (tree / "assignments" / "transformer.ipynb").read_text()


def test_notebook_is_otherwise_as_it_was(tree: Path) -> None:
    before = json.loads((kit.solutions() / "transformer.ipynb").read_text())["cells"]
    after = json.loads((tree / "solutions" / "transformer.ipynb").read_text())["cells"]
    new = [cell for cell in after if cell not in before]
    assert len(after) == len(before) + 6
    assert ["centred_rows" in "".join(cell["source"]) for cell in new] == [True, True, True]


def test_solutions_get_full_marks_and_a_mistake_its_name(tree: Path) -> None:
    wrong = tree / "dist" / "class" / "wrong"
    wrong.mkdir(parents=True)
    shutil.copytree(tree / "solutions", wrong.parent / "right")
    text = "import numpy as np\n\ndef centred_rows(x):\n    return x - np.mean(x, 0)\n"
    (wrong / "centred_rows.py").write_text(text)
    done = command(tree, "grade", "dist/class", "-o", "dist/graded")
    assert done.returncode == 0, done.stderr
    results = {one: json.loads((tree / f"dist/graded/results/{one}.json").read_text()) for one in ("right", "wrong")}
    assert results["right"]["score"] == MOST
    named = {name for test in results["wrong"]["tests"] for name in test["extra_data"]["misconceptions"]}
    assert named == {"centred_rows.first_axis"}


def test_audit_finds_no_fault_with_it(tree: Path) -> None:
    done = command(tree, "audit", "--only", "centred_rows")
    assert done.returncode == 0 and "No problems." in done.stdout, done.stdout + done.stderr
    assert "0 of 15 alternatives contain centred_rows.py" in done.stdout


@pytest.mark.parametrize(
    "name", ["layernorm", "layer_norm", "centred_rows", "Centred", "class", "a-b", "", "con", "json", "readme", "np"]
)
def test_name_that_is_taken_or_none_changes_nothing(tree: Path, name: str) -> None:
    before = (tree / "rubric.yaml").read_bytes()
    done = command(tree, "new", name)
    assert done.returncode == 2 and done.stderr.startswith("autograder: ")
    assert (tree / "rubric.yaml").read_bytes() == before


def test_a_module_that_is_removed_leaves_nothing(tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "kit"
    shutil.copytree(tree, copy)
    assert command(copy, "remove", "layernorm").stderr.startswith("autograder: layernorm is used by ")
    assert command(copy, "remove", "layer_norms").stderr.startswith("autograder: there is no module 'layer_norms'")
    done = command(copy, "remove", "centred_rows")
    assert done.returncode == 0, done.stderr
    for name in ("rubric.yaml", "solutions/transformer.ipynb"):
        assert "centred_rows" not in (copy / name).read_text()
    assert not [
        path for path in copy.rglob("*centred_rows*") if not {"assignments", "dist", "__pycache__"} & {*path.parts}
    ]
    built = command(copy, "build")
    assert built.returncode == 0 and not list((copy / "assignments").rglob("*centred_rows*")), built.stderr


SUITE, LIBRARY = (
    "autograder/homework/suites/test_layernorm.py",
    "autograder/homework/misconceptions/layernorm/layer_norm.py",
)
FIRST = "check.layer_norm("
SLIPS = {
    "a criterion that the rubric lacks": (
        LIBRARY,
        '"statistics"',
        '"statistic"',
        "audit",
        "the criterion 'statistic' does not grade",
    ),
    "a misspelt function": (SUITE, FIRST, "check.layernorm(", "grade", "did you mean 'layer_norm'?"),
    "a syntax error": (SUITE, "(check, rng):", "(check, rng)", "grade", "expected ':'"),
    "no accuracy": (SUITE, FIRST, "check.within(0).layer_norm(", "grade", "an accuracy is a number above 0"),
    "less than rounding": (
        SUITE,
        FIRST,
        "check.within(1e-17).layer_norm(",
        "grade",
        "is less than the rounding of these results",
    ),
    "a syntax error in the library": (LIBRARY, "@written", "@written(", "audit", "was never closed"),
    "a name that the library lacks": (
        LIBRARY,
        "@written",
        "@writen",
        "audit",
        "NameError: name 'writen' is not defined",
    ),
    "a check that fails": (
        "solutions/checks/test_layernorm.py",
        "layer_norm(",
        "layer_norm(3, ",
        "build",
        "this public check fails",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_of_an_author_is_one_line_with_file_and_line(tree: Path, tmp_path: Path, slip: str) -> None:
    file, before, after, name, said = SLIPS[slip]
    copy = tmp_path / "kit"
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns("assignments", "dist"))
    text = (copy / file).read_text()
    (copy / file).write_text(text.replace(before, after, 1))
    words = {"audit": ("--only", "layernorm"), "grade": ("solutions", "-o", str(tmp_path / "out")), "build": ()}[name]
    done = command(copy, name, *words)
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert line.startswith("autograder: ") and f"{copy / file}:" in line and said in line, line
