"""An upload out of Otter's reach: links, pipes and folders with a zip's name have no effect, and everything comes back."""

import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from autograder.feedback.results import gradescope
from autograder.homework import rubric as rubrics
from autograder.release import quarantine
from autograder.release.quarantine import Quarantine

Make = Callable[[Path, Mapping[str, bytes]], Path]
MODULE = next(iter(rubrics.current().modules))


@pytest.fixture
def place(folder: Make, zipped: Make, references: dict[str, bytes], tmp_path: Path) -> Path:
    """A folder like /autograder, in which a zip with everything right lies where the kit's wheel does."""
    folder(tmp_path / "source" / "tests", {f"{MODULE}.py": b""})
    folder(tmp_path / "source" / "files", {"transformer.ipynb": b"driver"})
    zipped(tmp_path / "source" / "files" / "kit.whl", references)
    folder(tmp_path / "submission", {"transformer.ipynb": b"driver", "kit.whl": b"", f"tests/{MODULE}.py": b""})
    return tmp_path


def graded(place: Path) -> tuple[float, str]:
    document = gradescope(Quarantine(place).grade())
    return document["score"], document["output"]


def link_to_the_wheel(path: Path) -> None:
    path.symlink_to(path.parents[1] / "source" / "files" / "kit.whl")


def link_to_the_wheel_beside_it(path: Path) -> None:
    path.symlink_to("kit.whl")


def endless_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder_with_the_solutions_zip(path: Path) -> None:
    path.mkdir()
    (path / "inner.zip").symlink_to("../../source/files/kit.whl")


TRICKS = [link_to_the_wheel, link_to_the_wheel_beside_it, endless_link, pipe, folder_with_the_solutions_zip]


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_what_is_no_file_earns_nothing_and_stops_nothing(place: Path, trick: Callable[[Path], None]) -> None:
    trick(place / "submission" / f"{MODULE}.py")
    trick(place / "submission" / "up.zip")
    score, said = graded(place)
    assert score == 0
    assert f"{MODULE}.py" in said


def test_what_is_no_file_takes_nothing_from_the_work_beside_it(place: Path, references: dict[str, bytes]) -> None:
    (place / "submission" / f"{MODULE}.py").write_bytes(references[f"{MODULE}.py"])
    for number, trick in enumerate(TRICKS):
        trick(place / "submission" / f"up_{number}.zip")
    assert graded(place)[0] == rubrics.current().modules[MODULE].points


def test_otter_finds_its_own_files_and_nothing_else(place: Path, folder: Make) -> None:
    folder(place / "submission", {".OTTER_LOG": b"1", "random.py": b"1/0", "a/b.py": b""})
    Quarantine(place).grade()
    found = {path.relative_to(place / "submission").as_posix() for path in (place / "submission").rglob("*")}
    assert found == {"transformer.ipynb", "tests", f"tests/{MODULE}.py"}


def test_everything_comes_back(place: Path, folder: Make) -> None:
    folder(place / "submission", {".OTTER_LOG": b"1", "a/b.py": b"2", "mine.ipynb": b"3"})
    endless_link(place / "submission" / "link.py")
    taken = Quarantine(place)
    taken.grade()
    taken.give_back()
    assert not taken.upload.exists()
    assert (place / "submission" / ".OTTER_LOG").read_bytes() == b"1"
    assert (place / "submission" / "a" / "b.py").read_bytes() == b"2"
    assert os.readlink(place / "submission" / "link.py") == "/dev/zero"


def test_fault_while_grading_gives_the_upload_back(place: Path, folder: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    folder(place / "submission", {"a.py": b"1"})
    monkeypatch.setattr(quarantine, "open_grader", fail)
    with pytest.raises(MemoryError):
        Quarantine(place).grade()
    assert (place / "submission" / "a.py").read_bytes() == b"1"


def test_source_is_closed_while_student_code_runs(place: Path) -> None:
    (place / "source").chmod(0o755)
    assert Quarantine(place).source.stat().st_mode & 0o777 == 0o700


def test_between_two_disks_links_are_kept_and_pipes_left_out(
    place: Path, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moving then copies, and must not read what a link leads to, or wait for a pipe."""

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    upload = folder(place / "submission", {"a.py": b"1", "a/b.py": b"2"})
    endless_link(upload / "up.zip")
    endless_link(upload / "a" / "down.py")
    pipe(upload / "pipe.py")
    pipe(upload / "a" / "pipe.py")
    monkeypatch.setattr(os, "rename", refuse)
    taken = Quarantine(place)
    taken._take()
    found = {path.relative_to(taken.upload).as_posix(): path for path in taken.upload.rglob("*")}
    assert set(found) == {"a.py", "a", "a/b.py", "a/down.py", "up.zip"}
    assert found["up.zip"].is_symlink() and found["a/down.py"].is_symlink()
    monkeypatch.undo()
    taken.give_back()
    assert zipfile.is_zipfile(place / "source" / "files" / "kit.whl")
