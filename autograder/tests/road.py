"""What the tests of Otter's road share: the homework, built once, and folder trees of Gradescope's shape to grade in."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from otter.run.run_autograder import main as run_autograder
from otter.run.run_autograder.runners import python_runner
from otter.test_files import GradingResults
from otter.test_files.exception_test import ExceptionTestFile

from autograder.feedback import results
from autograder.grading.grader import Grader
from autograder.intake.submission import read
from autograder.release import build
from autograder.release.otter_plugin import quarantined
from autograder.release.rehearsal import KEPT
from autograder.sandbox.budget import Limits

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Built:
    """What `autograder build` has written, and the wheel of the kit unpacked as if it were installed."""

    zip: Path
    student_zip: Path
    assignments: Path
    installed: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Built:
    """Built by the first test process that needs it, for all of them."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "built"
    made = Built(place / "dist/autograder.zip", place / "dist/student.zip", place / "assignments", place / "installed")
    with FileLock(f"{place}.lock"):
        if not made.installed.is_dir():
            build.build(place / "dist", made.assignments)
            with zipfile.ZipFile(made.zip) as archive:
                wheel = archive.extract(next(name for name in archive.namelist() if name.endswith(".whl")), place)
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(made.installed)
    return made


class Box:
    """A folder like /autograder on Gradescope, with one upload in it."""

    def __init__(self, place: Path, built: Built, upload: Files):
        self.place, self.built = place, built
        self.submission, self.results = place / "submission", place / "results" / "results.json"
        for folder in ("source", "submission", "results"):
            (place / folder).mkdir(parents=True)
        (place / "submission_metadata.json").write_text("{}")
        with zipfile.ZipFile(built.zip) as archive:
            archive.extractall(place / "source")
        for name, data in upload.items():
            (self.submission / name).parent.mkdir(parents=True, exist_ok=True)
            (self.submission / name).write_bytes(data)

    def document(self) -> Any:
        return json.loads(self.results.read_text())

    def run(self) -> "subprocess.CompletedProcess[str]":
        """Run the zip's own run_otter.py with the kit from the zip's own wheel."""
        script = self.place / "source" / "run_otter.py"
        script.write_text(script.read_text().replace('"/autograder"', repr(str(self.place))))
        path = os.pathsep.join(filter(None, (str(self.built.installed), os.environ.get("PYTHONPATH"))))
        inherited = {name: os.environ[name] for name in ("PATH", *KEPT) if name in os.environ}
        environment = {**inherited, "HOME": str(self.place), "PYTHONPATH": path}
        command = [sys.executable, str(script)]
        return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)

    def run_without_kernel(self) -> None:
        """Run Otter in this process, with Otter's own test files but without the kernel, which takes seconds."""
        with quarantined(self.place):
            run_autograder(str(self.place), logo=False)


@pytest.fixture
def box(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Files], Box]]:
    monkeypatch.setattr(python_runner, "grade_notebook", _grade_notebook)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # Otter changes it
    boxes: list[Path] = []

    def make(upload: Files) -> Box:
        boxes.append(tmp_path / f"autograder-{len(boxes)}")
        return Box(boxes[-1], built, upload)

    yield make
    for path in boxes:
        shutil.rmtree(path)


def _grade_notebook(_: str, *, tests_glob: list[str], plugin_collection: Any, **__: Any) -> Any:
    files = [ExceptionTestFile.from_file(path) for path in tests_glob]
    for file in files:
        file.run({})
    found = GradingResults(files)
    plugin_collection.run("after_grading", found)
    return found


@pytest.fixture(scope="session")
def at_home(grader: Grader) -> Callable[[Path], dict[str, Any]]:
    """The same upload graded by the other road, `autograder grade`."""
    return lambda path: results.gradescope(grader.grade(read(path, Limits())))
