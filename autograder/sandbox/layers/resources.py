"""Limits of the kernel on one process. Source: setrlimit(2)."""

import contextlib
import threading
from dataclasses import dataclass

from autograder.sandbox.layers.kernel import LINUX

THREAD_STACK = 2 * 2**20  # with the usual 8 MB, 47 threads use up all memory that a student's process may address


@dataclass(frozen=True)
class Resources:
    """What one process may use: bytes, seconds, numbers."""

    memory: int
    file_size: int
    processor_seconds: int
    threads: int
    open_files: int


def limit(resources: Resources, own_user: bool) -> None:
    """Limit this process. Threads are counted by user, so only where the process has a user of its own."""
    import resource as r  # POSIX systems only

    threading.stack_size(THREAD_STACK)
    wanted = {
        r.RLIMIT_AS: resources.memory,
        r.RLIMIT_FSIZE: resources.file_size,
        r.RLIMIT_CPU: resources.processor_seconds,
        r.RLIMIT_NOFILE: resources.open_files,
        r.RLIMIT_CORE: 0,
    }
    if own_user and LINUX:
        wanted[r.RLIMIT_NPROC] = resources.threads
    if LINUX:
        wanted[r.RLIMIT_MSGQUEUE] = 0
    for kind, value in wanted.items():
        hard = r.getrlimit(kind)[1]
        ceiling = value if hard == r.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS knows no limit on the address space
            r.setrlimit(kind, (ceiling, ceiling))
