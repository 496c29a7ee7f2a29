"""The worker processes: a local pool, or a Dask cluster; both can be restarted.

Each worker records the suites and starts a sandbox once, and grades one submission at a time. Arguments and results are plain data,
so any `concurrent.futures` executor can run these functions. Before a cluster gets any work, every worker must report the digest of
its kit: a worker without the kit would never answer, and one with another rubric would give other grades. The digests also decide
whether a result of an earlier run is still valid.
"""

import contextlib
import hashlib
import importlib
import json
import logging
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict
from functools import cache, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import numpy as np

from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.feedback import results
from autograder.gradebook import class_statistics
from autograder.grading.grader import Grader, open_grader
from autograder.homework import kit, rubric
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Submission

# The packages that grade a submission.
GRADING = ("values", "sandbox", "homework", "submissions", "grading", "feedback")
AFTERWARDS = ("due", "late", "uploads", "missing")  # keys of the rubric that apply after grading
READ = (".py", ".j2", ".yaml", ".ini", ".json")  # types of files that these packages read


def submission_digest(submission: Submission) -> str:
    """The digest of all usable files and all notes of a submission, regardless of its student."""
    parts = [text for path in sorted(submission.files) for text in (path.encode(), submission.files[path])]
    notes = [repr(note).encode("utf-8", "surrogatepass") for note in submission.refused]
    return _digest([*parts, b"notes", *notes])


@cache
def kit_digest() -> str:
    """The digest of rubric, solutions and all files that grading uses, and of the versions of NumPy and Python."""
    versions = [np.__version__, platform.python_implementation(), platform.python_version(), platform.machine()]
    # The rubric as data: comments change no grade.
    rules = {key: value for key, value in rubric.current().model_dump().items() if key not in AFTERWARDS}
    parts = [*versions, json.dumps(rules, sort_keys=True)]
    named = [part for name, path in sorted(_files().items()) for part in (name.encode(), path.read_bytes())]
    return _digest([*(part.encode() for part in parts), *named])


def _files() -> dict[str, Path]:
    """Everything that grading reads, once each, by a name that is the same in a clone and in a wheel."""
    folders = {package: kit.PACKAGE / package for package in GRADING} | {"solutions": kit.solutions()}
    folders |= {"suites": kit.suites(), "misconceptions": kit.misconceptions()}
    if rubric.current().tests:
        folders["alternatives"] = kit.alternatives()
    names = {  # the packaged suites and misconceptions are part of a package
        path: f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in folders.items()
        for path in folder.rglob("*")
        if path.suffix in READ
    }
    return {name: path for path, name in names.items()}


def _digest(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "big"))
        total.update(part)
    return total.hexdigest()


# In a worker process

ENDING = {signal.SIGINT, signal.SIGTERM}  # the signals that end a command
_lock = threading.Lock()


_opened = contextlib.ExitStack()


@cache
def warm() -> Grader:
    """The grader of this process, opened on first use."""
    return _opened.enter_context(open_grader())


def cool() -> None:
    """Close the grader of this process; the next call opens another."""
    warm.cache_clear()
    with contextlib.suppress(Exception):
        _opened.close()


def describe() -> tuple[str, tuple[str, ...]]:
    """The digest of this process's kit, and its sandbox layers; afterwards the process is ready to grade.

    Raises RubricError or SandboxError.
    """
    with _lock:
        return kit_digest(), tuple(warm().sandbox.layers)


def check() -> None:
    """Run a worker's first steps in this process, so an error is reported once instead of by every worker.

    Raises RubricError, CommandError or SandboxError.
    """
    try:
        describe()
    finally:
        cool()


def grade(submission: Submission, kit: str) -> dict[str, Any]:
    """The result of a submission in Gradescope's format.

    Raises SandboxError (after a retry in a new sandbox) or CommandError, also if this worker has other files or versions than the
    process that sends the work: grader errors, never a student's.
    """
    with _lock:
        if kit_digest() != kit:
            raise CommandError(
                "a worker has a different version of the kit; install the same version everywhere and do not edit it during a run"
            )
        try:
            return _grade(submission)
        except SandboxError:
            return _grade(submission)


