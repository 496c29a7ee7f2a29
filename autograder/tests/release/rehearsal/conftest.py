"""A zip of Gradescope's form with a grader of few lines, and an upload for it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

WRITING = """
import pathlib, sys
place = pathlib.Path("/autograder")
print((place / "submission_metadata.json").read_text(), [path.name for path in (place / "submission").iterdir()])
{code}
"""


@pytest.fixture
def other(zipped: Callable[[Path, Mapping[str, bytes]], Path], tmp_path: Path) -> Callable[..., Path]:
    """Make such a zip from the grader's last lines, lines for pip, and further files."""

    def make(code: str, *requirements: str, **files: bytes) -> Path:
        pip = json.dumps({"dependencies": ["python=3.11", "pip", {"pip": list(requirements)}]})
        script = WRITING.format(code=code)
        texts = {"setup.sh": "", "run_autograder": "", "run_otter.py": script, "environment.yml": pip}
        return zipped(tmp_path / "other.zip", {**{name: text.encode() for name, text in texts.items()}, **files})

    return make


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    (tmp_path / "layernorm.py").touch()
    return tmp_path / "layernorm.py"
