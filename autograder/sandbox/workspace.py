"""Measures and removes the files and processes that a student's process leaves behind.

Runs in the fork server. Trees may be hostile: too deep for recursion, paths too long for one system call, unreadable
folders, files that appear meanwhile. Links are never followed.
"""

import contextlib
import math
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

MAX_SWEEP_SECONDS = 20  # time to kill the processes left behind
QUIET_ROUNDS = 3  # rounds without a new process after which all have been found
MAX_ENTRIES = 2000  # more entries than this in the temporary folder count as a full disk


def renew(temporary: str, submission: str, uid: int) -> None:
    """Create the temporary folder for the next process, with links to the data of the submission; raises OSError."""
    writable = os.path.dirname(temporary)
    clear(writable)  # files of the previous process may remain
    os.mkdir(temporary, 0o700)
    os.chmod(temporary, 0o700)  # regardless of the umask
    if uid:
        os.chown(temporary, uid, uid)
    else:
        with contextlib.suppress(OSError):
            os.chmod(submission, 0o750)  # a process with our user may have removed our access
    for entry in os.scandir(submission):  # data files that code opens by name
        if entry.is_file(follow_symlinks=False) and not entry.name.endswith(".py"):
            os.symlink(entry.path, os.path.join(temporary, entry.name))


def clear(folder: str) -> None:
    """Empty a folder that a student's process could write to."""
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o711)  # a student process with our user may have removed our access
    empty(folder)


def usage(folder: str) -> float:
    """Return the bytes in a folder; infinite if it has too many entries or unreadable ones."""
    total, count, waiting = 0.0, 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_ENTRIES:
                        return math.inf
                    with contextlib.suppress(FileNotFoundError):
                        total += _bytes(entry.stat(follow_symlinks=False))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:
            return math.inf
    return total


def unlinked(pid: int) -> float:
    """Return the bytes of unlinked files that a process holds open, as far as they are visible."""
    total = 0.0
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                if stat.S_ISREG(status.st_mode) and not status.st_nlink:
                    total += _bytes(status)
    return total


def _bytes(status: os.stat_result) -> int:
    """Return the size of a file, or of its blocks if larger, since blocks can exist beyond the end of a file."""
    return max(status.st_size, 512 * getattr(status, "st_blocks", 0))


def status(pid: int) -> tuple[int, int]:
    """Return the bytes of a process's private memory, including page tables, and the number of its threads; 0 if unknown."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        text = Path(f"/proc/{pid}/status").read_text()
        # Without file pages, which are shared.
        kinds = ("Threads:", "RssAnon:", "RssShmem:", "VmPTE:")
        threads, *memory = (int(text.partition(kind)[2].split(maxsplit=1)[0]) for kind in kinds)
        return 1024 * sum(memory), threads
    return 0, 0


def empty(folder: str) -> bool:
    """Remove everything in a folder, regardless of depth, path length and permissions; False if something remains."""
    try:
        if os.rmdir in os.supports_dir_fd:
            _empty(os.open(folder, os.O_RDONLY))
        else:
            for entry in list(os.scandir(folder)):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    except OSError:
        return False
    return True


def _empty(folder: int) -> None:
    """Descend to a folder without subfolders, ascend and remove it, so that no path is longer than one name.

    Each folder is listed once: restarting after each of thousands of folders would take seconds.
    """
    names: list[str] = []
    try:
        remaining = [_folders(folder)]  # the remaining subfolders of this folder and of those above it
        while remaining[-1] or names:
            if remaining[-1]:
                names.append(remaining[-1].pop())
                os.chmod(names[-1], 0o700, dir_fd=folder)
                folder = _step(folder, names[-1])
                remaining.append(_folders(folder))
            else:
                remaining.pop()
                folder = _step(folder, "..")
                os.rmdir(names.pop(), dir_fd=folder)
    finally:
        os.close(folder)


def _step(folder: int, name: str) -> int:
    target = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    os.close(folder)
    return target


def _folders(folder: int) -> list[str]:
    """Return the names of the subfolders; everything else in the folder is removed."""
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return names


def open_folders() -> list[str]:
    """Return world-writable folders."""
    paths = []
    for parent in ("/", "/dev", "/run", "/var", "/var/lib", "/var/spool", "/mnt", "/srv", "/opt"):
        with contextlib.suppress(OSError), os.scandir(parent) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mode & stat.S_IWOTH:
                        paths.append(entry.path)
    return paths


def strays(uid: int) -> None:
    """Remove files of a student's user from world-writable folders."""
    paths = []
    for folder in open_folders():
        with contextlib.suppress(OSError):
            paths += [os.path.join(folder, name) for name in os.listdir(folder)]
    for path in paths:
        with contextlib.suppress(OSError):  # other programs' files may vanish while they are listed
            status = os.lstat(path)
            if status.st_uid == uid and stat.S_ISDIR(status.st_mode):
                empty(path)
                os.rmdir(path)
            elif status.st_uid == uid:
                os.unlink(path)


