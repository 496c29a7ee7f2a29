"""`autograder new NAME`, in a copy of the kit: what it writes builds, is graded and audited at once."""

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
    for words in (("new", "centred_rows"), ("build",)):
        done = command(root, *words)
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


@pytest.mark.parametrize("name", ["layernorm", "layer_norm", "centred_rows", "Centred", "class", "a-b", ""])
def test_name_that_is_taken_or_none_changes_nothing(tree: Path, name: str) -> None:
    before = (tree / "rubric.yaml").read_bytes()
    done = command(tree, "new", name)
    assert done.returncode == 2 and done.stderr.startswith("autograder: ")
    assert (tree / "rubric.yaml").read_bytes() == before
