"""Limits of a process, its open files and its user, and system calls missing from Python's standard library.

If the grader is root, the student processes of each sandbox have a separate user. Sources: setrlimit(2), prctl(2).
"""

import contextlib
import ctypes
import os
import socket
import sys
import threading
from functools import cache
from pathlib import Path

LINUX = sys.platform == "linux"
DEATH_SIGNAL, DUMPABLE, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 36, 38  # attributes for `prctl`


@cache
def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """Return the result of a system call; raises OSError if it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process; raises OSError. Only Linux has these."""
    if LINUX:
        checked(libc().prctl(option, value, 0, 0, 0))


MAX_DESCRIPTORS = 65_536
THREAD_STACK = 2 * 2**20  # with the usual 8 MB, 47 threads use up the address space of a student's process


def limit(memory: int, file_size: int, seconds: int, open_files: int, threads: int | None) -> None:
    """Limit bytes, processor seconds and counts of this process. `threads` is None for no limit."""
    import resource as r  # POSIX systems only

    threading.stack_size(THREAD_STACK)
    limits = {r.RLIMIT_AS: memory, r.RLIMIT_FSIZE: file_size, r.RLIMIT_CPU: seconds, r.RLIMIT_NOFILE: open_files}
    limits |= {r.RLIMIT_CORE: 0, r.RLIMIT_DATA: memory}
    if LINUX:
        limits |= {r.RLIMIT_MSGQUEUE: 0} | ({} if threads is None else {r.RLIMIT_NPROC: threads})
    for kind, value in limits.items():
        hard = r.getrlimit(kind)[1]  # the grader's own may be lower
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


FIRST, LAST = 20_000, 59_999  # user ids of students' processes
BLOCK = 2  # ids per sandbox: one for its processes, one for their group
_CAPABILITIES = 0b11101011  # CAP_CHOWN 0, _DAC_OVERRIDE 1, _FOWNER 3, _KILL 5, _SETGID 6, _SETUID 7


def no_users() -> str:
    """Why this process cannot become other users; "" if it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root can become another user: run as root (in a container) to get this layer"
    if not LINUX:
        return ""
    with contextlib.suppress(OSError):
        status, uid_map = Path("/proc/self/status").read_text(), Path("/proc/self/uid_map").read_text()
        capabilities = int(status.partition("CapEff:")[2].split()[0], 16)
        spans = [(int(first), int(count)) for first, _, count in map(str.split, uid_map.splitlines())]
        has_ids = any(first <= FIRST and first + count > LAST for first, count in spans)
        if has_ids and capabilities & _CAPABILITIES == _CAPABILITIES:
            return ""
    return "this root may not become another user: give the container CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID"


def become_user(uid: int) -> None:
    """Permanently become a user of `claimed_users`, who is also in the group that may read the submission."""
    os.setgroups([uid + 1])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def claimed_users() -> tuple[int, socket.socket]:
    """Return the first of BLOCK ids that no user and no other sandbox has, and a socket that marks them until it closes.

    Two sandboxes with one user could signal each other's processes, and ending one would end the other's. An abstract
    socket marks the ids as used: it needs no file, and the kernel removes it with the process.
    """
    count = (LAST + 1 - FIRST) // BLOCK
    for number in range(os.getpid(), os.getpid() + count):  # each grader starts at a different id
        first, mark = FIRST + BLOCK * (number % count), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.suppress(OSError):  # another sandbox has them
            if LINUX:
                mark.bind(f"\0autograder-users-{first}")
            if not any(map(_exists, range(first, first + BLOCK))):
                return first, mark
        mark.close()
    raise OSError("no free user ID is left")


def _exists(uid: int) -> bool:
    import pwd  # POSIX systems only

    with contextlib.suppress(KeyError):
        return bool(pwd.getpwuid(uid))
    return False
