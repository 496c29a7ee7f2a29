"""Grading on Gradescope: results.json agrees with `autograder grade` or does not exist."""

import errno
import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.exceptions import CommandError
from autograder.grading.grader import open_grader
from autograder.release import gradescope
from autograder.sandbox import layers
from autograder.tests.files import HOMEWORK, Bomb, zipped
from autograder.tests.making import few
from autograder.tests.running import Box

Files = Mapping[str, bytes]
MakeBox = Callable[[Files], Box]
AtHome = Callable[[Path], dict[str, Any]]
NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'


SHADOW = """
import pathlib, sys
if any("run_otter" in word or "ipykernel" in word for word in sys.orig_argv):
    pathlib.Path({mark!r}).touch()
"""


@pytest.mark.slow
def test_run_imports_no_file_of_a_student(
    box: MakeBox, at_home: AtHome, half: dict[str, bytes], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    names = ["random", "otter", "json", "yaml", "autograder", "conftest", "sitecustomize", "tests/layernorm"]
    shadows = {f"{name}.py": SHADOW.format(mark=str(mark)).encode() for name in names}
    others = {".OTTER_LOG": pickle.dumps(Bomb(mark)), "transformer.ipynb": NOTEBOOK, "__init__.py": b""}
    tried = box({**half, **shadows, **others})
    home = at_home(tried.submission)
    done = tried.run()
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert tried.document() == home


@pytest.mark.parametrize("upload", few([{}, {"homework.zip": b"no zip"}, {"a.zip": zipped({}), "b.zip": b""}], 1))
def test_upload_without_usable_files_gets_0_with_a_reason(box: MakeBox, upload: Files) -> None:
    tried = box(upload)
    tried.run_here()
    assert tried.document()["score"] == 0
    assert "There is no file layernorm.py" in tried.document()["output"]


def test_grader_error_leaves_no_results_and_the_upload_in_place(
    box: MakeBox, half: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("autograder.release.gradescope.read", fail)
    tried = box(half)
    tried.results.write_text("{}")  # left by an earlier run
    with pytest.raises(CommandError, match="no result: MemoryError: no room"):
        tried.run_here()
    assert not tried.results.exists()
    assert (tried.submission / "layernorm.py").read_bytes() == half["layernorm.py"]


@pytest.mark.parametrize("layer", ["seccomp", "session"])
def test_a_missing_layer_is_one_line_of_the_output(
    box: MakeBox, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], layer: str
) -> None:
    monkeypatch.setattr(gradescope, "open_grader", lambda *_: open_grader(HOMEWORK, (layer,)))
    tried = box({})
    tried.run_here()
    missing = [name for name in layers.NAMES if name not in layers.holding((layer,))]
    assert layer in missing
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")] == [
        f"note: the sandbox lacks {', '.join(missing)}; autograder/docs/explanation/sandbox.md has their effects"
    ]
    assert tried.document()["extra_data"]["layers"] == list(layers.holding((layer,)))


@pytest.mark.parametrize("is_read_only", [False, True])
def test_source_is_closed_to_student_code_if_the_disk_allows(
    box: MakeBox, monkeypatch: pytest.MonkeyPatch, is_read_only: bool
) -> None:
    def chmod(path: Path, mode: int, **others: Any) -> None:
        if is_read_only and path.name == "source":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        os.chmod(path, mode, **others)

    monkeypatch.setattr(Path, "chmod", chmod)
    tried = box({})
    tried.run_here()
    assert tried.document()["score"] == 0
    assert ((tried.place / "source").stat().st_mode & 0o777 == 0o700) is not is_read_only