def _grade(submission: Submission) -> dict[str, Any]:
    try:
        result = warm().grade(submission)
    except BaseException:
        cool()
        raise
    document = results.gradescope(result)
    document["extra_data"] |= {
        "submitted": [module for module in rubric.current().modules if f"{module}.py" in submission.files],
        "unexplained": [asdict(lesson) for lesson in class_statistics.unexplained(result)],
        "guesses": [asdict(lesson) for lesson in class_statistics.guesses(submission)],
    }
    return document


def start(started: "Synchronized[int]") -> None:
    """Make a new worker ignore Ctrl-C and SIGTERM, which its parent handles, and end with its parent.

    `started` counts the workers of a pool, so each gets its own core.
    """
    with started.get_lock():
        keep_to_core(started.value)
        started.value += 1
    for number in ENDING:
        signal.signal(number, lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def keep_to_core(number: int) -> None:
    """Grader and student process alternate: on one core neither has to wake another core, which takes as long as a call."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with contextlib.suppress(OSError):  # it only saves time
            os.sched_setaffinity(0, {cores[(os.getppid() + number) % len(cores)]})


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


# The workers, from the command

CONNECT = "15s"  # timeout for a scheduler
NAMED = 3  # workers listed in a message


class Pool:
    """An executor that can be restarted: `make` creates it. It runs `width` submissions at a time.

    `starting` is called before it gets its first work. `is_local`: its workers are processes of this machine.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        width: int,
        close: Callable[[], object] = lambda: None,
        is_local: bool = False,
    ):
        self.make, self.width, self.close, self.is_local = make, width, close, is_local
        self.starting: Callable[[], object] = lambda: None
        self.executor = make()

    def submit(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        starting, self.starting = self.starting, lambda: None
        starting()
        # A process inherits blocked signals: Ctrl-C must not reach a worker before it has set its handlers.
        with undisturbed():
            return self.executor.submit(function, *args)

    def renew(self) -> None:
        self.end()
        self.executor = self.make()

    def end(self) -> None:
        """Stop the workers immediately."""
        processes = getattr(self.executor, "_processes", None) or {}
        for process in list(processes.values()):
            with contextlib.suppress(OSError, ValueError):
                process.kill()
        self.executor.shutdown(wait=bool(processes))


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def patience(limits: Limits) -> float:
    """Seconds without a result after which a worker must be stuck: far more than any submission may take."""
    return 2 * limits.submission_seconds * limits.wall_factor + 60


def local(jobs: int) -> Pool:
    """Worker processes on this machine; spawned, since forking a process with threads is unsafe."""
    context = get_context("spawn")
    return Pool(
        lambda: ProcessPoolExecutor(jobs, mp_context=context, initializer=start, initargs=(context.Value("i", 0),)),
        jobs,
        is_local=True,
    )


def cluster(address: str) -> Pool:
    """The workers of a Dask scheduler. Raises ArgumentsError if the cluster is unusable."""
    try:
        import distributed  # an extra, and slow to import
    except ImportError:
        raise ArgumentsError(f"--cluster {address}: needs Dask: pip install -e '.[cluster]'") from None
    logging.disable()  # Dask logs tracebacks of errors that we report on one line
    try:
        client: Any = distributed.Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:  # a wrong address may be a ValueError, an OSError, a TimeoutError, a TypeError
        advice = "give its address, for example tcp://host:8786"
        raise ArgumentsError(f"--cluster {address}: no Dask scheduler found ({error}); {advice}") from error
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
    # A standard library function: ours could not be unpickled if the kit is missing.
    there = client.run(importlib.import_module, "autograder", on_error="return")
    without = [worker for worker, answer in there.items() if isinstance(answer, BaseException)]
    if without:
        raise ArgumentsError(
            f"--cluster {address}: {_named(without)} cannot import the kit; install the same version there"
        )
    kits: Mapping[str, Any] = client.run(kit_digest, on_error="return")
    others = [worker for worker, answer in kits.items() if answer != kit_digest()]
    if others:
        what = "a different kit (rubric, solutions, package, NumPy or Python) from this command"
        advice = "install the same version everywhere and restart the workers"
        raise ArgumentsError(f"--cluster {address}: {_named(others)} has {what}; {advice}")


def _named(workers: list[str]) -> str:
    more = f" and {len(workers) - NAMED} more" if len(workers) > NAMED else ""
    return f"worker {', '.join(workers[:NAMED])}{more}"


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM while the context is open."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
