"""The sandbox's folder, and what of the machine a student's process may see."""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from autograder.sandbox import folders, workspace
from autograder.sandbox.folders import Folder, closed_places, reachable, readable_by_others
from autograder.tests.running import HOLDING, as_root, linux

OWN_USERS = "user" in HOLDING


def test_a_submission_lies_where_only_the_grader_and_its_processes_read_it() -> None:
    folder = Folder(OWN_USERS)
    folder.place({"m.py": b"a\nb\n", "folder/n.py": b"a", "other/m.py": b"a\n" * 9})
    assert folder.lines == {"m.py": 10, "n.py": 1}
    assert folder.submission.stat().st_mode & 0o777 == 0o750
    assert folder.submission.stat().st_gid == (folder.group or os.getgid())
    assert {path.stat().st_mode & 0o777 for path in folder.submission.rglob("*.py")} == {0o640}
    assert folder.path.stat().st_mode & 0o777 == (0o711 if OWN_USERS else 0o700)
    folder.place({"x.py": b""})
    assert os.listdir(folder.submission) == ["x.py"] and folder.lines == {"x.py": 1}
    folder.remove()
    folder.remove()
    assert not folder.path.exists()


@as_root
def test_a_temporary_folder_that_other_users_cannot_reach_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    folder = Folder(True)
    assert closed not in folder.path.parents
    folder.remove()
    monkeypatch.setattr(folders, "reachable", lambda path: False)
    with pytest.raises(OSError, match="set TMPDIR"):
        Folder(True)


def test_the_kit_and_other_packages_are_closed(tmp_path: Path) -> None:
    found = closed_places([tmp_path / "solutions"])
    assert str(folders.PACKAGE) in found and str(tmp_path / "solutions") in found
    assert any(Path(np.__file__).is_relative_to(place) for place in found)


@linux
def test_what_others_may_reach_and_read(tmp_path: Path) -> None:
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    inner = place / "inner"
    inner.mkdir(mode=0o700)
    for outer_mode, inner_mode, may_reach, may_read in (
        (0o711, 0o700, False, False), (0o711, 0o711, True, True), (0o700, 0o755, False, False), (0o755, 0o704, False, True),
    ):  # fmt: skip
        place.chmod(outer_mode)
        inner.chmod(inner_mode)
        assert (reachable(inner), readable_by_others(inner)) == (may_reach, may_read)
    shutil.rmtree(place)


FILES = {"m.py": b"x = 1", "data.txt": b"text", "folder/inner.py": b"y = 2"}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_process_gets_a_fresh_temporary_folder() -> None:
    folder = Folder(OWN_USERS)
    folder.place(FILES)
    temporary = folder.writable / "own"
    times = []
    for _ in range(2):
        workspace.renew(str(temporary), str(folder.submission), folder.uid)
        assert os.listdir(temporary) == ["data.txt"] and (temporary / "data.txt").read_bytes() == b"text"
        assert (temporary.stat().st_mode & 0o777, temporary.stat().st_uid) == (0o700, folder.uid or os.getuid())
        times.append(temporary.stat().st_ctime_ns)
        (temporary / "left").write_text("left")  # also where nobody has cleared it
        folder.writable.chmod(0)
        folder.submission.chmod(0)
    assert times[0] < times[1]
    workspace.clear(str(folder.writable))
    assert os.listdir(folder.writable) == [] and content(folder.submission) == FILES
    folder.remove()


def test_links_in_place_of_the_temporary_folder_are_not_followed() -> None:
    folder = Folder(OWN_USERS)
    folder.place(FILES)
    temporary = folder.writable / "own"
    temporary.symlink_to(folder.submission)
    workspace.renew(str(temporary), str(folder.submission), folder.uid)
    assert not temporary.is_symlink() and content(folder.submission) == FILES
    folder.remove()
