"""What a grade depends on, as digests: the submission, and the kit that grades it.

A result whose digests and sandbox layers are those of today need not be graded again.
"""

import ast
import hashlib
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from autograder.homework import kit
from autograder.intake.submission import Submission


def of_submission(submission: Submission) -> str:
    """Over all that was handed in and could be used, and what is said about the rest; not over whose it is."""
    parts = [text for path in sorted(submission.files) for text in (path.encode(), submission.files[path])]
    notes = [*submission.notes, *(text for pair in sorted(submission.refused.items()) for text in pair)]
    return _digest([*parts, b"notes", *(note.encode("utf-8", "surrogatepass") for note in notes)])


@cache
def of_kit() -> str:
    """Over rubric, solutions, suites, catalogue, engine, and the versions of NumPy and Python."""
    versions = [
        np.__version__,
        platform.python_implementation(),
        platform.python_version(),
        platform.machine(),
    ]
    named = [part for name, path in sorted(_files().items()) for part in (name.encode(), path.read_bytes())]
    return _digest([*(version.encode() for version in versions), *named])


def _files() -> dict[str, Path]:
    """Everything that grading reads, by a name that is the same in a clone and in a wheel."""
    package = kit.PACKAGE
    folders = {
        "solutions": kit.solutions(),
        "suites": kit.suites(),
        "catalogue": kit.catalogue(),
        "sandbox": package / "sandbox",
    }
    found = {"rubric.yaml": kit.rubric_file()}
    for name, folder in folders.items():
        paths = [path for path in folder.rglob("*") if path.suffix in (".py", ".ini")]
        found |= {f"{name}/{path.relative_to(folder).as_posix()}": path for path in paths}
    return found | {f"{name}.py": package / f"{name}.py" for name in engine()}


def engine() -> set[str]:
    """The modules of this package that a worker imports, directly or not, as paths without their ending."""
    waiting, found = ["cohort/worker"], set[str]()
    while waiting:
        name = waiting.pop()
        path = kit.PACKAGE / f"{name}.py"
        if name not in found and path.is_file():
            found.add(name)
            waiting += _imports(path.read_text(encoding="utf-8"))
    return found


def _imports(source: str) -> Iterator[str]:
    """What a module imports from this package; a name may be a module or something in one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == kit.PACKAGE.name:
            inside = "/".join((node.module or "").split(".")[1:])
            yield inside
            yield from (f"{inside}/{alias.name}".lstrip("/") for alias in node.names)


def _digest(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()
