"""Limits of a process and its open files, and system calls missing from Python's standard library.

Sources: setrlimit(2), prctl(2), landlock(7), seccomp(2).
"""

import contextlib
import ctypes
import os
import sys
import threading
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


MAX_DESCRIPTORS = 65_536
THREAD_STACK = 2 * 2**20  # with the usual 8 MB, 47 threads use up the address space of a student's process


def limit(*, memory: int, file_size: int, seconds: int, open_files: int, threads: int | None) -> None:
    """Limit bytes, processor seconds and counts of this process. `threads` is None for no limit."""
    import resource as r  # POSIX systems only

    threading.stack_size(THREAD_STACK)
    wanted = {r.RLIMIT_AS: memory, r.RLIMIT_FSIZE: file_size, r.RLIMIT_CPU: seconds, r.RLIMIT_NOFILE: open_files}
    wanted[r.RLIMIT_CORE] = 0
    wanted[r.RLIMIT_DATA] = memory  # the grader's own may be lower
    if threads is not None and LINUX:
        wanted[r.RLIMIT_NPROC] = threads
    if LINUX:
        wanted[r.RLIMIT_MSGQUEUE] = 0
    for kind, value in wanted.items():
        hard = r.getrlimit(kind)[1]
        ceiling = value if hard == r.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS has no limit on the address space
            r.setrlimit(kind, (ceiling, ceiling))


def close_all_but(*descriptors: int) -> None:
    """Close every other descriptor; no later layer restricts files that are already open."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    first = 3
    for number in sorted(number for number in descriptors if number > 2):
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, MAX_DESCRIPTORS)
