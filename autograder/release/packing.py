"""The tree of a homework, and the zip for Gradescope that is built from it.

The zip has the kit as a wheel with the versions of all packages, the scripts of the image (scripts/), and what `otter
run` needs: an empty notebook and a test file for each question. No student code runs here. `otter run` copies
everything under files/ into submission/. A file replaces an upload of the same name, so no upload replaces the
notebook. A folder does not, so the wheel, which has the solutions, is in a folder.
"""

import contextlib
import io
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement

from autograder.exceptions import CommandError, of_system
from autograder.homework.homework import GRADING, PACKAGE, Homework, packaged

EXECUTABLE = ("run_autograder", "setup.sh")
PROJECT = ("pyproject.toml", "README.md", "LICENSE")
HOMEWORK = ("rubric.yaml", "solutions")
PARTS = (*PROJECT, *HOMEWORK, "autograder")  # of a clone
IGNORED = (".*", "__pycache__")
NOT_THE_PACKAGE = ("tests", "benchmarks", "docs", "kit", "suites", "misconceptions", "alternatives")
WHEEL = "kit-wheel"  # the folder of the wheel and requirements.txt, under files/
SCRIPTS = {  # the kit's, and those of Otter that they replace
    "run_otter.py": "common/run_otter.py",
    "run_autograder": "common/run_autograder",
    "setup.sh": "python/setup.sh",
}
SCRIPTS_FOLDER = Path(__file__).with_name("scripts")

# The tree


def tree(homework: Homework) -> Path:
    """Return the tree to build: the clone, or the folder of a homework outside the package.

    Raises CommandError if there is none, or if the kit is installed from another clone.
    """
    project = homework.folder / "pyproject.toml"
    if homework.is_packaged and not project.is_file():
        raise CommandError(
            f"there is no {project}; run this in the folder of a homework (`autograder new --homework DIR` writes one), "
            "or in a clone with the kit installed from it: pip install -e ."
        )
    if clone := other_clone(homework, Path()):
        advice = f"first run: pip install -e {clone}"
        raise CommandError(f"this is the clone {clone}, but the installed kit is {homework.folder}; {advice}")
    return homework.folder


def other_clone(homework: Homework, folder: Path) -> Path | None:
    """Return the clone that contains `folder`, if another kit is installed: edits in the clone then have no effect."""
    names = ("rubric.yaml", "solutions", "autograder", "pyproject.toml")
    folders = (folder.absolute(), *folder.absolute().parents)
    clone = next((path for path in folders if all((path / name).exists() for name in names)), None)
    return clone if homework.is_packaged and clone != homework.folder else None


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Create a folder that is removed afterwards.

    Raises CommandError, also for an OSError inside, which means a full or read-only disk.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as folder:
            yield Path(folder).resolve()
    except OSError as error:
        raise of_system(error, tempfile.tempdir or "TMPDIR", temporary=True) from error


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder by relative path, in order, without caches and the like."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    lasting = [path for path in paths if not any(name.startswith((".", "__pycache__")) for name in path.parts)]
    return {path.as_posix(): (folder / path).read_bytes() for path in lasting}


def refresh(files: dict[str, bytes], target: Path) -> None:
    """Make `target` contain exactly these files; identical ones are not touched."""
    present = contents(target) if target.is_dir() else {}
    for name in present.keys() - files.keys():
        (target / name).unlink()
    for name, data in files.items():
        if present.get(name) != data:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)


def copy_parts(source: Path, target: Path, names: Iterable[str], ignored: Iterable[str] = IGNORED) -> None:
    """Copy some files and folders of a tree, except ignored names."""
    for name in names:
        if (source / name).is_dir():
            ignore = shutil.ignore_patterns(*ignored)
            shutil.copytree(source / name, target / name, ignore=ignore, copy_function=shutil.copy)
        else:
            shutil.copy(source / name, target / name)


def packed(files: dict[str, bytes]) -> bytes:
    """Return a reproducible zip."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if name in EXECUTABLE else 0o100644) << 16
            archive.writestr(entry, files[name])
    return zipped.getvalue()


# The contents of the zip


def wheel(homework: Homework, folder: Path) -> Path:
    """Build a wheel of the kit with the homework, and put it into `folder`.

    The same files give the same bytes; files of an instructor's runs are not packed. Raises CommandError.
    """
    from hatchling.builders.wheel import WheelBuilder  # only here, to save start-up time

    with temporary_folder("autograder-wheel-") as folder_of_kit:
        if homework.is_packaged:
            copy_parts(homework.folder, folder_of_kit, PARTS)
        else:
            in_clone = packaged() == PACKAGE.parent
            copy_parts(packaged() if in_clone else packaged() / "project", folder_of_kit, PROJECT)
            copy_parts(PACKAGE.parent, folder_of_kit, [PACKAGE.name], (*IGNORED, *NOT_THE_PACKAGE))
            copy_parts(homework.folder, folder_of_kit, HOMEWORK)
            copy_parts(homework.folder, folder_of_kit / PACKAGE.name / "kit", [GRADING])
        return Path(next(WheelBuilder(str(folder_of_kit)).build(directory=str(folder), versions=["standard"])))


def pins(text: str, python: str) -> dict[str, str]:
    """Return the version of each package in a requirements.txt that this version of Python uses."""
    requirements = [Requirement(line) for line in text.splitlines() if not line.startswith("#")]
    used = [r for r in requirements if r.marker is None or r.marker.evaluate({"python_full_version": f"{python}.0"})]
    return {requirement.name: str(requirement.specifier).removeprefix("==") for requirement in used}


def use_scripts(python: str) -> None:
    """Make `otter assign` write the kit's scripts in place of its own, which install conda, a browser and a Jupyter server.

    Otter has no setting for this.
    """
    import jinja2  # only here, to save start-up time
    import otter.generate

    texts = {theirs: (SCRIPTS_FOLDER / name).read_text(encoding="utf-8") for name, theirs in SCRIPTS.items()}
    setup = SCRIPTS["setup.sh"]
    texts[setup] = re.sub(r"^PYTHON=.*$", f"PYTHON={python}", texts[setup], flags=re.MULTILINE)
    environment = otter.generate.JINJA_ENV
    environment.loader = jinja2.ChoiceLoader([jinja2.DictLoader(texts), environment.loader])
