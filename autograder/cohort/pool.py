"""The processes that grade: on this machine a pool of them, on a cluster whatever Dask has; both can be made anew."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from autograder.cohort import worker
from autograder.sandbox.limits import Limits


class Pool:
    """An executor that can be made anew: `make` makes it. It works on `width` submissions at a time."""

    def __init__(self, make: Callable[[], Executor], width: int, close: Callable[[], object] = lambda: None):
        self.make, self.width, self.close = make, width, close
        self.executor = make()

    def submit(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        # A process inherits what its parent blocks: Ctrl-C must not reach a worker before it has said how it takes it.
        with undisturbed():
            return self.executor.submit(function, *args)

    def renew(self) -> None:
        self.end()
        self.executor = self.make()

    def end(self) -> None:
        """End the workers now, whatever they do."""
        processes = getattr(self.executor, "_processes", None) or {}
        for process in list(processes.values()):
            with contextlib.suppress(OSError, ValueError):
                process.kill()
        self.executor.shutdown(wait=bool(processes))


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def patience(limits: Limits) -> float:
    """Seconds without any result after which a worker must be stuck: far more than any submission may take."""
    return 2 * limits.submission_seconds * limits.wall_factor + 60


def local(jobs: int) -> Pool:
    """Worker processes on this machine; started fresh, since a process with threads is not safely forked."""
    context = get_context("spawn")

    def make() -> Executor:
        started = context.Value("i", 0)
        return ProcessPoolExecutor(jobs, mp_context=context, initializer=worker.start, initargs=(started,))

    return Pool(make, jobs)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C waits until this is over."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
