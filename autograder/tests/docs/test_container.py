"""The container file: all that it copies is there and is enough, and what it runs as is what the sandbox needs.

No container engine runs here; what the file says is followed in a folder instead.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.homework import kit
from autograder.release.packing import PARTS

FILE = kit.PACKAGE / "docs" / "container" / "Dockerfile"
LINES = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def given(name: str) -> list[str]:
    """The arguments of each instruction of a name."""
    return [line.removeprefix(f"{name} ") for line in LINES if line.startswith(f"{name} ")]


def test_it_runs_as_root_and_closes_the_kit_before_it_is_copied() -> None:
    assert {line.partition(" ")[0] for line in LINES} <= {"FROM", "USER", "RUN", "WORKDIR", "COPY", "ENTRYPOINT", "CMD"}
    assert given("USER") == ["root"]
    steps = ("RUN mkdir -m 0700 /kit", "WORKDIR /kit", "COPY solutions solutions")
    assert sorted(map(LINES.index, steps)) == [*map(LINES.index, steps)]


def test_what_is_copied_is_the_kit_and_is_enough(tmp_path: Path) -> None:
    copied = [(source, target) for *sources, target in map(str.split, given("COPY")) for source in sources]
    for source, target in copied:
        if (kit.home() / source).is_dir():
            shutil.copytree(kit.home() / source, tmp_path / target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(kit.home() / source, tmp_path / target)
    assert sorted(source for source, _ in copied) == sorted(PARTS)
    code = "from autograder.homework import kit, rubric; print(kit.home(), rubric.load().points > 0)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd="/", env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [str(tmp_path), "True"], done.stderr
