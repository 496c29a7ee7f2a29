"""Runs the checks of a module whenever you save it: `pytest --watch`. Ctrl-C stops it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy  # noqa: F401 - imported once, before processes are forked
import pytest

FOLDER = Path(__file__).resolve().parent.parent
SECONDS = 0.1  # between two checks of the files


def watch(first: list[str], options: list[str]) -> int:
    """Run pytest with the arguments `first`; then, for each saved file, with the options and the checks of that module.

    Checks that were selected with --only or -k stay selected.
    """
    before, selected = _times(), any(argument.startswith(("--only", "-k")) for argument in first)
    try:
        _run(first)
        while True:
            print("\nWatching your files; press Ctrl-C to stop.", flush=True)
            while before == (now := _times()):
                time.sleep(SECONDS)
            saved = [file for file in now if now[file] != before.get(file)]
            before = now
            modules = [file for file in saved if (FOLDER / "checks" / f"test_{file}").is_file()]
            _run([*options, *modules] if modules and not selected else first)
    except KeyboardInterrupt:
        return 0


def _times() -> dict[str, tuple[int, int]]:
    """When each of the student's files was saved, and its size."""
    found = {}
    for path in FOLDER.glob("*.py"):
        try:
            status = path.stat()
        except OSError:  # being replaced right now
            continue
        found[path.name] = status.st_mtime_ns, status.st_size
    return found


def _run(arguments: list[str]) -> None:
    """Run pytest in a process of its own, so that it imports your modules again; forked where possible, which is faster."""
    sys.stdout.flush()
    if not hasattr(os, "fork"):
        subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=FOLDER)
    elif (child := os.fork()) == 0:
        status = 1
        try:
            os.chdir(FOLDER)
            status = int(pytest.main(arguments))
        finally:
            sys.stdout.flush()
            os._exit(status)
    else:
        os.waitpid(child, 0)
