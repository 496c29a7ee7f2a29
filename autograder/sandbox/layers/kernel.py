"""Calls of the C library that Python's standard library does not have. Sources: prctl(2), landlock(7), seccomp(2)."""

import ctypes
import os
import sys
from functools import cache

LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """What a system call returned; raises OSError where it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def hide_memory() -> bool:
    """Make this process unreadable to others of the same user."""
    return LINUX and libc().prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0


def adopt_orphans() -> None:
    """Let processes that escape from a student's process become children of this one, so that they can be found."""
    if LINUX:
        libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Be killed when the parent ends. A change of user forgets this, so that comes first."""
    if LINUX:
        libc().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


def forbid_new_privileges() -> None:
    """Gain no rights by starting a program, as by setuid. Landlock and seccomp demand this of processes without rights."""
    checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
