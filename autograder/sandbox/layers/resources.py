"""Limits of a new process: kernel limits (setrlimit(2)) and open files."""

import contextlib
import os
import threading

from autograder.sandbox.layers.kernel import LINUX

MAX_DESCRIPTORS = 65_536
THREAD_STACK = 2 * 2**20  # with the usual 8 MB, 47 threads use up the address space of a student's process


def limit(*, memory: int, file_size: int, seconds: int, open_files: int, threads: int | None) -> None:
    """Limit bytes, processor seconds and counts of this process. `threads` is None for no limit."""
    import resource as r  # POSIX systems only

    threading.stack_size(THREAD_STACK)
    wanted = {r.RLIMIT_AS: memory, r.RLIMIT_FSIZE: file_size, r.RLIMIT_CPU: seconds, r.RLIMIT_NOFILE: open_files}
    wanted[r.RLIMIT_CORE] = 0
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
