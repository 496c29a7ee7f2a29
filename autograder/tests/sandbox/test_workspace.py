"""What is left behind is counted and removed, however it is hidden."""

import math
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox import workspace
from autograder.tests.running import linux


@pytest.mark.slow
def test_stubborn_trees_are_removed(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d" * 200, dir_fd=here)
        here, before = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(before)
    os.close(here)
    (tmp_path / "link").symlink_to(Path(__file__).parent)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").touch()
    (tmp_path / "closed").chmod(0)
    assert workspace.usage(str(tmp_path)) == math.inf
    assert workspace.empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert Path(__file__).is_file()


def test_each_folder_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        (tmp_path / str(number) / "inner").mkdir(parents=True)
    looks, real = list[int](), os.scandir

    def look(place: int) -> Any:
        looks.append(place)
        return real(place)

    monkeypatch.setattr(os, "scandir", look)
    assert workspace.empty(str(tmp_path))
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == [] and len(looks) == 61


def test_usage_counts_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(10**6))
    (tmp_path / "loop").symlink_to(tmp_path)
    assert 10**6 <= workspace.usage(str(tmp_path)) < 10**6 + 20_000
    for number in range(workspace.MAX_ENTRIES):
        (tmp_path / str(number)).touch()
    assert workspace.usage(str(tmp_path)) == math.inf


@linux
def test_blocks_beyond_the_end_of_a_file_count(tmp_path: Path) -> None:
    import ctypes

    keep_size = 1
    with open(tmp_path / "file", "wb") as file:
        failed = ctypes.CDLL(None, use_errno=True).fallocate(
            file.fileno(), keep_size, ctypes.c_long(0), ctypes.c_long(2**22)
        )
    if failed:
        pytest.skip("no fallocate on this file system")
    assert (tmp_path / "file").stat().st_size == 0
    assert workspace.usage(str(tmp_path)) >= 2**22


@linux
def test_open_files_without_a_name_count() -> None:
    before = workspace.unlinked(os.getpid())
    with tempfile.TemporaryFile() as file:
        file.write(bytes(2**20))
        file.flush()
        assert workspace.unlinked(os.getpid()) - before >= 2**20
    assert workspace.unlinked(os.getpid()) == before


@linux
@pytest.mark.parametrize("flags", [mmap.MAP_PRIVATE, mmap.MAP_SHARED], ids=["private", "shared"])
def test_memory_of_a_process_is_what_it_has_for_itself(flags: int) -> None:
    before = workspace.memory(os.getpid())
    with mmap.mmap(-1, 2**26, flags=flags | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * 2**26)
        assert workspace.memory(os.getpid()) - before > 2**25
    assert workspace.memory(2**22 + 1) == 0


@linux
def test_folders_in_which_everybody_may_write_are_known() -> None:
    found = workspace.open_folders()
    assert {"/tmp", "/var/tmp"} <= {*found}
    assert ("/run/lock" in found) == (os.path.isdir("/run/lock") and bool(os.stat("/run/lock").st_mode & 0o002))


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make files of others")
def test_what_a_user_has_put_there_is_removed() -> None:
    places = [Path(place) / "stray-of-a-test" for place in workspace.open_folders() if os.access(place, os.W_OK)]
    for place in places:
        place.mkdir()
        os.chown(place, 59_998, 59_998)
    workspace.strays(59_998)
    assert [place for place in places if place.exists()] == []
