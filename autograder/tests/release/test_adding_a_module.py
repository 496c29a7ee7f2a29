"""The how-to guides on adding a module, followed to the letter in a copy of the kit.

An instruction is the end of the paragraph before a block of code: the file that the block belongs to, and the place.
Blocks of commands are run unchanged.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.homework import kit

pytestmark = pytest.mark.slow  # a copy of the kit is built, graded and audited

HOW_TO = kit.PACKAGE / "docs" / "how-to"
PAGES = [HOW_TO / f"{name}.md" for name in ("add-a-module", "add-a-misconception", "publish-a-module")]
NEW = re.compile(r"New file `(\S+)`:$")
INSTEAD = re.compile(r"In `(\S+)`, replace `(.+)` with:$")
BEFORE = re.compile(r"In `(\S+)`, insert before `(.+)`:$")
CELLS = re.compile(r"In `(\S+)`, insert before the question `(\w+)` these cells, of the kinds ([a-z, ]+):$")
KINDS = {"raw": "raw", "markdown": "markdown", "code": "python"}


@dataclass(frozen=True)
class Block:
    """A block of code, with the paragraph before it."""

    language: str
    text: str
    instruction: str


def blocks() -> list[Block]:
    text, found, end = "".join(page.read_text(encoding="utf-8") for page in PAGES), [], 0
    for fence in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        paragraph = text[end : fence.start()].strip().rpartition("\n\n")[2]
        found.append(Block(fence[1], fence[2], " ".join(paragraph.split())))
        end = fence.end()
    return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the kit in which every instruction of the pages was followed."""
    root = tmp_path_factory.mktemp("adding") / "kit"
    skip = shutil.ignore_patterns(".*", "__pycache__", "tests", "dist")
    shutil.copytree(kit.home(), root, ignore=skip)
    waiting = iter(blocks())
    for block in waiting:
        follow(root, block, waiting)
    return root


def follow(root: Path, block: Block, later: Iterator[Block]) -> None:
    if block.language == "sh":
        for line in block.text.splitlines():
            if line != "autograder audit":  # of all modules; see below
                command(root, *line.split()[1:])
    elif match := NEW.search(block.instruction):
        (root / match[1]).parent.mkdir(parents=True, exist_ok=True)
        assert not (root / match[1]).exists()
        (root / match[1]).write_text(block.text)
    elif match := INSTEAD.search(block.instruction):
        put(root / match[1], match[2], block.text, replace=True)
    elif match := BEFORE.search(block.instruction):
        put(root / match[1], match[2], block.text, replace=False)
    else:
        match = CELLS.search(block.instruction)
        assert match is not None, f"no instruction for this block: {block}"
        kinds = match[3].split(", ")
        add_cells(root / match[1], match[2], kinds, [block, *(next(later) for _ in kinds[1:])])


def command(root: Path, *words: str) -> str:
    """Run `autograder ...` in the copy, with the copy."""
    done = subprocess.run([sys.executable, "-m", "autograder", *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def put(path: Path, line: str, text: str, replace: bool) -> None:
    lines = path.read_text().split("\n")
    places = [at for at, there in enumerate(lines) if there.strip() == line]
    assert len(places) == 1, f"{path.name} has the line {line!r} {len(places)} times"
    at = places[0]
    lines[at : at + replace] = text.rstrip("\n").split("\n")
    path.write_text("\n".join(lines))


def add_cells(path: Path, question: str, kinds: list[str], given: list[Block]) -> None:
    assert [KINDS[kind] for kind in kinds] == [block.language for block in given]
    notebook = json.loads(path.read_text())
    at = next(
        i
        for i, cell in enumerate(notebook["cells"])
        if "".join(cell["source"]) == f"# BEGIN QUESTION\nname: {question}"
    )
    notebook["cells"][at:at] = [cell(kind, block.text) for kind, block in zip(kinds, given, strict=True)]
    path.write_text(json.dumps(notebook))


def cell(kind: str, text: str) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n")}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def graded(tree: Path, name: str) -> Any:
    return json.loads((tree / "dist" / "graded" / "results" / f"{name}.json").read_text())


def test_solutions_with_the_new_module_get_full_marks(tree: Path) -> None:
    assert graded(tree, "solutions")["score"] == 104


def test_mistake_in_the_new_module_is_named_and_costs_once(tree: Path) -> None:
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
    assert "| dropout_mask.rates | 1 |" in readme
    assert '"decoder",\n    "dropout_mask",\n' in (tree / "assignments" / "checks" / "conftest.py").read_text()
    assert "-m pytest checks/test_dropout_mask.py" in (tree / "assignments" / "transformer.ipynb").read_text()


def test_public_checks_of_the_new_module(tree: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tree / "assignments", tmp_path / "homework")
    checks = [sys.executable, "-m", "pytest", "checks/test_dropout_mask.py"]
    done = subprocess.run(checks, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1 and "Not written yet: dropout_mask, dropout" in done.stdout
    shutil.copy(tree / "solutions" / "dropout_mask.py", folder)
    done = subprocess.run(checks, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"dropout_mask +3 of 3 checks pass", done.stdout)


def test_docstrings_of_the_new_module(tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "doctest", "dropout_mask.py"], cwd=tree / "solutions", capture_output=True
    )
    assert done.stdout == b"" and done.returncode == 0


AUDIT = """
from autograder.audit import audit, cases
rows = list(audit.run([case for case in cases.cases() if case.module == "dropout_mask"], 2))
print(*(problem for problem in audit.problems(rows) if "dropout" in problem), sep="\\n")
print(*(f"{row.name} is not named" for row, _ in audit.unnamed(rows)), sep="\\n")
print(*audit.too_close(audit.margins(rows)), sep="\\n")
print(len(rows), "audited")
"""


def test_audit_of_the_new_module_finds_nothing(tree: Path) -> None:
    done = subprocess.run([sys.executable, "-c", AUDIT], cwd=tree, capture_output=True, text=True)
    assert done.stdout.split("\n") == ["", "", "", "36 audited", ""], done.stdout + done.stderr


@pytest.mark.slow
def test_whole_audit(tree: Path) -> None:
    assert "PROBLEM" not in command(tree, "audit")
