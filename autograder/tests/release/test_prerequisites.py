"""What an instructor may lack: each is one line that says what to do."""

import errno
import importlib.metadata
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.homework import kit
from autograder.release import prerequisites

InTree = Callable[[str], "subprocess.CompletedProcess[str]"]


def test_in_another_clone_than_the_installed_kit(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "solutions")
    text = f"this is the clone {tree}, but the installed kit is {kit.home()}; first run: pip install -e {tree}"
    with pytest.raises(CommandError, match=re.escape(text)):
        prerequisites.tree()


def test_kit_without_a_clone(tree: Path, in_tree: InTree) -> None:
    name = "pyproject.toml"
    (tree / name).unlink()
    done = in_tree("from autograder.release import prerequisites; prerequisites.tree()")
    assert (
        f"CommandError: there is no {tree / name}; run this in the folder of a homework" in done.stderr.splitlines()[-1]
    )


@pytest.mark.parametrize("version", ["6.1.3", "8.0.0"])
def test_another_major_version_of_otter(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: version)
    with pytest.raises(CommandError, match=f"^Otter {version} is installed; Otter 7 is needed: pip install"):
        prerequisites.require_otter()


def test_no_otter(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> str:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr("importlib.metadata.version", fail)
    with pytest.raises(CommandError, match=r"^Otter is not installed; Otter 7 is needed: pip install"):
        prerequisites.require_otter()


def test_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager._find_spec_directory", lambda *_: None)
    with pytest.raises(CommandError, match=r"no Jupyter kernel named python3\..* pip install ipykernel"):
        prerequisites.require_kernel()


def test_temporary_folder_is_gone_afterwards() -> None:
    with prerequisites.temporary_folder("autograder-test-") as place:
        (place / "a").write_bytes(b"1")
    assert not place.exists()


def test_no_place_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with (
        pytest.raises(CommandError, match=f"nowhere.*: {os.strerror(errno.ENOENT)}"),
        prerequisites.temporary_folder("a-"),
    ):
        pytest.fail("there is no such place")


def test_full_temporary_folder_is_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(
            CommandError, match=f"^big: {os.strerror(errno.ENOSPC)}; free some space and run it again, or set TMPDIR"
        ),
        prerequisites.temporary_folder("a-"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "big")
