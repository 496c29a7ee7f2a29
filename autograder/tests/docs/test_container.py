"""The container file copies the files that the kit needs, and runs as the user that the sandbox needs.

No container engine runs here: the instructions of the file are followed in a temporary folder instead.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.homework.homework import PACKAGE
from autograder.release.packing import PARTS
from autograder.tests.files import HOMEWORK

FILE = PACKAGE / "docs" / "container" / "Dockerfile"
LINES = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def arguments_of(name: str) -> list[str]:
    """The arguments of every instruction with this name."""
    return [line.removeprefix(f"{name} ") for line in LINES if line.startswith(f"{name} ")]


def test_container_runs_as_root_and_makes_the_kit_folder_private_before_copying() -> None:
    assert {line.partition(" ")[0] for line in LINES} <= {"FROM", "USER", "RUN", "WORKDIR", "COPY", "ENTRYPOINT", "CMD"}
    assert arguments_of("USER") == ["root"]
    steps = ("RUN mkdir -m 0700 /kit", "WORKDIR /kit", "COPY solutions solutions")
    assert sorted(map(LINES.index, steps)) == [*map(LINES.index, steps)]


def test_copied_files_are_exactly_the_kit_and_work(tmp_path: Path) -> None:
    copied = [(source, target) for *sources, target in map(str.split, arguments_of("COPY")) for source in sources]
    for source, target in copied:
        if (HOMEWORK.folder / source).is_dir():
            shutil.copytree(HOMEWORK.folder / source, tmp_path / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(HOMEWORK.folder / source, tmp_path / target)
    assert sorted(source for source, _ in copied) == sorted(PARTS)
    code = "from autograder.homework.homework import Homework; h = Homework(); print(h.folder, h.rubric.points > 0)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd="/", env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [str(tmp_path), "True"], done.stderr
