"""Fixture: a copy of the repository to build or to break."""

import shutil
from pathlib import Path

import pytest

from autograder.tests.files import HOMEWORK


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository in another folder, with files that an instructor's own runs leave behind."""
    root = tmp_path / "a copy"
    skip = shutil.ignore_patterns(".*", "__pycache__", "tests", "dist")
    shutil.copytree(HOMEWORK.folder, root, ignore=skip, copy_function=shutil.copy)
    for name in (".OTTER_LOG", ".ipynb_checkpoints/transformer.ipynb", "__pycache__/a.pyc", "checks/__pycache__/b.pyc"):
        (root / "solutions" / name).parent.mkdir(exist_ok=True)
        (root / "solutions" / name).write_bytes(b"1")
    return root
