"""The contents of the zip for Gradescope: the kit as a wheel, the notebook that Otter runs, Otter's test files, run_otter.py.

No student code runs here. Otter copies everything under files/ into submission/; a file replaces an upload of the same name,
a folder does not. So the notebook that Otter runs is always there, and the wheel, which has the solutions, is in a folder.
"""

import importlib.metadata
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import jinja2
import otter.generate
from hatchling.builders.wheel import WheelBuilder

from autograder.exceptions import of_system
from autograder.feedback.text import number
from autograder.homework import kit
from autograder.homework.rubric import Rubric
from autograder.release import prerequisites
from autograder.release.prerequisites import temporary_folder

# Folders and zips as a dictionary, relative path -> bytes: read, compared, written.

EXECUTABLE = ("run_autograder", "setup.sh")


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder by relative path, in order, without caches and the like."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    lasting = [path for path in paths if not any(part.startswith((".", "__pycache__")) for part in path.parts)]
    return {path.as_posix(): (folder / path).read_bytes() for path in lasting}


def differences(right: Path, folder: Path) -> list[str]:
    """One line for each file that differs between two folders."""
    wanted, there = contents(right), contents(folder) if folder.is_dir() else {}
    lines = [f"{name} is missing" for name in wanted if name not in there]
    lines += [f"{name} does not belong there" for name in there if name not in wanted]
    return lines + [f"{name} is out of date" for name in wanted if name in there and wanted[name] != there[name]]


def refresh(wanted: dict[str, bytes], target: Path) -> None:
    """Make `target` contain exactly these files; identical ones are not touched."""
    present = contents(target) if target.is_dir() else {}
    for name in present.keys() - wanted.keys():
        (target / name).unlink()
    for name, data in wanted.items():
        if present.get(name) != data:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)


def copy_parts(source: Path, target: Path, parts: tuple[str, ...], ignored: tuple[str, ...]) -> None:
    """Copy some files and folders of a tree, except ignored names.

    Raises CommandError at the first file that cannot be copied.
    """
    for part in parts:
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, ignore=shutil.ignore_patterns(*ignored), copy_function=_copy)
        else:
            _copy(str(source / part), str(target / part))


def _copy(source: str, target: str) -> None:
    """Copy a file; errors are not OSError, since copytree would collect those and continue."""
    try:
        shutil.copy(source, target)
    except OSError as error:
        raise of_system(error, target) from error


def unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(files: dict[str, bytes], path: Path) -> Path:
    """Write a zip that does not depend on time, place or user; completely or not at all."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(unfinished, "w") as archive:
            for name in sorted(files):
                entry = zipfile.ZipInfo(name)
                entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
                entry.external_attr = (0o100755 if name in EXECUTABLE else 0o100644) << 16
                archive.writestr(entry, files[name])
        return unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


PROJECT = ("pyproject.toml", "README.md", "LICENSE")
HOMEWORK = ("rubric.yaml", "solutions")
PARTS = (*PROJECT, *HOMEWORK, "autograder")  # of a clone
OUTSIDE = (*HOMEWORK, kit.GRADING)  # of a homework outside the package
GUARD = "transformer_homework_otter_guard.pth"  # see otter_guard.py
IGNORED = (".*", "__pycache__")
NOT_THE_PACKAGE = ("tests", "benchmarks", "docs", "kit", "suites", "misconceptions", "alternatives")
WHEEL = "kit-wheel"  # the folder of the wheel, under files/
RUN_OTTER = """\
'''Run Otter where it finds nothing of the upload; its plugin, the kit's, knows where that is and grades it.'''

from pathlib import Path

from autograder.release.otter_plugin import quarantined
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
    """Build a wheel of the kit with the homework in `root`, and put it into `folder`. In a clone the kit is the one in `root`.

    The same files give the same bytes: files of an instructor's own runs are not packed. Raises CommandError.
    """
    with temporary_folder("autograder-wheel-") as place:
        if kit.outside():
            _copy_with_package(root, place)
        else:
            copy_parts(root, place, PARTS, IGNORED)
        return Path(next(WheelBuilder(str(place)).build(directory=str(folder), versions=["standard"])))


def _copy_with_package(root: Path, place: Path) -> None:
    """The tree of a wheel with the installed package, and the homework in `root` instead of the package's own."""
    own = kit.packaged()
    copy_parts(own if own == kit.PACKAGE.parent else own / "project", place, PROJECT, IGNORED)
    copy_parts(kit.PACKAGE.parent, place, (kit.PACKAGE.name,), (*IGNORED, *NOT_THE_PACKAGE))
    if own != kit.PACKAGE.parent:  # a wheel has this file beside the package
        _copy(str(kit.PACKAGE.with_name(GUARD)), str(place / kit.PACKAGE.name / "release"))
    copy_parts(root, place, HOMEWORK, IGNORED)
    copy_parts(root, place / kit.PACKAGE.name / "kit", (kit.GRADING,), IGNORED)


def requirements(wheel: Path, source: str) -> list[str]:
    """The lines for pip: the wheel, which the image finds in the folder `source`, and all its dependencies, pinned."""
    (kit,) = importlib.metadata.distributions(path=[str(wheel)])
    return [f"{source}/{wheel.name}", *prerequisites.pinned(kit.requires or ())]


def run_otter() -> None:
    """Replace Otter's run_otter.py in the zip by the kit's; Otter has no setting for this."""
    own = jinja2.DictLoader({"common/run_otter.py": RUN_OTTER})
    otter.generate.JINJA_ENV.loader = jinja2.ChoiceLoader([own, otter.generate.JINJA_ENV.loader])


def driver(path: Path, assignment_name: str | None) -> None:
    """Write the notebook that Otter runs: empty, since grading ends before its kernel starts."""
    metadata: dict[str, Any] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    if assignment_name:
        metadata["otter"] = {"assignment_name": assignment_name}
    notebook = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8", newline="\n")


def test_files(folder: Path, rubric: Rubric) -> None:
    """Replace the generated tests, the students' public checks, by one per question that runs nothing."""
    for old in folder.glob("*.py"):
        old.unlink()
    for group in rubric.groups:
        points = number(sum(criterion.most for criterion in rubric.of(group)))
        (folder / f"{group}.py").write_text(TEST_FILE.format(name=group, points=points), encoding="utf-8", newline="\n")
