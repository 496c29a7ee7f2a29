"""Access to the homework in use without a homework object."""

import os
from functools import cache
from pathlib import Path

from autograder.exceptions import ArgumentsError
from autograder.homework.homework import GRADING, PACKAGE, Homework, module_at, packaged

HOMEWORK = "AUTOGRADER_HOMEWORK"  # an environment variable, so that every process of a command uses the same homework
__all__ = ["GRADING", "PACKAGE", "packaged"]
module = module_at


def current() -> Homework:
    return _at(os.environ.get(HOMEWORK))


@cache
def _at(folder: str | None) -> Homework:
    return Homework(Path(folder) if folder else None)


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
    return bool(os.environ.get(HOMEWORK))


def home() -> Path:
    return current().folder


def solutions() -> Path:
    return current().solutions


def notebook() -> str:
    return current().notebook


def rubric_file() -> Path:
    return current().rubric_file


def suites() -> Path:
    return current().suites


def alternatives() -> Path:
    return current().alternatives


def misconceptions() -> Path:
    return current().misconceptions


def secret() -> list[Path]:
    return current().secret
