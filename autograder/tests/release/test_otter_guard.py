"""`otter assign` cannot delete a kit: it is stopped before it starts."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from autograder.homework import kit
from autograder.release.otter_guard import kit_in_danger
from autograder.tests.files import Built


@pytest.mark.parametrize("result", ["", "solutions/..", "../a copy"])
def test_otter_assign_into_the_repository_deletes_nothing(
    built: Built, tree: Path, tmp_path: Path, result: str
) -> None:
    """In an environment with the wheel of the kit; all other packages are those of the tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    (packages,) = (tmp_path / "venv").rglob("site-packages")
    (packages / "a.pth").write_text(f"import site; site.addsitedir({str(built.installed)!r})\n")
    (packages / "b.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    before = sorted(tree.rglob("*"))
    words = ["otter", "assign", f"solutions/{kit.notebook()}", str(Path(tree, result)), "--no-run-tests"]
    done = subprocess.run([python, "-m", *words], cwd=tree, capture_output=True, text=True)
    line = f"autograder: otter assign would delete {tree / 'autograder'}; give a RESULT outside this repository\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert sorted(tree.rglob("*")) == before


@pytest.mark.parametrize(("arguments", "refused"), [
    (["python", "/venv/bin/otter", "assign", "x.ipynb", "{kit}"], True),
    (["python", "-m", "otter", "assign", "-v", "x.ipynb", "{kit}/", "--no-pdfs"], True),
    (["python", "C:\\venv\\Scripts\\otter.exe", "assign", "x.ipynb", "{kit}"], True),
    (["python", "/venv/bin/otter", "assign", "{kit}/solutions/transformer.ipynb", "{kit}/dist"], False),
    (["python", "/venv/bin/otter", "assign", "x.ipynb", "{kit}/autograder"], False),
    (["python", "/venv/bin/otter", "run", "{kit}", "assign"], False),
    (["python", "/venv/bin/pytest", "assign", "{kit}"], False),
    (["python", "-c", "pass"], False),
])  # fmt: skip
def test_only_a_result_folder_with_a_kit_is_rejected(arguments: list[str], refused: bool) -> None:
    given = [argument.format(kit=kit.home()) for argument in arguments]
    assert kit_in_danger(given) == (kit.PACKAGE if refused else None)
