"""The paths of the homework's files.

AUTOGRADER_HOMEWORK selects a homework. The default is the one that comes with the package: next to the package in a
clone, inside it in a wheel. A homework outside the package is a folder with rubric.yaml, solutions/ and grading/.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

from autograder.exceptions import ArgumentsError, CommandError

PACKAGE = Path(__file__).resolve().parents[1]
HOMEWORK = "AUTOGRADER_HOMEWORK"  # an environment variable, so that every process of a command uses the same homework
GRADING = "grading"


def use(folder: Path) -> None:
    """Use the homework in `folder` if it has one, unless another one is selected.

    Raises ArgumentsError if the selected folder has no homework.
    """
    if outside():
        folder = home()
    if (folder / "rubric.yaml").is_file() and (folder / GRADING / "suites").is_dir():
        os.environ[HOMEWORK] = str(folder.resolve())
    elif outside():
        raise ArgumentsError(
            f"{HOMEWORK}: there is no homework in {folder}; it must have rubric.yaml and {GRADING}/suites/"
        )


def outside() -> bool:
    """Whether the homework in use is outside the package."""
    return bool(os.environ.get(HOMEWORK))


def home() -> Path:
    """The folder that contains rubric.yaml and solutions/."""
    chosen = os.environ.get(HOMEWORK)
    return Path(chosen).resolve() if chosen else packaged()


def packaged() -> Path:
    """The home of the homework that comes with the package."""
    wheel = PACKAGE / "kit"
    return wheel if wheel.is_dir() else PACKAGE.parent


def solutions() -> Path:
    return home() / "solutions"


def notebook() -> str:
    """The name of the master notebook, the only one in solutions/."""
    found = [path.name for path in solutions().glob("*.ipynb")]
    if len(found) != 1:
        raise CommandError(f"there must be exactly one notebook in {solutions()}, not {len(found)}")
    return found[0]


def rubric_file() -> Path:
    return home() / "rubric.yaml"


def suites() -> Path:
    """The hidden tests, and the audit's list of equivalent mutants."""
    return _grading("suites", PACKAGE / "homework" / "suites")


def alternatives() -> Path:
    """Correct solutions in other styles, a folder each."""
    return _grading("alternatives", PACKAGE / "audit" / "alternatives")


def misconceptions() -> Path:
    """The library of misconceptions, a folder for each module."""
    return _grading("misconceptions", PACKAGE / "homework" / "misconceptions")


def _grading(name: str, packaged: Path) -> Path:
    folder = home() / GRADING
    return folder / name if folder.is_dir() or outside() else packaged


def secret() -> list[Path]:
    """The folders that a student's process must not read: the kit, with its solutions, suites and misconceptions."""
    return [PACKAGE, home()]


def module(path: Path) -> ModuleType:
    """Import a file of the homework in use."""
    spec = importlib.util.spec_from_file_location(f"autograder_homework.{path.parent.name}.{path.stem}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
