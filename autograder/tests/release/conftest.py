"""Fixtures: a copy of the repository to build or to break, and the grade of a submission that is partly wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.tests.files import clone, zipped


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository in another folder, with files that an instructor's own runs leave behind."""
    root = clone(tmp_path / "a copy")
    for name in (".OTTER_LOG", ".ipynb_checkpoints/transformer.ipynb", "__pycache__/a.pyc", "checks/__pycache__/b.pyc"):
        (root / "solutions" / name).parent.mkdir(exist_ok=True)
        (root / "solutions" / name).write_bytes(b"1")
    return root


@pytest.fixture(scope="session")
def half_at_home(
    at_home: Callable[[Path], dict[str, Any]], half: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Any:
    path = tmp_path_factory.mktemp("home") / "homework.zip"
    path.write_bytes(zipped(half))
    return at_home(path)["tests"]
