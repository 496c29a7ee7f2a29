"""The sandbox's folder: who may read it, and the memory of a process."""

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


@linux
@pytest.mark.parametrize("flags", [mmap.MAP_PRIVATE, mmap.MAP_SHARED], ids=["private", "shared"])
def test_anonymous_memory_of_a_process_counts(flags: int) -> None:
    before = workspace.status(os.getpid())[0]
    with mmap.mmap(-1, 2**26, flags=flags | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * 2**26)
        assert workspace.status(os.getpid())[0] - before > 2**25
    assert workspace.status(2**22 + 1) == (0, 0)
