"""Run `otter assign` on a tree, and say in one line why it fails.

Otter empties RESULT/autograder, so RESULT is a temporary folder here and never the repository.
"""

import contextlib
import errno
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.faults import CommandError
from autograder.release.prerequisites import MASTER, clone, require_kernel, require_otter, temporary_folder

REASON_LENGTH = 600  # characters
OURS = ("CommandError", "ArgumentsError", "RubricError")  # exceptions whose text is a line for an instructor


@contextlib.contextmanager
def assigned(check: bool = True, root: Path | None = None) -> Iterator[Path]:
    """The RESULT of `otter assign`, in a temporary folder; with `check`, Otter grades the solutions with the zip.

    `root` is the tree that is built, this kit's own unless given. Raises CommandError.
    """
    root = root or clone()
    require_otter()
    require_kernel()
    with temporary_folder("autograder-build-") as result:
        _assign(root, result, check)
        yield result


def _assign(root: Path, result: Path, check: bool) -> None:
    """Run Otter in `root`, with the kit that lies there, whatever kit is installed."""
    command = [sys.executable, "-m", "otter", "assign", str(root / "solutions" / MASTER), str(result)]
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        command if check else [*command, "--no-run-tests"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise CommandError(reason(done.stderr))


def reason(stderr: str) -> str:
    """Why Otter failed, on one line: our own words where the cause is known, else the last exception of its traceback."""
    if os.strerror(errno.ENOSPC) in stderr:
        return f"no space left on the disk, while Otter wrote to {tempfile.gettempdir()}; make room, or set TMPDIR"
    lost = re.findall(r"Criteria that failed: (.*)", stderr)
    if lost:
        return f"the solutions do not get full marks; they lose {', '.join(lost)}"
    lines = stderr.rpartition("Traceback (most recent call last):")[2].strip("\n").splitlines()
    ends = [number for number, line in enumerate(lines) if line and not line.startswith(" ")]
    text = " ".join(" ".join(lines[ends[0] :]).split()) if ends else "no reason given"
    name, _, said = text.partition(": ")
    if name.rpartition(".")[2] in OURS:
        return said[:REASON_LENGTH]  # a line of the kit's own, which says what to do
    return f"otter assign failed: {text[:REASON_LENGTH]}"
