"""The worker processes: the functions they run, and the executors that start them, locally or on a Dask cluster.

Arguments and results are plain data, so any `concurrent.futures` executor can run these functions. The digests of a
submission and of the kit decide whether a result of an earlier run is still valid. A cluster gets no work until every
worker has reported the digest of its kit, because a different rubric would give different grades.
"""

import contextlib
import hashlib
import importlib
import logging
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.feedback.results import Grade
from autograder.gradebook import class_statistics
from autograder.grading.grader import Grader, open_grader
from autograder.homework.homework import PACKAGE, Homework
from autograder.submissions.submission import Submission
from autograder.submissions.text import few

# The packages that grade a submission, the types of files they read, and the rubric keys that apply after grading.
GRADING = ("shared", "sandbox", "homework", "submissions", "grading", "feedback")
READ = (".py", ".j2", ".yaml", ".ini", ".json")
AFTERWARDS = {"due", "late", "uploads", "missing"}
CONNECT = "15s"  # timeout for a scheduler
ENDING = {signal.SIGINT, signal.SIGTERM}  # the signals that end a command


def submission_digest(submission: Submission) -> str:
    """Return the digest of all usable files and all notes, regardless of the student."""
    return _digest(sorted(submission.files.items()), submission.refused)


@cache
def kit_digest(folder: Path | None) -> str:
    """Return the digest of a homework's rules and files, of the files that grade it, and of the versions of NumPy and Python."""
    homework = Homework(folder)
    versions = np.__version__, platform.python_implementation(), platform.python_version(), platform.machine()
    rules = homework.rubric.model_dump_json(exclude=AFTERWARDS)  # parsed, so that comments do not count
    files = [(name, path.read_bytes()) for name, path in sorted(_files(homework)) if path.suffix in READ]
    return _digest(versions, rules, files)


def _files(homework: Homework) -> Iterator[tuple[str, Path]]:
    """Everything that grading reads, by names that are the same in a clone and in a wheel."""
    folders = {package: PACKAGE / package for package in GRADING} | {"solutions": homework.solutions}
    folders |= {"suites": homework.suites, "misconceptions": homework.misconceptions}  # perhaps another homework's
    if homework.rubric.tests:
        folders["alternatives"] = homework.alternatives
    for name, folder in folders.items():
        yield from ((f"{name}/{path.relative_to(folder).as_posix()}", path) for path in folder.rglob("*"))


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


# In a worker process

_lock = threading.Lock()  # a worker of a cluster may have several threads
_opened = contextlib.ExitStack()


@cache
def warm(folder: Path | None) -> Grader:
    """Return the grader of this process. Opening it, on first use, records the suites, which takes seconds."""
    return _opened.enter_context(open_grader(Homework(folder)))


def cool() -> None:
    """Close the grader of this process; the next call opens another."""
    warm.cache_clear()
    with contextlib.suppress(Exception):
        _opened.close()


def prepare(folder: Path | None) -> tuple[str, ...]:
    """Make this process ready to grade; returns its sandbox layers. Raises CommandError or SandboxError."""
    with _lock:
        return tuple(warm(folder).sandbox.layers)


def grade(submission: Submission, kit: str, folder: Path | None) -> Grade:
    """Grade a submission with the homework in a folder, or with the packaged one.

    Raises SandboxError, after a retry in a new sandbox, or CommandError, for example if the kit of this worker is not
    `kit`. Both are grader errors.
    """
    with _lock:
        if kit_digest(folder) != kit:
            advice = "install the same version everywhere and do not edit it during a run"
            raise CommandError(f"a worker has a different version of the kit; {advice}")
        for is_last in (False, True):
            try:
                result = warm(folder).grade(submission)
                break
            except BaseException as error:
                cool()
                if is_last or not isinstance(error, SandboxError):
                    raise
    guesses = class_statistics.guesses(result.homework, submission)
    return Grade.of(result, tuple(class_statistics.unexplained(result)), guesses)


