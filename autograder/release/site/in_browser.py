"""Runs the homework's commands in the browser's Python. The worker of the workbench page loads this file.

The current folder is the student folder. Each command runs in an interpreter of its own, as in a terminal.
"""

import importlib
import io
import json
import os
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SECONDS_BETWEEN_REPORTS, SECONDS_BETWEEN_SAMPLES = 0.5, 5.0
FOLDERS: list[Path] = []  # of the packages and of the homework


def prepare(folders: list[str]) -> None:
    """Import what every command needs, before the student presses a button; compiled code is written to __pycache__."""
    FOLDERS[:] = map(Path, folders)
    for path in _files("*.py"):
        os.utime(path, (0, 0))  # so that the compiled code of another interpreter is valid here
    sys.dont_write_bytecode = False
    importlib.import_module("numpy")
    importlib.import_module("pytest")


def compiled() -> bytes:
    """Return a zip of the compiled code of everything but the student's files, with absolute paths."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in _files("*.pyc"):
            if path.parent.parent != FOLDERS[-1]:
                archive.write(path)
    return packed.getvalue()


def _files(pattern: str) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from folder.rglob(pattern)


def check(arguments: list[str]) -> int:
    """Run `pytest` with these arguments and return its exit status."""
    import pytest

    # The browser has no file descriptors, which pytest's default capture duplicates.
    return int(pytest.main(["--capture=sys", *arguments]))


def train(arguments: list[str], report: Callable[[str], None]) -> int:
    """Run `train.py` with these arguments and return its exit status; `report` gets the progress as JSON."""
    try:
        program = importlib.import_module("train")
    except Exception as error:
        print(f"train.py: {type(error).__name__}: {error}")
        return 1
    reported = sampled = float("-inf")
    names: list[str] = []

    def progress(training: Any) -> None:
        nonlocal reported, sampled, names
        if training.finished or time.monotonic() > reported + SECONDS_BETWEEN_REPORTS:
            if training.finished or time.monotonic() > sampled + SECONDS_BETWEEN_SAMPLES:
                names, sampled = training.sample(), time.monotonic()
            seconds = training.seconds_left if training.step >= 10 else None
            about = {"step": training.step, "steps": training.steps, "history": training.history}
            report(json.dumps(about | {"names": names, "left": seconds}))
            reported = time.monotonic()

    return int(program.main(arguments, progress))


def main(job: str, report: Callable[[str], None]) -> int:
    """Write the student's files of a job to the current folder, and run its command."""
    task = json.loads(job)
    for name, text in task["files"].items():
        with open(name, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    sys.path.insert(0, os.getcwd())
    importlib.invalidate_caches()
    return check(task["arguments"]) if task["command"] == "check" else train(task["arguments"], report)
