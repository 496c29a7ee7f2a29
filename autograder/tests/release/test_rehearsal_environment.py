"""What a rehearsal runs with: the zip's own requirements, here or in a fresh environment, and nothing of the user's."""

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.release import rehearsal


def asking(place: Path, *lines: str, python: str = "python=3.12.1") -> Path:
    """A tree whose zip asks for this."""
    (place / "source").mkdir(parents=True)
    entries = {"dependencies": [python, "pip", {"pip": list(lines)}]}
    (place / "source" / "environment.yml").write_text(json.dumps(entries))
    return place


def test_what_the_zip_asks_for(tmp_path: Path) -> None:
    tree = asking(tmp_path / "it", "/autograder/source/files/a.whl", "numpy==2.0.1")
    assert rehearsal.asked(tree) == ("3.12", [tree / "source/files/a.whl"], ["numpy==2.0.1"])


@pytest.mark.parametrize("text", ["", "[", "{}", "dependencies: 1", "dependencies: [{conda: []}]"])
def test_environment_file_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    tree = asking(tmp_path / "it")
    (tree / "source" / "environment.yml").write_text(text)
    with pytest.raises(ArgumentsError, match=r"the zip's environment\.yml cannot be read; build the zip again"):
        rehearsal.asked(tree)


def test_other_versions_here_are_said(tmp_path: Path) -> None:
    _, _, how = rehearsal.installed(asking(tmp_path / "it", "numpy==0.1", "no-such-package==2"), tmp_path)
    assert "; versions that differ from the zip: numpy " in how
    assert "(zip: 0.1), no-such-package not installed (zip: 2)" in how


def test_places_for_files_of_ones_own_are_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    _, variables, _ = rehearsal.installed(asking(tmp_path / "it"), tmp_path)
    assert "SECRET" not in variables
    assert {Path(variables[name]).parent for name in rehearsal.FOLDERS} == {tmp_path}
    assert variables["PATH"].startswith(f"{Path(sys.executable).parent}{os.pathsep}")


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_fresh_environment_gets_the_wheel_of_the_zip(
    other: Callable[..., Path], upload: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if installer == "uv" and not rehearsal.uv():
        pytest.skip("needs uv")
    if installer == "pip":
        monkeypatch.setattr(rehearsal, "uv", lambda: "")
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "SCORE = 7\n")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr("tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.dist-info/RECORD", "")
    name = "files/tiny-1-py3-none-any.whl"
    code = "import json, tiny; (place / 'results' / 'results.json').write_text(json.dumps({'score': tiny.SCORE}))"
    zip_file = other(code, f"/autograder/source/{name}", **{name: wheel.getvalue()})
    done = rehearsal.rehearse(zip_file, upload)
    assert done.document == {"score": 7}
    assert done.how.startswith("in a fresh environment of Python 3.") and done.how.endswith(
        f"installed with {installer}"
    )
    assert rehearsal.rehearse(zip_file, upload, here=True).document == {"score": 7}


@pytest.mark.parametrize(("status", "installer", "calls"), [(0, "uv", 1), (1, "pip", 2), (None, "pip", 1)])
def test_pip_installs_where_uv_is_missing_or_fails(
    monkeypatch: pytest.MonkeyPatch, status: int | None, installer: str, calls: int
) -> None:
    called = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        called.append(command)
        return subprocess.CompletedProcess(command, (status or 0) if command[0] == "/bin/uv" else 0, "", "")

    monkeypatch.setattr(rehearsal, "uv", lambda: "" if status is None else "/bin/uv")
    monkeypatch.setattr("subprocess.run", run)
    assert rehearsal._install("python3", ["numpy==2.0.1"]) == installer
    assert len(called) == calls and all(command[-1] == "numpy==2.0.1" for command in called)


def test_requirement_that_cannot_be_installed() -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-index", "no requirement"]
    with pytest.raises(
        CommandError, match=r"pip cannot install .*: Invalid requirement: .* \(--here uses the installed"
    ):
        rehearsal._do(command, "pip cannot install the zip's requirements")


def test_no_kernel(other: Callable[..., Path], upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager._find_spec_directory", lambda *_: None)
    with pytest.raises(CommandError, match=r"^there is no Jupyter kernel named python3\..* pip install ipykernel"):
        rehearsal.rehearse(other(""), upload, here=True)
