"""Mounts that only the fork server and its children see: they vanish with them. Sources: mount_namespaces(7), mount(2), tmpfs(5).

Four uses: each temporary folder is a file system of its own, of a fixed size, so that nothing that a process holds (open files
without a name, blocks beyond the end of a file) takes up the disk of the results; what no student may read is covered;
what several processes read tells none of them what the others have read; and none is told which other processes there are.
"""

import contextlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from autograder.sandbox.layers.kernel import checked, libc

MAX_ENTRIES = 4_000  # files and folders in one temporary folder
_CLONE_NEWNS = 0x20000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_NOATIME = 1, 2, 4, 8, 32, 1024
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MNT_DETACH = 2
_CAP_SYS_ADMIN = 21


def missing() -> str:
    """Why there can be no mounts of our own, "" if there can."""
    advice = "only root with the capability SYS_ADMIN may mount: temporary folders are then watched instead of bounded"
    try:
        held = int(Path("/proc/self/status").read_text().partition("CapEff:")[2].split()[0], 16)
    except (OSError, IndexError, ValueError):
        return advice
    if os.geteuid() != 0 or not held >> _CAP_SYS_ADMIN & 1:
        return advice
    refused = "this root may not make a mount namespace: a container may forbid it by seccomp or AppArmor"
    return "" if _tried() else refused


@cache
def _tried() -> bool:
    """Whether a child of this process can do it: capabilities alone do not tell."""
    child = os.fork()
    if child == 0:
        try:
            separate()
            cover([Path("/dev")])
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def separate() -> None:
    """Give this process mounts of its own, which nobody else sees, and which end with it and its children."""
    checked(libc().unshare(_CLONE_NEWNS))
    checked(libc().mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))


def hide_processes() -> None:
    """Show in /proc to each user outside of root's group only processes of its own, where the container allows that."""
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    with contextlib.suppress(OSError):
        checked(libc().mount(b"proc", b"/proc", b"proc", flags, b"hidepid=2,gid=0"))


def bounded(folder: str, size: int, mode: int) -> None:
    """Put a file system of `size` bytes in the memory, with an empty folder of this mode, over a folder."""
    options = f"size={size},nr_inodes={MAX_ENTRIES},mode={mode:o}".encode()
    checked(libc().mount(b"tmpfs", os.fsencode(folder), b"tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options))


def filled(folder: str) -> int:
    """Bytes that the file system of a folder holds."""
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def cover(places: Iterable[Path]) -> None:
    """Put an empty folder over each folder, and an empty file over each file."""
    for place in places:
        if place.is_dir():
            options = b"size=4096,nr_inodes=2,mode=000"
            checked(libc().mount(b"tmpfs", os.fsencode(place), b"tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, options))
        elif place.is_file():
            checked(libc().mount(b"/dev/null", os.fsencode(place), None, _MS_BIND, None))


def without_times(places: Iterable[str]) -> None:
    """Make places read-only, and keep no times of who reads them, where the container allows that."""
    for place in map(os.fsencode, filter(os.path.exists, places)):
        with contextlib.suppress(OSError):
            checked(libc().mount(place, place, None, _MS_BIND | _MS_REC, None))
            flags = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOATIME
            checked(libc().mount(None, place, None, _MS_REMOUNT | _MS_BIND | flags, None))


def uncovered(folder: str) -> None:
    """Take a mount away again, whatever still uses it."""
    libc().umount2(os.fsencode(folder), _MNT_DETACH)
