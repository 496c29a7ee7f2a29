"""Where a process lives: a temporary folder of its own, made anew each time, whatever the process before has done."""

import os
from pathlib import Path

import pytest

from autograder.sandbox.box import Slot
from autograder.tests.running import as_root

FILES = {"m.py": b"x = 1", "data.txt": b"text", "folder/inner.py": b"y = 2"}


@pytest.fixture
def submission(tmp_path: Path) -> str:
    for name, content in FILES.items():
        target = tmp_path / "submission" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (tmp_path / "slots").mkdir()
    return str(tmp_path / "submission")


def opened(tmp_path: Path, uid: int = 0) -> Slot:
    slot = Slot(str(tmp_path / "slots"), 3, uid)
    slot.make(0)
    return slot


def content(folder: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_each_process_gets_a_fresh_folder(tmp_path: Path, submission: str) -> None:
    slot = opened(tmp_path)
    found = []
    for _ in range(2):
        slot.renew(submission)
        assert os.listdir(slot.temporary) == ["data.txt"]
        assert Path(slot.temporary, "data.txt").read_bytes() == b"text"
        found.append(os.stat(slot.temporary).st_ctime_ns)
        Path(slot.temporary, "left").write_text("left")
        Path(slot.writable).chmod(0)
        Path(submission).chmod(0)
        slot.clear()
        assert os.listdir(slot.writable) == []
    assert found[0] < found[1]
    assert content(submission) == FILES


def test_a_fresh_folder_does_not_need_the_one_before_to_be_gone(tmp_path: Path, submission: str) -> None:
    slot = opened(tmp_path)
    slot.renew(submission)
    Path(slot.temporary, "left").write_text("left")
    slot.renew(submission)
    assert os.listdir(slot.temporary) == ["data.txt"]


def test_links_in_place_of_folders_are_not_followed(tmp_path: Path, submission: str) -> None:
    slot = opened(tmp_path)
    slot.renew(submission)
    Path(slot.temporary, "data.txt").unlink()
    os.rmdir(slot.temporary)
    os.symlink(submission, slot.temporary)
    slot.clear()
    assert content(submission) == FILES
    slot.renew(submission)
    assert not os.path.islink(slot.temporary)


def test_nothing_is_left_of_a_slot(tmp_path: Path, submission: str) -> None:
    slot = opened(tmp_path)
    slot.renew(submission)
    slot.remove()
    assert os.listdir(slot.slots) == []


@as_root
def test_only_its_own_user_gets_there(tmp_path: Path, submission: str) -> None:
    slot = opened(tmp_path, 54_321)
    slot.renew(submission)
    modes = {path: os.stat(path) for path in (slot.path, slot.writable, slot.temporary)}
    assert {path: oct(found.st_mode & 0o777) for path, found in modes.items()} == {
        slot.path: "0o710", slot.writable: "0o711", slot.temporary: "0o700",
    }  # fmt: skip
    assert (modes[slot.path].st_uid, modes[slot.path].st_gid) == (0, 54_321)
    assert modes[slot.temporary].st_uid == 54_321
