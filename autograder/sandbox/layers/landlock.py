"""Landlock: restricts the files that a process may read and write. Source: landlock(7), ABI 1 to 7."""

import contextlib
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox.layers.kernel import LINUX, checked, libc

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # system call numbers, the same on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_NOT_MADE = 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11  # character devices, sockets, pipes, block devices
_READ = _READ_FILE | _READ_DIR
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def abi() -> int:
    """Return the Landlock version of the running kernel, 0 without Landlock."""
    return max(0, int(libc().syscall(_CREATE, None, 0, 1))) if LINUX else 0


def nothing() -> int:
    """Rules that allow no access to files; returns a descriptor for `restrict`."""
    version = abi()
    network = 0b11 if version >= 4 else 0
    scoped = 0b11 if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = struct.pack("<QQQ", _everything(version), network, scoped)[:size]
    return checked(libc().syscall(_CREATE, attributes, size, 0))


def rules(readable: Iterable[Path], writable: Path) -> int:
    """Rules that allow reading `readable`, and everything in `writable` but devices, sockets and pipes; returns a descriptor."""
    ruleset = nothing()
    for path in readable:
        _allow(ruleset, path, _READ)
    for device in _DEVICES:
        _allow(ruleset, Path(device), _READ | _WRITE_FILE)
    _allow(ruleset, writable, _everything(abi()) & ~_NOT_MADE & ~_EXECUTE)
    return ruleset


def restrict(ruleset: int) -> None:
    """Apply these rules to this process, or this thread if there are several, permanently, and close them."""
    try:
        checked(libc().syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)  # student code must not extend the rules


def _everything(version: int) -> int:
    newer = (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0) | (_IOCTL if version >= 5 else 0)
    return (1 << 13) - 1 | newer


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = rights if path.is_dir() else rights & _FOR_FILES
        checked(libc().syscall(_ADD_RULE, ruleset, 1, struct.pack("<Qi", allowed, target), 0))
    finally:
        os.close(target)


def without(roots: Iterable[str], holes: list[Path]) -> Iterable[Path]:
    """Yield the roots without closed places: a root that contains one is replaced by its entries, as Landlock only allows."""
    for root in map(Path, roots):
        if any(root.is_relative_to(hole) for hole in holes):
            continue
        if any(hole.is_relative_to(root) for hole in holes):
            with contextlib.suppress(OSError):
                yield from without([str(entry.resolve()) for entry in root.iterdir()], holes)
        elif root.exists():
            yield root
