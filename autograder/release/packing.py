"""What goes into the zip for Gradescope: the kit as a wheel, the notebook that Otter runs, and Otter's own test files.

Nothing here runs student code. Otter copies everything under files/ over the upload: the driver notebook takes the
place of the student's, and there is exactly one notebook also when only .py files were uploaded.
"""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder

from autograder.feedback.results import number
from autograder.homework.rubric import Rubric
from autograder.release import files, lock
from autograder.release.prerequisites import temporary_folder

PARTS = ("pyproject.toml", "README.md", "LICENSE", "rubric.yaml", "autograder", "solutions")
TEST_FILE = """\
from otter.test_files import test_case

OK_FORMAT = False

name = "{name}"
points = {points}


@test_case()
def graded_by_the_kit():
    pass
"""


def wheel(root: Path, folder: Path) -> Path:
    """Build a wheel of the kit in `root`, with its rubric and solutions, and put it into `folder`.

    The same files give the same bytes: what an instructor's own runs have left behind is not packed.
    Raises CommandError.
    """
    with temporary_folder("autograder-wheel-") as place:
        files.copy_parts(root, place, PARTS, (".*", "__pycache__"))
        return Path(next(WheelBuilder(str(place)).build(directory=str(folder), versions=["standard"])))


def requirements(wheel: Path, source: str) -> list[str]:
    """The lines for pip: the wheel, which the image finds in the folder `source`, and all that it needs at exact versions."""
    (kit,) = importlib.metadata.distributions(path=[str(wheel)])
    return [f"{source}/{wheel.name}", *lock.pinned(kit.requires or ())]


def driver(path: Path, assignment_name: str | None) -> None:
    """Write the notebook that Otter executes: empty, since grading is over before its kernel starts."""
    metadata: dict[str, Any] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    if assignment_name:
        metadata["otter"] = {"assignment_name": assignment_name}
    notebook = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8", newline="\n")


def test_files(folder: Path, rubric: Rubric) -> None:
    """Replace the generated tests, the students' public checks, by one for each question that runs nothing."""
    for old in folder.glob("*.py"):
        old.unlink()
    for group in rubric.groups:
        points = number(sum(criterion.most for criterion in rubric.of(group)))
        text = TEST_FILE.format(name=group, points=points)
        (folder / f"{group}.py").write_text(text, encoding="utf-8", newline="\n")
