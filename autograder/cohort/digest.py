"""What a grade depends on, as digests: the submission, and the kit that grades it.

A result whose digests and sandbox layers are those of today need not be graded again.
"""

import hashlib
import json
import platform
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from autograder.homework import kit, rubric
from autograder.intake.submission import Submission

ROOMS = ("values", "sandbox", "homework", "intake", "grading", "feedback")  # what takes part in grading one submission
AFTERWARDS = ("due", "late", "uploads", "missing")  # keys of the rubric that are reckoned with after grading
READ = (".py", ".yaml", ".ini", ".json")  # the kinds of files that these rooms read


def of_submission(submission: Submission) -> str:
    """Over all that was handed in and could be used, and what is said about the rest; not over whose it is."""
    parts = [text for path in sorted(submission.files) for text in (path.encode(), submission.files[path])]
    notes = [repr(note).encode("utf-8", "surrogatepass") for note in submission.refused]
    return _digest([*parts, b"notes", *notes])


@cache
def of_kit() -> str:
    """Over rubric, solutions and all files of the rooms that grade, and the versions of NumPy and Python."""
    versions = [
        np.__version__,
        platform.python_implementation(),
        platform.python_version(),
        platform.machine(),
    ]
    # The rubric as data, since a comment in it changes no grade.
    rules = {key: value for key, value in rubric.current().model_dump().items() if key not in AFTERWARDS}
    parts = [*versions, json.dumps(rules, sort_keys=True)]
    named = [part for name, path in sorted(_files().items()) for part in (name.encode(), path.read_bytes())]
    return _digest([*(part.encode() for part in parts), *named])


def _files() -> dict[str, Path]:
    """Everything that grading reads, by a name that is the same in a clone and in a wheel."""
    folders = {room: kit.PACKAGE / room for room in ROOMS} | {"solutions": kit.solutions()}
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": path
        for name, folder in folders.items()
        for path in folder.rglob("*")
        if path.suffix in READ
    }


def _digest(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()
