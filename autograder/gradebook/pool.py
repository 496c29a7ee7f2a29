"""The processes that grade: on this machine a pool of them, on a cluster whatever Dask has; both can be made anew.

In each the suites are collected and the sandbox is set up once; it grades one submission at a time. Arguments and answers are
plain data, so any `concurrent.futures` executor can call these functions. Before anything is sent to a cluster, every worker is
asked whether it has the kit, and the same one: a worker without it would never answer, and one with another rubric would give
other grades. The digests tell that, and whether a result of an earlier run still stands.
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

# The packages that take part in grading one submission.
GRADING = ("values", "sandbox", "homework", "submissions", "grading", "feedback")
AFTERWARDS = ("due", "late", "uploads", "missing")  # keys of the rubric that are reckoned with after grading
READ = (".py", ".yaml", ".ini", ".json")  # the kinds of files that these packages read


def submission_digest(submission: Submission) -> str:
    """Over all that was handed in and could be used, and what is said about the rest; not over whose it is."""
    parts = [text for path in sorted(submission.files) for text in (path.encode(), submission.files[path])]
    notes = [repr(note).encode("utf-8", "surrogatepass") for note in submission.refused]
    return _digest([*parts, b"notes", *notes])


@cache
def kit_digest() -> str:
    """Over rubric, solutions and all files of the packages that grade, and the versions of NumPy and Python."""
    versions = [np.__version__, platform.python_implementation(), platform.python_version(), platform.machine()]
    # The rubric as data, since a comment in it changes no grade.
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
    names = {  # the suites and misconceptions of the packaged homework are files of a package, too
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
    """The grader of this process, opened when first needed."""
    return _opened.enter_context(open_grader())


def cool() -> None:
    """Close the grader of this process; the next call opens another."""
    warm.cache_clear()
    with contextlib.suppress(Exception):
        _opened.close()


def describe() -> tuple[str, tuple[str, ...]]:
    """The digest of this process's kit, and the layers of its sandbox; it is ready to grade afterwards.

    Raises RubricError or SandboxFault.
    """
    with _lock:
        return kit_digest(), tuple(warm().sandbox.layers)


def check() -> None:
    """Try once, in this process, what each worker does first: what is wrong is then said once, not by every worker.

    Raises RubricError, CommandError or SandboxFault.
    """
    try:
        describe()
    finally:
        cool()


def grade(submission: Submission, kit: str) -> dict[str, Any]:
    """The result of a submission in Gradescope's form.

    Raises SandboxFault (after a second try in a new sandbox) or CommandError, also where this worker has other files or versions
    than the one that sends the work: faults, none of them the student's.
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
    """Make a new worker process quiet: Ctrl-C and SIGTERM are its parent's business, and without its parent it ends.

    `started` counts the workers of a pool, of which each keeps to a core of its own.
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
    """Grader and student work in turns: on one core neither has to wake another core, which takes as long as a call."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with contextlib.suppress(OSError):  # it only saves time
            os.sched_setaffinity(0, {cores[(os.getppid() + number) % len(cores)]})


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


# The workers, seen from the command

CONNECT = "15s"  # patience with a scheduler
NAMED = 3  # workers that a message names


class Pool:
    """An executor that can be made anew: `make` makes it. It works on `width` submissions at a time.

    `starting` is called before the first work is given to it. `is_local`: its workers are processes of this machine.
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
    return Pool(
        lambda: ProcessPoolExecutor(jobs, mp_context=context, initializer=start, initargs=(context.Value("i", 0),)),
        jobs,
        is_local=True,
    )


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
    # A function of the standard library: one of ours could not even arrive where the kit is missing.
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
    """Ctrl-C and SIGTERM wait until this is over."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
