"""The sandbox's folder: who may read it, and that everything left behind is counted and removed."""

import ctypes
import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import sandbox as folders
from autograder.sandbox import workspace
from autograder.sandbox.sandbox import Folder, reachable, readable_by_others
from autograder.tests.running import HOLDING, as_root, linux

OWN_USERS = "user" in HOLDING


@pytest.fixture
def folder() -> Iterator[Folder]:
    made = Folder(OWN_USERS)
    yield made
    made.remove()
    made.remove()
    assert not made.path.exists()


def test_submission_is_readable_only_by_the_grader_and_its_processes(folder: Folder) -> None:
    folder.write({"m.py": b"a\nb\n", "folder/n.py": b"a", "other/m.py": b"a\n" * 9})
    assert folder.lines == {"m.py": 10, "n.py": 1}
    assert folder.submission.stat().st_mode & 0o777 == 0o750
    assert folder.submission.stat().st_gid == (folder.group or os.getgid())
    assert {path.stat().st_mode & 0o777 for path in folder.submission.rglob("*.py")} == {0o640}
    assert folder.path.stat().st_mode & 0o777 == (0o711 if OWN_USERS else 0o700)
    folder.write({"x.py": b""})
    assert os.listdir(folder.submission) == ["x.py"] and folder.lines == {"x.py": 1}


@as_root
def test_temporary_folder_that_other_users_cannot_reach_is_not_used(
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


@linux
def test_paths_that_others_can_reach_and_read() -> None:
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


def test_each_process_gets_a_new_temporary_folder(folder: Folder) -> None:
    folder.write(FILES)
    temporary = folder.writable / "own"
    temporary.symlink_to(folder.submission)  # a link in its place is not followed
    times = []
    for _ in range(2):
        folder.writable.chmod(0)  # code that runs as the grader's user can do this
        folder.submission.chmod(0)
        workspace.renew(str(temporary), str(folder.submission), folder.uid)
        assert not temporary.is_symlink() and os.listdir(temporary) == ["data.txt"]
        assert (temporary / "data.txt").readlink() == folder.submission / "data.txt"  # a link rather than a copy
        assert (temporary.stat().st_mode & 0o777, temporary.stat().st_uid) == (0o700, folder.uid or os.getuid())
        times.append(temporary.stat().st_ctime_ns)
        (temporary / "left").write_text("left")  # removed even if the folder was not cleared
    assert times[0] < times[1]
    workspace.clear(str(folder.writable))
    assert os.listdir(folder.writable) == [] and content(folder.submission) == FILES


# Files left behind are counted and removed


def test_usage_counts_bytes_and_entries(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(10**6))
    (tmp_path / "loop").symlink_to(tmp_path)
    assert 10**6 <= workspace.usage(str(tmp_path)) < 10**6 + 20_000
    for number in range(workspace.MAX_ENTRIES):
        (tmp_path / str(number)).touch()
    assert workspace.usage(str(tmp_path)) == math.inf


@linux
def test_blocks_beyond_the_end_of_a_file_and_unlinked_files_count(tmp_path: Path) -> None:
    keep_size, none, size = 1, ctypes.c_long(0), ctypes.c_long(2**22)
    with open(tmp_path / "file", "wb") as file:
        if ctypes.CDLL(None, use_errno=True).fallocate(file.fileno(), keep_size, none, size):
            pytest.skip("no fallocate on this file system")
        assert workspace.unlinked(os.getpid()) < 2**22 <= workspace.usage(str(tmp_path))
        (tmp_path / "file").unlink()
        assert workspace.usage(str(tmp_path)) == 0 and workspace.unlinked(os.getpid()) >= 2**22


@linux
@pytest.mark.parametrize("flags", [mmap.MAP_PRIVATE, mmap.MAP_SHARED], ids=["private", "shared"])
def test_anonymous_memory_of_a_process_counts(flags: int) -> None:
    before = workspace.status(os.getpid())[0]
    with mmap.mmap(-1, 2**26, flags=flags | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * 2**26)
        assert workspace.status(os.getpid())[0] - before > 2**25
    assert workspace.status(2**22 + 1) == (0, 0)


@as_root
def test_files_in_world_writable_folders_are_removed_even_if_others_vanish(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = workspace.open_folders()
    assert {"/tmp", "/var/tmp"} <= {*found}
    places = [Path(place) / "stray-of-a-test" for place in found if os.access(place, os.W_OK)]
    for place in places:
        place.mkdir()
        os.chown(place, 59_998, 59_998)
    names = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: ["vanished", *names(folder)])
    workspace.strays(59_998)
    assert [place for place in places if place.exists()] == []
