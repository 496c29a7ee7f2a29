"""What goes into the zip for Gradescope: the kit as a wheel, the notebook that Otter runs, Otter's test files, run_otter.py.

Nothing here runs student code. Otter copies everything under files/ into submission/, a file over whatever has its name, a
folder only where nothing has: so the notebook that Otter runs is there whatever was uploaded, and the wheel, which has the
solutions, lies in a folder.
"""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import jinja2
import otter.generate
from hatchling.builders.wheel import WheelBuilder

from autograder.feedback.results import number
from autograder.homework.rubric import Rubric
from autograder.release import files, lock
from autograder.release.prerequisites import temporary_folder

PARTS = ("pyproject.toml", "README.md", "LICENSE", "rubric.yaml", "autograder", "solutions")
WHEEL = "kit-wheel"  # the folder of the wheel, under files/
RUN_OTTER = """\
'''Run Otter where it finds nothing of the upload; its plugin, the kit's, knows where that is and grades it.'''

from pathlib import Path

from autograder.release.quarantine import quarantined
from otter.run.run_autograder import main

PLACE = "{{ autograder_dir }}"

if __name__ == "__main__":
    with quarantined(Path(PLACE)):
        main(PLACE)
"""
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


def run_otter() -> None:
    """Have Otter put the kit's run_otter.py into the zip in place of its own; Otter has no setting for that."""
    own = jinja2.DictLoader({"common/run_otter.py": RUN_OTTER})
    otter.generate.JINJA_ENV.loader = jinja2.ChoiceLoader([own, otter.generate.JINJA_ENV.loader])


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
