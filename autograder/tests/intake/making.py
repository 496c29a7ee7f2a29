"""Uploads, classes and exports for the tests of this folder."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.homework import rubric as rubrics
from autograder.intake.entries import load
from autograder.intake.exports import Listing

LIMITS = rubrics.current().limits
MODULES = list(rubrics.current().modules)
FIRST, SECOND = f"{MODULES[0]}.py", f"{MODULES[1]}.py"
Files = dict[str, str | bytes]
WORK = {FIRST: "x = 1\n"}


def contents(found: Listing) -> dict[str, dict[str, bytes]]:
    """The files of every submission by key, read as the grader reads them."""
    return {entry.key: load(entry, LIMITS).files for entry in found.entries if not entry.problem}


def keys(found: Listing) -> list[str]:
    return [entry.key for entry in found.entries]


@contextmanager
def as_nobody() -> Iterator[Path]:
    """A folder of a user who may not read everything, and this process as that user."""
    if os.name == "nt":
        pytest.skip("Windows has other permissions")
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if root:
                os.seteuid(0)
