"""Limits of the kernel on one process. Source: setrlimit(2)."""

import contextlib
import threading

from autograder.sandbox.layers.kernel import LINUX

THREAD_STACK = 2 * 2**20  # with the usual 8 MB, 47 threads use up all memory that a student's process may address


def limit(*, memory: int, file_size: int, seconds: int, open_files: int, threads: int | None) -> None:
    """Limit this process: bytes, processor seconds, numbers; None: not the threads."""
    import resource as r  # POSIX systems only

    threading.stack_size(THREAD_STACK)
    wanted = {
        r.RLIMIT_AS: memory,
        r.RLIMIT_FSIZE: file_size,
        r.RLIMIT_CPU: seconds,
        r.RLIMIT_NOFILE: open_files,
        r.RLIMIT_CORE: 0,
    }
    if threads is not None and LINUX:
        wanted[r.RLIMIT_NPROC] = threads
    if LINUX:
        wanted[r.RLIMIT_MSGQUEUE] = 0
    for kind, value in wanted.items():
        hard = r.getrlimit(kind)[1]
        ceiling = value if hard == r.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS knows no limit on the address space
            r.setrlimit(kind, (ceiling, ceiling))
