"""`autograder learn`: a mistake from a class becomes a draft, is completed by hand, and is named in the next run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from autograder.gradebook import sample
from autograder.tests.files import HOMEWORK, clone
from autograder.tests.forked import command

pytestmark = pytest.mark.slow  # a copy of the kit grades a class twice

MEDIAN = """

def rms_norm(x, gamma, eps=1e-6):
    return {}(gamma * x / np.sqrt(np.median(x**2, axis=-1, keepdims=True) + eps)).astype(x.dtype)
"""
NAME = "rms_norm.median"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kit with a graded class of three and the drafts written from it."""
    root = clone(tmp_path_factory.mktemp("learning") / "kit")
    right = sample.references(HOMEWORK)
    for name, way in (("ada", ""), ("grace", "1 * "), ("hedy", None)):
        wrong = MEDIAN.format(way) if way is not None else ""
        sample.write(root / "dist" / "class" / name, right | {"layernorm.py": right["layernorm.py"] + wrong})
    assert command(root, "grade", "dist/class", "-o", "dist/out").returncode == 0
    done = command(root, "learn", "dist/out")
    assert done.returncode == 0, done.stderr
    return root


def draft(tree: Path) -> Path:
    (found,) = (tree / "dist" / "out" / "drafts").iterdir()
    return found


def misconceptions(tree: Path, student: str) -> set[str]:
    document: Any = json.loads((tree / "dist" / "out" / "results" / f"{student}.json").read_text())
    return {name for test in document["tests"] for name in test["extra_data"]["misconceptions"]}


def test_incomplete_draft_is_rejected_and_changes_nothing(tree: Path) -> None:
    path = tree / "autograder" / "homework" / "misconceptions" / "layernorm" / "rms_norm.py"
    before = path.read_bytes()
    done = command(tree, "learn", "--accept", str(draft(tree)))
    assert done.returncode == 2 and "`does` must be a sentence with a full stop" in done.stderr
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "import os\n", "def f(:", "import os\n\n\ndef rms_norm__x(x):\n    pass\n"])
def test_file_that_is_not_a_draft_is_rejected(tree: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "draft.txt").write_text(text)
    done = command(tree, "learn", "--accept", str(tmp_path / "draft.txt"))
    assert done.returncode == 2 and "not a draft" in done.stderr


def test_learned_misconception_is_named_in_the_next_run(tree: Path) -> None:
    assert misconceptions(tree, "ada") == set()
    text = re.sub(r"learned_\w+", "median", draft(tree).read_text())
    text = text.replace('does=""', 'does="Your code divides by the root of the median."')
    draft(tree).write_text(text.replace('right=""', 'right="Divide by sqrt(mean(x**2) + eps)."'))
    done = command(tree, "learn", "--accept", str(draft(tree)))
    assert done.returncode == 0, done.stderr
    assert command(tree, "grade", "dist/class", "-o", "dist/out").returncode == 0
    assert misconceptions(tree, "ada") == misconceptions(tree, "grace") == {NAME}
    assert misconceptions(tree, "hedy") == set()
    document = json.loads((tree / "dist" / "out" / "results" / "grace.json").read_text())
    assert "the root of the median" in "".join(test["output"] for test in document["tests"])


def test_audit_finds_no_problem_with_the_new_entry(tree: Path) -> None:
    done = command(tree, "audit", "--only", NAME)
    assert done.returncode == 0 and "No problems." in done.stdout, done.stdout + done.stderr
