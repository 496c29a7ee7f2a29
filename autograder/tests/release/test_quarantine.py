"""The upload is out of Otter's reach while Otter runs, and back in its place afterwards."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.homework import rubric as rubrics
from autograder.release import otter_plugin
from autograder.release.otter_plugin import UPLOAD, grade, quarantined
from autograder.tests.files import put
from autograder.tests.making import few

MODULE = next(iter(rubrics.current().modules))


@pytest.fixture
def place(references: dict[str, bytes], tmp_path: Path) -> Path:
    """A folder like /autograder, with a zip of the solutions in place of the kit's wheel."""
    put(put(tmp_path / "source" / "files", {}) / "kit.whl", references)
    put(tmp_path / "results", {"results.json": b"of an earlier run"})
    put(tmp_path / "submission", {})
    return tmp_path


def folder_with_the_solutions_zip(path: Path) -> None:
    path.mkdir()
    (path / "inner.zip").symlink_to("../../source/files/kit.whl")


TRICKS: dict[str, Callable[[Path], None]] = {
    "link to the wheel": lambda path: path.symlink_to(path.parents[1] / "source" / "files" / "kit.whl"),
    "relative link to the wheel": lambda path: path.symlink_to("../source/files/kit.whl"),
    "endless link": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
    "folder with a link": folder_with_the_solutions_zip,
}


@pytest.mark.parametrize("name", few([*TRICKS]))
def test_links_and_pipes_earn_nothing_and_stop_nothing(place: Path, name: str) -> None:
    TRICKS[name](place / "submission" / f"{MODULE}.py")
    TRICKS[name](place / "submission" / "up.zip")
    with quarantined(place):
        assert grade(place, otter_run=False).points == 0


def test_links_and_pipes_take_nothing_from_the_work_beside_them(place: Path, references: dict[str, bytes]) -> None:
    (place / "submission" / f"{MODULE}.py").write_bytes(references[f"{MODULE}.py"])
    for number, trick in enumerate(TRICKS.values()):
        trick(place / "submission" / f"up_{number}.zip")
    with quarantined(place):
        assert grade(place, otter_run=False).points == rubrics.current().modules[MODULE].points


def test_otter_finds_nothing_and_everything_comes_back(place: Path) -> None:
    upload = put(place / "submission", {".OTTER_LOG": b"1", "a/b.py": b"2", "tests/a.py": b"3", "__init__.py": b"4"})
    TRICKS["endless link"](upload / "link.py")
    os.mkfifo(upload / "transformer.ipynb")
    with quarantined(place):
        assert list(upload.iterdir()) == [] and list((place / "results").iterdir()) == []
        put(upload, {"transformer.ipynb": b"Otter's", "tests/b.py": b"", "kit-wheel/kit.whl": b"", "__init__.py": b""})
    found = {path.relative_to(upload).as_posix() for path in upload.rglob("*") if not path.is_dir()}
    assert found == {".OTTER_LOG", "a/b.py", "tests/a.py", "__init__.py", "link.py", "transformer.ipynb"}
    assert os.readlink(upload / "link.py") == "/dev/zero" and (upload / "transformer.ipynb").is_fifo()
    assert (upload / "__init__.py").read_bytes() == b"4"
    assert not (place / UPLOAD).exists()


def test_upload_is_back_after_a_grader_error(place: Path) -> None:
    put(place / "submission", {"a.py": b"1"})
    with pytest.raises(MemoryError), quarantined(place):
        raise MemoryError
    assert (place / "submission" / "a.py").read_bytes() == b"1"


def test_all_places_are_closed_while_student_code_runs(place: Path) -> None:
    folders = [place / name for name in ("source", "submission", UPLOAD)]
    with quarantined(place):
        assert [path.stat().st_mode & 0o777 for path in folders] == [0o700] * 3


def test_upload_that_otter_could_change_is_not_graded(place: Path) -> None:
    with pytest.raises(CommandError, match=r"the run_otter\.py in the zip is not the kit's"):
        grade(place, otter_run=False)


@pytest.mark.slow
def test_otters_own_files_are_not_graded_after_otter_run(place: Path, references: dict[str, bytes]) -> None:
    own = {"kit.whl", "tests", "__init__.py"}
    put(place / "submission", {**{f"homework/{name}": text for name, text in references.items()}, "kit.whl": b""})
    put(place / "submission", {"tests/a.py": b"", "__init__.py": b""})
    assert grade(place, otter_run=True).points == rubrics.current().points
    assert {path.name for path in (place / "submission").iterdir()} == own


def test_between_two_disks_links_are_kept_and_pipes_left_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moving then copies; it must not follow a link or wait for a pipe."""

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    upload = put(place / "submission", {"a.py": b"1", "a/b.py": b"2"})
    TRICKS["endless link"](upload / "up.zip")
    TRICKS["endless link"](upload / "a" / "down.py")
    os.mkfifo(upload / "pipe.py")
    os.mkfifo(upload / "a" / "pipe.py")
    monkeypatch.setattr(os, "rename", refuse)
    otter_plugin._take(place)
    found = {path.relative_to(place / UPLOAD).as_posix(): path for path in (place / UPLOAD).rglob("*")}
    assert set(found) == {"a.py", "a", "a/b.py", "a/down.py", "up.zip"}
    assert found["up.zip"].is_symlink() and found["a/down.py"].is_symlink()