def keep_to_core(number: int) -> None:
    """Pin a worker to one core. Grader and student process alternate, and waking another core takes as long as a call."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with contextlib.suppress(OSError):  # it only saves time
            os.sched_setaffinity(0, {cores[(os.getppid() + number) % len(cores)]})


def start(number: int) -> None:
    """Make a new worker ignore Ctrl-C and SIGTERM, which its parent handles, and exit with its parent."""
    keep_to_core(number)
    for ending in ENDING:
        signal.signal(ending, lambda *_: None)
    mask("SIG_UNBLOCK")

    def end_with_parent() -> None:
        parent = parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def mask(how: str) -> None:
    """Delay Ctrl-C and SIGTERM in this thread and the processes it starts ("SIG_BLOCK"), or no longer ("SIG_UNBLOCK")."""
    if hasattr(signal, "pthread_sigmask"):  # Windows has no masks
        signal.pthread_sigmask(getattr(signal, how), ENDING)


# In the main process


@dataclass
class Pool:
    """Numbered executors, created by `make`. Each gets one submission at a time, so a crash affects only that one.

    `is_local`: the workers are processes of this machine.
    """

    make: Callable[[int], Executor]
    width: int
    close: Callable[[], object] = lambda: None
    is_local: bool = False

    def __post_init__(self) -> None:
        self.executors: dict[int, Executor] = {}
        self.futures: dict[int, Future[Any]] = {}
        self.ended, self.lock = False, threading.Lock()

    def submit(self, number: int, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Call a function in a worker. Raises BrokenExecutor for a worker that has died, CancelledError if none are left.

        Raises CommandError if this machine cannot start one.
        """
        with self.lock:
            try:
                if self.ended:
                    raise CancelledError
                if number not in self.executors:
                    self.executors[number] = self.make(number)
                self.futures[number] = self.executors[number].submit(function, *args)
                return self.futures[number]
            except (BrokenExecutor, CommandError):
                raise
            except Exception as error:  # a cluster whose scheduler has ended
                raise CancelledError(f"the workers can no longer be reached: {error}") from error

    def stop(self, number: int) -> None:
        """Stop a worker immediately; the next `submit` starts another."""
        executor = self.executors.pop(number, None)
        processes = getattr(executor, "_processes", None) or {}
        for process in list(processes.values()):
            with contextlib.suppress(OSError, ValueError):
                process.kill()
        if executor is not None:
            executor.shutdown(wait=bool(processes))

    def end(self) -> None:
        """Stop all workers for good; no future is left pending."""
        with self.lock:
            self.ended = True
            for number in list(self.executors):
                with contextlib.suppress(Exception):  # the executor of a cluster may be gone
                    self.stop(number)
            for future in self.futures.values():
                future.cancel()
            with contextlib.suppress(Exception):
                self.close()


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def local(jobs: int) -> Pool:
    """Worker processes on this machine; spawned, since forking a process with threads is unsafe."""
    if os.name == "posix":
        resource_tracker.ensure_running()  # start it now: it unblocks the signals of the thread that starts it
    worker = partial(processes, 1, mp_context=get_context("spawn"), initializer=start)
    return Pool(lambda number: worker(initargs=(number,)), jobs, is_local=True)


def processes(count: int, **options: Any) -> ProcessPoolExecutor:
    """Return an executor with `count` processes. Raises CommandError if this machine has no locks that processes can share."""
    try:
        return ProcessPoolExecutor(count, **options)
    except (OSError, ImportError, NotImplementedError) as error:
        why = getattr(error, "strerror", None) or error
        raise CommandError(f"processes cannot share locks: /dev/shm must exist and be writable ({why})") from error


def cluster(address: str, homework: Homework) -> Pool:
    """Return the workers of a Dask scheduler. Raises ArgumentsError unless every worker has this kit."""
    try:
        import distributed  # an extra, and slow to import
    except ImportError:
        raise ArgumentsError(f"--cluster {address}: needs Dask: pip install -e '.[cluster]'") from None
    with contextlib.ExitStack() as stack:
        logging.disable()  # Dask logs tracebacks of errors that we report on one line
        stack.callback(logging.disable, logging.NOTSET)
        try:
            client: Any = distributed.Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
        except Exception as error:  # a wrong address may be a ValueError, an OSError, a TimeoutError, a TypeError
            advice = "give its address, for example tcp://host:8786"
            raise ArgumentsError(f"--cluster {address}: no Dask scheduler found ({error}); {advice}") from error
        stack.callback(client.close)
        if not client.nthreads():
            advice = f"start some with `dask worker {address}`"
            raise ArgumentsError(f"--cluster {address}: the scheduler has no workers; {advice}")
        # A standard library function first: ours cannot be unpickled if the kit is missing.
        imported = client.run(importlib.import_module, "autograder", on_error="return")
        without = [worker for worker, module in imported.items() if isinstance(module, BaseException)]
        if without:
            raise ArgumentsError(
                f"--cluster {address}: worker {few(without, 3)} cannot import the kit; install the same version there"
            )
        digests = client.run(kit_digest, homework.own_folder, on_error="return")
        different = [worker for worker, digest in digests.items() if digest != kit_digest(homework.own_folder)]
        if different:
            what = "a different kit (rubric, solutions, package, NumPy or Python) from this command"
            advice = "install the same version everywhere and restart the workers"
            raise ArgumentsError(f"--cluster {address}: worker {few(different, 3)} has {what}; {advice}")
        # Two submissions for each worker: one to grade, one in transit.
        return Pool(lambda _: client.get_executor(), 2 * len(client.nthreads()), stack.pop_all().close)
