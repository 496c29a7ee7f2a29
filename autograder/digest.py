"""What a grade depends on, as digests: the submission, and the kit that grades it.

A result whose digests and sandbox layers are those of today need not be graded again.
"""

import hashlib
import platform
from collections.abc import Iterable
from functools import cache

import numpy as np

from autograder import kit
from autograder.submission import Submission

APART = {"tests", "benchmarks", "templates", "kit", "__pycache__"}
NOT_GRADING = {
    "batch", "canvas", "cli", "commands_class", "compare_results", "digest", "entries", "exports", "gradebook", "gradescope",
    "item_analysis", "progress", "report", "sample", "store", "tree", "worker",
}  # fmt: skip


def of_submission(submission: Submission) -> str:
    """Over everything that was handed in and could be used, and what is said about the rest; not over whose it is."""
    parts = [text for path in sorted(submission.files) for text in (path.encode(), submission.files[path])]
    notes = [*submission.notes, *(text for pair in sorted(submission.refused.items()) for text in pair)]
    return _digest([*parts, b"notes", *(note.encode("utf-8", "surrogateescape") for note in notes)])


@cache
def of_kit() -> str:
    """Over rubric, solutions, suites, catalogue, engine, and the versions of NumPy and Python."""
    versions = [np.__version__, platform.python_implementation(), platform.python_version(), platform.machine()]
    return _digest([*(version.encode() for version in versions), *_files()])


def _files() -> Iterable[bytes]:
    places = [(kit.home() / "rubric.yaml", "rubric.yaml")]
    for root in (kit.solutions(), kit.PACKAGE):
        places += [(path, f"{root.name}/{path.relative_to(root).as_posix()}") for path in sorted(root.rglob("*.py"))]
    for path, name in places:
        parts = name.split("/")
        apart = parts[0] == kit.PACKAGE.name and (parts[1] in APART or parts[1].removesuffix(".py") in NOT_GRADING)
        if not apart and "__pycache__" not in parts:
            yield name.encode()
            yield path.read_bytes()


def _digest(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()
