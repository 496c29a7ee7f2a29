"""Run `otter assign` on a tree, and say in one line why it fails.

Otter empties RESULT/autograder, so RESULT is a temporary folder here and never the repository. Whether the zip gives the
solutions full marks is seen by a rehearsal, which runs the zip's own run_otter.py.
"""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.faults import CommandError
from autograder.release.prerequisites import MASTER, clone, require_otter, temporary_folder
from autograder.release.rehearsal import run

REASON_LENGTH = 600  # characters
OURS = ("CommandError", "ArgumentsError", "RubricError")  # exceptions whose text is a line for an instructor


@contextlib.contextmanager
def assigned(check: bool = True, root: Path | None = None) -> Iterator[Path]:
    """The RESULT of `otter assign`, in a temporary folder; with `check`, the zip has graded the solutions.

    `root` is the tree that is built, this kit's own unless given. Raises CommandError.
    """
    root = root or clone()
    require_otter()
    with temporary_folder("autograder-build-") as result:
        _assign(root, result)
        if check:
            _check(next((result / "autograder").glob("*.zip")), root / "solutions")
        yield result


def _assign(root: Path, result: Path) -> None:
    """Run Otter in `root`, with the kit that lies there, whatever kit is installed."""
    master = str(root / "solutions" / MASTER)
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "otter", "assign", master, str(result), "--no-run-tests"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise CommandError(reason(done.stderr))


def _check(zipped: Path, solutions: Path) -> None:
    """Raises CommandError where the solutions do not get full marks."""
    with temporary_folder("autograder-solutions-") as upload:
        for path in solutions.glob("*.py"):
            shutil.copy(path, upload)
        tests = run.rehearse(zipped, upload, here=True).document["tests"]
    lost = [test["extra_data"]["criterion"] for test in tests if test["score"] < test["max_score"]]
    if lost:
        raise CommandError(f"the solutions do not get full marks; they lose {', '.join(lost)}")


def reason(stderr: str) -> str:
    """Why Otter failed, on one line: our own words where the cause is known, else the last exception of its traceback."""
    if os.strerror(errno.ENOSPC) in stderr:
        return f"no space left on the disk, while Otter wrote to {tempfile.gettempdir()}; make room, or set TMPDIR"
    lines = stderr.rpartition("Traceback (most recent call last):")[2].strip("\n").splitlines()
    ends = [number for number, line in enumerate(lines) if line and not line.startswith(" ")]
    text = " ".join(" ".join(lines[ends[0] :]).split()) if ends else "no reason given"
    name, _, said = text.partition(": ")
    if name.rpartition(".")[2] in OURS:
        return said[:REASON_LENGTH]  # a line of the kit's own, which says what to do
    return f"otter assign failed: {text[:REASON_LENGTH]}"
