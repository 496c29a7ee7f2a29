"""System calls missing from Python's standard library. Sources: prctl(2), landlock(7), seccomp(2)."""

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
    """The result of a system call; raises OSError if it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def hide_memory() -> bool:
    """Make the memory of this process unreadable to others of the same user."""
    return LINUX and libc().prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0


def adopt_orphans() -> None:
    """Become the parent of processes that escape from a student's process, so that they can be found."""
    if LINUX:
        libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> None:
    """Die with the parent. Call this after a change of user, which resets it."""
    if LINUX:
        libc().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


def forbid_new_privileges() -> None:
    """Forbid gaining rights by starting a program, for example by setuid. Landlock and seccomp require this if not root."""
    checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
