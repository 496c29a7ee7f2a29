"""The tree of a homework, and the zip for Gradescope that is built from it.

The zip has the kit as a wheel, the notebook that Otter runs, Otter's test files, run_otter.py, and the versions of all
packages. No student code runs here. Otter copies everything under files/ into submission/. A file replaces an upload of
the same name, so no upload replaces the notebook. A folder does not, so the wheel, which has the solutions, is in a
folder.
"""

import contextlib
import importlib.metadata
import io
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jinja2
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.exceptions import CommandError, of_system
from autograder.files import write_atomically
from autograder.homework import kit
from autograder.homework.rubric import Rubric
from autograder.submissions.text import number

EXECUTABLE = ("run_autograder", "setup.sh")
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


# The tree


def tree() -> Path:
    """The tree to build: the clone, or the folder of a homework outside the package.

    Raises CommandError if there is none, or if the kit is installed from another clone.
    """
    if kit.outside():
        return kit.home()
    needed = kit.home() / "pyproject.toml"
    if not needed.is_file():
        raise CommandError(
            f"there is no {needed}; run this in the folder of a homework (`autograder new --homework DIR` writes one), "
            "or in a clone with the kit installed from it: pip install -e ."
        )
    if clone := other_clone(Path()):
        advice = f"first run: pip install -e {clone}"
        raise CommandError(f"this is the clone {clone}, but the installed kit is {kit.home()}; {advice}")
    return kit.home()


def other_clone(folder: Path) -> Path | None:
    """The clone that contains `folder`, if another kit is installed: edits in the clone then have no effect."""
    parts = ("rubric.yaml", "solutions", "autograder", "pyproject.toml")
    around = (folder.absolute(), *folder.absolute().parents)
    clone = next((place for place in around if all((place / part).exists() for part in parts)), None)
    return None if clone == kit.home() or kit.outside() else clone


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that is removed afterwards.

    Raises CommandError, also for an OSError inside, which means a full or read-only disk.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as place:
            yield Path(place).resolve()
    except OSError as error:
        raise of_system(error, tempfile.tempdir or "TMPDIR", temporary=True) from error


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder by relative path, in order, without caches and the like."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    lasting = [path for path in paths if not any(part.startswith((".", "__pycache__")) for part in path.parts)]
    return {path.as_posix(): (folder / path).read_bytes() for path in lasting}


def refresh(wanted: dict[str, bytes], target: Path) -> None:
    """Make `target` contain exactly these files; identical ones are not touched."""
    present = contents(target) if target.is_dir() else {}
    for name in present.keys() - wanted.keys():
        (target / name).unlink()
    for name, data in wanted.items():
        if present.get(name) != data:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)


def copy_parts(source: Path, target: Path, parts: Iterable[str], ignored: Iterable[str] = IGNORED) -> None:
    """Copy some files and folders of a tree, except ignored names."""
    for part in parts:
        if (source / part).is_dir():
            ignore = shutil.ignore_patterns(*ignored)
            shutil.copytree(source / part, target / part, ignore=ignore, copy_function=shutil.copy)
        else:
            shutil.copy(source / part, target / part)


def pack(files: dict[str, bytes], path: Path) -> Path:
    """Write a reproducible zip, completely or not at all."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if name in EXECUTABLE else 0o100644) << 16
            archive.writestr(entry, files[name])
    write_atomically(path, packed.getvalue())
    return path


# The contents of the zip


def wheel(root: Path, folder: Path) -> Path:
    """Build a wheel of the kit with the homework in `root`, and put it into `folder`. In a clone the kit is the one in
    `root`.

    The same files give the same bytes; files of an instructor's runs are not packed. Raises CommandError.
    """
    from hatchling.builders.wheel import WheelBuilder  # only here, to save start-up time

    own = kit.packaged()
    with temporary_folder("autograder-wheel-") as place:
        if not kit.outside():
            copy_parts(root, place, PARTS)
        else:
            in_clone, package = own == kit.PACKAGE.parent, place / kit.PACKAGE.name
            copy_parts(own if in_clone else own / "project", place, PROJECT)
            copy_parts(kit.PACKAGE.parent, place, [kit.PACKAGE.name], (*IGNORED, *NOT_THE_PACKAGE))
            if not in_clone:  # a wheel has this file next to the package
                shutil.copy(kit.PACKAGE.with_name(GUARD), package / "release")
            copy_parts(root, place, HOMEWORK)
            copy_parts(root, package / "kit", [kit.GRADING])
        return Path(next(WheelBuilder(str(place)).build(directory=str(folder), versions=["standard"])))


def run_otter() -> None:
    """Replace Otter's run_otter.py in the zip with the kit's; Otter has no setting for this."""
    import otter.generate  # only here, to save start-up time

    own = jinja2.DictLoader({"common/run_otter.py": RUN_OTTER})
    otter.generate.JINJA_ENV.loader = jinja2.ChoiceLoader([own, otter.generate.JINJA_ENV.loader])


def notebook(cells: list[dict[str, Any]], **metadata: Any) -> dict[str, Any]:
    """A notebook in the format version without random cell ids."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, **metadata}, "nbformat": 4, "nbformat_minor": 4}


def driver(path: Path, assignment_name: str | None) -> None:
    """Write the notebook that Otter runs: empty, since grading ends before its kernel starts."""
    name = {"otter": {"assignment_name": assignment_name}} if assignment_name else {}
    path.write_text(json.dumps(notebook([], **name), indent=1) + "\n", encoding="utf-8", newline="\n")


def test_files(folder: Path, rubric: Rubric) -> None:
    """Replace the generated tests, which are the public checks, with one per question that does nothing."""
    for old in folder.glob("*.py"):
        old.unlink()
    for group in rubric.groups:
        points = number(sum(criterion.most for criterion in rubric.of(group)))
        (folder / f"{group}.py").write_text(TEST_FILE.format(name=group, points=points), encoding="utf-8", newline="\n")


# The packages of the grading image: those installed here, at these versions, and their dependencies.
#
# Grades must not depend on the day Gradescope builds the image: a new NumPy may sum in another order. pip's resolver would need
# a network for this; `pip freeze` would also pin development tools.

# The platform of the image: Gradescope's images are Linux on x86.
IMAGE = {"os_name": "posix", "platform_machine": "x86_64", "platform_system": "Linux", "sys_platform": "linux"}


def requirements(wheel: Path, source: str) -> list[str]:
    """The lines for pip: the wheel, which the image finds in the folder `source`, and all its dependencies, pinned."""
    (kit,) = importlib.metadata.distributions(path=[str(wheel)])
    return [f"{source}/{wheel.name}", *pinned(kit.requires or ())]


def python_version() -> str:
    """The version of Python for the image: the running one, for which the installed packages were chosen."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def pinned(requirements: Iterable[str]) -> list[str]:
    """`name==version` for every direct and indirect requirement, sorted by name.

    A package that Linux needs but this machine does not have, for example on macOS, is left to pip.
    """
    versions: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(requirement, "") for requirement in map(Requirement, requirements)]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate(IMAGE | {"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        versions[name] = package.version
        for wanted in {("", name), *((extra, name) for extra in requirement.extras)} - seen:
            seen.add(wanted)
            waiting += [(needed, wanted[0]) for needed in map(Requirement, package.requires or ())]
    return [f"{name}=={version}" for name, version in sorted(versions.items())]
