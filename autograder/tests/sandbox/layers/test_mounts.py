"""Mounts that only the fork server sees: what they bound and cover, tried in children of this process."""

import os
from pathlib import Path

import pytest

from autograder.sandbox.layers import mounts
from autograder.tests.running import HOLDING
from autograder.tests.sandbox.layers.test_landlock import in_child

pytestmark = pytest.mark.skipif("mounts" not in HOLDING, reason="needs a mount namespace")
SIZE = 2**20


def test_a_bounded_folder_takes_no_more_than_its_size(tmp_path: Path) -> None:
    def fill() -> None:
        mounts.separate()
        mounts.bounded(str(tmp_path), SIZE, 0o711)
        assert tmp_path.stat().st_mode & 0o777 == 0o711
        (tmp_path / "small").write_bytes(bytes(SIZE // 2))
        held = os.open(tmp_path / "unlinked", os.O_CREAT | os.O_WRONLY)
        os.unlink(tmp_path / "unlinked")
        assert os.write(held, bytes(SIZE)) < SIZE

    assert in_child(fill)
    assert list(tmp_path.iterdir()) == []


def test_a_bounded_folder_holds_no_endless_number_of_files(tmp_path: Path) -> None:
    def fill() -> None:
        mounts.separate()
        mounts.bounded(str(tmp_path), SIZE, 0o711)
        try:
            for number in range(mounts.MAX_ENTRIES + 1):
                os.mkdir(tmp_path / str(number))
        except OSError:
            return
        os._exit(3)

    assert in_child(fill)


def test_what_is_covered_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "secret").write_text("x")
    (tmp_path / "file").write_text("x")

    def look() -> None:
        mounts.separate()
        mounts.cover([tmp_path / "folder", tmp_path / "file", tmp_path / "nothing"])
        assert os.listdir(tmp_path / "folder") == []
        assert (tmp_path / "file").read_text() == ""

    assert in_child(look)
    assert (tmp_path / "folder" / "secret").read_text() == (tmp_path / "file").read_text() == "x"


def test_a_mount_can_be_taken_away_again(tmp_path: Path) -> None:
    def uncover() -> None:
        mounts.separate()
        mounts.bounded(str(tmp_path), SIZE, 0o711)
        (tmp_path / "x").touch()
        mounts.uncovered(str(tmp_path))
        assert list(tmp_path.iterdir()) == []

    assert in_child(uncover)


def test_without_the_capability_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.sandbox.layers.mounts.os.geteuid", lambda: 1000)
    assert "SYS_ADMIN" in mounts.missing()
