"""The processes that grade: on this machine a pool of them, on a cluster whatever Dask has; both can be made anew.

Before anything is sent to a cluster, every worker is asked whether it has the kit, and the same one: a worker without it would
never answer, and one with another rubric would give other grades.
"""

import contextlib
import importlib
import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

from autograder.cohort import digest, worker
from autograder.faults import ArgumentsError
from autograder.sandbox.limits import Limits

CONNECT = "15s"  # patience with a scheduler
NAMED = 3  # workers that a message names


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


def cluster(address: str) -> Pool:
    """The workers of a Dask scheduler. Raises ArgumentsError where there is no cluster to grade on."""
    try:
        import distributed  # an extra, and slow to import
    except ImportError:
        raise ArgumentsError(f"--cluster {address}: needs Dask: pip install -e '.[cluster]'") from None
    logging.disable()  # Dask logs tracebacks of what is a line of ours
    try:
        client: Any = distributed.Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:  # a wrong address may be a ValueError, an OSError, a TimeoutError, a TypeError
        advice = "give its address, as tcp://host:8786"
        raise ArgumentsError(f"--cluster {address}: there is no Dask scheduler ({error}); {advice}") from error
    try:
        _check(client, address)
    except BaseException:
        _end(client)
        raise
    return Pool(client.get_executor, len(client.nthreads()), partial(_end, client))


def _end(client: Any) -> None:
    try:
        client.close()
    finally:
        logging.disable(logging.NOTSET)


def _check(client: Any, address: str) -> None:
    """The workers of a Dask scheduler. Raises ArgumentsError unless every worker has this kit."""
    if not client.nthreads():
        raise ArgumentsError(
            f"--cluster {address}: the scheduler has no workers; start some with `dask worker {address}`"
        )
    # A function of the standard library: one of ours could not even arrive where the kit is missing.
    there = client.run(importlib.import_module, "autograder", on_error="return")
    without = [worker for worker, found in there.items() if isinstance(found, BaseException)]
    if without:
        raise ArgumentsError(
            f"--cluster {address}: {_named(without)} cannot import the kit; install it there as it is here"
        )
    kits: Mapping[str, Any] = client.run(digest.of_kit, on_error="return")
    others = [worker for worker, found in kits.items() if found != digest.of_kit()]
    if others:
        what = "another kit (rubric, solutions, package, NumPy or Python) than this command"
        advice = "install the same everywhere and start the workers anew"
        raise ArgumentsError(f"--cluster {address}: {_named(others)} has {what}; {advice}")


def _named(workers: list[str]) -> str:
    more = f" and {len(workers) - NAMED} more" if len(workers) > NAMED else ""
    return f"worker {', '.join(workers[:NAMED])}{more}"


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until this is over."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, worker.ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
