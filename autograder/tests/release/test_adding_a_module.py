"""The how-to guides on adding a module, followed to the letter in a copy of the kit.

The end of the paragraph before a code block is its instruction: it names the file and the place for the block.
Shell blocks are run unchanged.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.homework import rubric
from autograder.homework.homework import PACKAGE
from autograder.tests.files import clone
from autograder.tests.forked import command, python

pytestmark = pytest.mark.slow  # a copy of the kit is built, graded and audited

HOW_TO = PACKAGE / "docs" / "how-to"
PAGES = [HOW_TO / f"{name}.md" for name in ("add-a-module", "add-a-misconception", "publish-a-module")]
NEW = re.compile(r"New file `(\S+)`:$")
LINE = re.compile(r"In `(\S+)`, (replace|insert before) `(.+?)`(?: with)?:$")
CELLS = re.compile(r"In `(\S+)`, insert before the question `(\w+)` these cells, of the kinds ([a-z, ]+):$")
KINDS = {"raw": "raw", "markdown": "markdown", "code": "python"}
Block = tuple[str, str, str]  # language, text and preceding paragraph


def blocks() -> Iterator[Block]:
    text, end = "".join(page.read_text(encoding="utf-8") for page in PAGES), 0
    for fence in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        paragraph = text[end : fence.start()].strip().rpartition("\n\n")[2]
        yield fence[1], fence[2], " ".join(paragraph.split())
        end = fence.end()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kit after every instruction in the guides has been followed."""
    root = clone(tmp_path_factory.mktemp("adding") / "kit")
    waiting = blocks()
    for language, text, instruction in waiting:
        if language == "sh":
            for line in text.splitlines():
                done = command(root, *line.split()[1:])
                assert done.returncode == 0, done.stdout + done.stderr
        elif match := NEW.search(instruction):
            path = root / match[1]
            assert not path.exists()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif match := LINE.search(instruction):
            edit(root / match[1], match[3], text, replace=match[2] == "replace")
        else:
            match = CELLS.search(instruction)
            assert match is not None, f"no instruction for this block: {text}"
            kinds = match[3].split(", ")
            given = [(language, text), *(next(waiting)[:2] for _ in kinds[1:])]
            assert [KINDS[kind] for kind in kinds] == [language for language, _ in given]
            add_cells(root / match[1], match[2], [*zip(kinds, (text for _, text in given), strict=True)])
    return root


def edit(path: Path, line: str, text: str, replace: bool) -> None:
    lines = path.read_text().split("\n")
    (place,) = (number for number, there in enumerate(lines) if there.strip() == line)
    lines[place : place + replace] = text.rstrip("\n").split("\n")
    path.write_text("\n".join(lines))


def add_cells(path: Path, question: str, given: list[tuple[str, str]]) -> None:
    notebook = json.loads(path.read_text())
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    at = sources.index(f"# BEGIN QUESTION\nname: {question}")
    of_code: dict[str, Any] = {"outputs": [], "execution_count": None}
    notebook["cells"][at:at] = [
        {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n"), **(of_code if kind == "code" else {})}
        for kind, text in given
    ]
    path.write_text(json.dumps(notebook))


def graded(tree: Path, name: str) -> Any:
    return json.loads((tree / "dist" / "graded" / "results" / f"{name}.json").read_text())


def test_new_module_is_graded_and_a_mistake_in_it_costs_once(tree: Path) -> None:
    assert graded(tree, "solutions")["score"] == rubric.load(tree / "rubric.yaml").points
    tests = {test["extra_data"]["criterion"]: test for test in graded(tree, "wrong")["tests"]}
    assert tests["dropout_mask.mask"]["score"] == 0
    assert tests["dropout_mask.mask"]["extra_data"]["misconceptions"] == ["dropout_mask.not_scaled"]
    assert "Your code does not scale the remaining features" in tests["dropout_mask.mask"]["output"]
    assert tests["dropout_mask.dropout"]["score"] == 1


def test_students_get_the_new_module(tree: Path) -> None:
    stub = (tree / "assignments" / "dropout_mask.py").read_text()
    assert "dropout_mask is not written yet" in stub and "np.where" not in stub
    readme = (tree / "assignments" / "README.md").read_text()
    assert "| `dropout_mask.py` | Dropout | `dropout_mask`, `dropout` |" in readme
    assert 'check(\\"dropout_mask\\")' in (tree / "assignments" / "transformer.ipynb").read_text()


def test_public_checks_and_docstrings_of_the_new_module(tree: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(tree / "dist" / "student.zip", tmp_path)
    folder = tmp_path / "transformer"
    done = python(folder, "-m", "pytest", "checks/test_dropout_mask.py")
    assert done.returncode == 1 and "Not written yet: dropout_mask, dropout" in done.stdout
    shutil.copy(tree / "solutions" / "dropout_mask.py", folder)
    done = python(folder, "-m", "pytest", "checks/test_dropout_mask.py")
    assert done.returncode == 0 and re.search(r"dropout_mask +6 of 6 checks pass", done.stdout)
    done = python(tree / "solutions", "-m", "doctest", "dropout_mask.py")
    assert done.stdout == "" and done.returncode == 0
