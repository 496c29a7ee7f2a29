"""Files and processes that a student's process leaves behind are measured and removed."""

import math
import mmap
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.sandbox import workspace
from autograder.tests.running import as_root, linux

UID = 54_322  # a user that nothing else has


def test_usage_counts_bytes_or_blocks_and_many_entries_as_infinite(tmp_path: Path) -> None:
    assert workspace.usage(str(tmp_path / "gone")) == 0
    (tmp_path / "inner").mkdir()
    folder = workspace.usage(str(tmp_path))
    with open(tmp_path / "inner/sparse", "wb") as file:
        file.truncate(10**6)
    assert workspace.usage(str(tmp_path)) - folder == 10**6
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "blocks").write_bytes(b"x")
    assert workspace.usage(str(tmp_path)) - folder - 10**6 in range(513, 70_000)  # a byte takes a block
    for number in range(workspace.MAX_ENTRIES - 4):
        (tmp_path / str(number)).touch()
    assert workspace.usage(str(tmp_path)) < math.inf
    (tmp_path / "more").touch()
    assert workspace.usage(str(tmp_path)) == math.inf


@linux
def test_unlinked_open_files_count(tmp_path: Path) -> None:
    assert workspace.unlinked(2**22 + 1) == 0
    before = workspace.unlinked(os.getpid())
    with open(tmp_path / "file", "w+b") as file, open(tmp_path / "kept", "wb") as kept:
        for opened in (file, kept):
            opened.write(b"x" * 10**6)
            opened.flush()
        os.unlink(tmp_path / "file")
        assert workspace.unlinked(os.getpid()) - before in range(10**6, 10**6 + 70_000)


def as_user(function: Callable[[str], None], *paths: Path) -> None:
    """Call a function as a user without rights, if this process can become one."""
    pid = os.fork()
    if not pid:
        try:
            if os.getuid() == 0:
                os.setresuid(UID, UID, UID)
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            for path in paths:
                function(str(path))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


@linux
@pytest.mark.parametrize("has_descriptors", [True, False])
def test_folders_are_emptied_whatever_is_in_them(has_descriptors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    folder, outside = place / "folder", place / "outside"
    for name in ("folder/a/b", "folder/closed/inner", "folder/c", "outside"):
        (place / name).mkdir(parents=True)
        (place / name / "file").touch()
        (place / name / "link").symlink_to(outside)
    if has_descriptors:  # too deep for recursion, and a path that is too long for one system call
        at = os.open(folder, os.O_RDONLY)
        for _ in range(1100):
            os.mkdir("long name", dir_fd=at)
            deeper = os.open("long name", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = deeper
        os.close(at)
    else:
        monkeypatch.setattr(os, "supports_dir_fd", set())
    if os.getuid() == 0:
        subprocess.run(["chown", "-R", str(UID), place], check=True)
    for closed in (folder / "closed", folder) if has_descriptors else (folder,):
        closed.chmod(0)
    as_user(workspace.clear, folder, place / "gone")
    assert os.listdir(folder) == [] and sorted(os.listdir(outside)) == ["file", "link"]
    assert folder.stat().st_mode & 0o777 == 0o711
    shutil.rmtree(place)


def test_new_temporary_folder_has_links_to_the_data(tmp_path: Path) -> None:
    submission, writable = tmp_path / "submission", tmp_path / "tmp"
    (submission / "folder").mkdir(parents=True)
    (writable / "own/old").mkdir(parents=True)
    for name in ("m.py", "data.txt"):
        (submission / name).write_text("x")
    uid = UID if os.getuid() == 0 else 0
    workspace.renew(str(writable / "own"), str(submission), uid)
    assert os.listdir(writable) == ["own"] and os.listdir(writable / "own") == ["data.txt"]
    assert (writable / "own/data.txt").read_text() == "x"
    status = (writable / "own").stat()
    assert (status.st_mode & 0o777, status.st_uid, status.st_gid) == (0o700, uid or os.getuid(), uid or os.getgid())
    os.chmod(submission, 0)
    workspace.renew(str(writable / "own"), str(submission), 0)
    assert submission.stat().st_mode & 0o777 == 0o750


@as_root
def test_strays_of_a_user_are_removed_from_shared_folders() -> None:
    paths = [Path(folder, f"stray-{number}") for folder in ("/tmp", "/dev/shm") for number in range(3)]
    paths = [path for path in paths if path.parent.is_dir()]
    try:
        for path in paths:
            path.mkdir() if path.name.endswith("0") else path.touch()
            if path.is_dir():
                (path / "inner").touch()
            os.chown(path, *(0, 0) if path.name.endswith("2") else (UID, UID))
        workspace.strays(UID)
        assert {path.name for path in paths if path.exists()} == {"stray-2"}
        assert {"/tmp", "/dev/shm"} >= {str(path.parent) for path in paths} <= {*workspace.open_folders()}
        assert "/usr" not in workspace.open_folders()
    finally:
        for path in paths:
            path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()


@linux
@pytest.mark.parametrize("flags", [mmap.MAP_PRIVATE, mmap.MAP_SHARED], ids=["private", "shared"])
def test_anonymous_memory_and_threads_of_a_process_count(flags: int) -> None:
    before, threads = workspace.status(os.getpid())
    with mmap.mmap(-1, 2**26, flags=flags | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * 2**26)
        assert 2**26 <= workspace.status(os.getpid())[0] - before < 2**26 + 2**23
    assert threads == len(os.listdir("/proc/self/task"))
    assert workspace.status(2**22 + 1) == (0, 0)


FAMILY = r"""
import os, time
if os.fork() == 0:
    os.setsid()
    os.fork()
os.write(1, b"%d\n" % os.getpid())
time.sleep(99)
"""


@linux
def test_family_of_a_process_ends_with_it(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE, env=environment) as first:
        assert first.stdout is not None
        family = [int(first.stdout.readline()) for _ in range(3)]
        unrelated = {os.getpid()}
        assert {*workspace._in_folder(str(tmp_path), unrelated, [family[0]])} == {*family[1:]}
        assert {os.getpid(), os.getppid()} <= unrelated and not {*family} & unrelated
        workspace.end_family(first, str(tmp_path))
    end = time.monotonic() + 9
    while time.monotonic() < end and any(map(workspace._environment, family)):
        time.sleep(0.01)
    assert not any(map(workspace._environment, family))


@linux
def test_children_are_found_with_and_without_their_file(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "99"]) as child:
        assert child.pid in workspace._children(os.getpid())
        assert workspace._children(child.pid) == set() == workspace._children(2**22 + 1)
        real = os.listdir
        monkeypatch.setattr(os, "listdir", lambda place: real(place) if place == "/proc" else real("/gone"))
        assert child.pid in workspace._children(os.getpid()) and workspace._children(child.pid) == set()
        child.kill()