def end(pid: int, uid: int) -> float:
    """Kill a child, its group, all their descendants, and all other processes of its user; returns its processor time.

    Escaped processes are now descendants of this one.
    """
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    used = os.wait4(pid, 0)[2]
    while _children(os.getpid()):
        if uid:
            _kill_all_of(uid)
        for escaped in _killed(_descendants):  # parents first, so that their children become ours
            with contextlib.suppress(ChildProcessError):
                os.waitpid(escaped, 0)
    return used.ru_utime + used.ru_stime


def end_family(single: "subprocess.Popen[bytes]", temporary: str) -> None:
    """Kill a student's process without a fork server, its group, and every process with the same temporary folder."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(single.pid, signal.SIGKILL)
    single.kill()
    single.wait()
    end = time.monotonic() + MAX_SWEEP_SECONDS
    while _killed(partial(_in_folder, temporary, set())) and time.monotonic() < end:
        pass  # processes may need a moment to end


def _killed(appeared: Callable[[Container[int]], Iterable[int]]) -> list[int]:
    """Stop the processes of a family until no new one appears for a while, then kill them all.

    Processes that fork and exit cannot be killed one by one, since each has a successor before it is killed. A stopped
    one no longer forks. `appeared` finds processes other than the known ones; each is stopped before the search
    continues.
    """
    family, quiet, end = dict[int, None](), 0, time.monotonic() + MAX_SWEEP_SECONDS
    while quiet < QUIET_ROUNDS and time.monotonic() < end:
        quiet += 1
        for pid in appeared(family):
            if os.name == "posix":
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            family[pid], quiet = None, 0
    for pid in reversed(family):  # children first: the kernel resumes some whose parent ends
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    return list(family)


def _descendants(family: Container[int]) -> Iterator[int]:
    """Yield the unknown descendants of this process. The children of a process are listed after it has been stopped."""
    waiting = [os.getpid()]
    while waiting:
        for child in _children(waiting.pop()):
            if child not in family:
                yield child
            waiting.append(child)


def _children(pid: int) -> set[int]:
    """Return the children of all threads of a process."""
    children = set[int]()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            children.update(map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split()))
    except FileNotFoundError:  # the process has ended, or this kernel has no such file
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError, IndexError):
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid:
                    children.add(int(entry))
    return children


def _in_folder(temporary: str, unrelated: set[int], family: Container[int]) -> Iterator[int]:
    """Yield the unknown processes with a temporary folder, except the `unrelated` ones, which this updates."""
    import psutil

    pids = psutil.pids()
    unrelated.intersection_update(pids)  # pids are reused
    for pid in sorted(pids, reverse=True):  # youngest first, because it is the one that still forks
        if pid in unrelated or pid in family:
            continue
        if _environment(pid).get("TMPDIR") == temporary:
            yield pid
        else:
            unrelated.add(pid)


def _environment(pid: int) -> dict[str, str]:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return dict(process.environ())
    return {}


def _kill_all_of(uid: int) -> None:
    """Kill every process of a user at once, so that none can escape by forking."""
    killer = os.fork()
    if killer == 0:
        try:
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(killer, 0)
