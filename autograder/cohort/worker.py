"""What runs in a worker process, here or on a cluster: suites collected once, the sandbox set up once.

Arguments and answers are plain data, so any `concurrent.futures` executor can call these functions. A process
grades one submission at a time.
"""

import contextlib
import os
import signal
import threading
from dataclasses import asdict, dataclass
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from autograder.cohort import digest, guesses, unexplained
from autograder.faults import CommandError
from autograder.feedback import results
from autograder.grading.grader import Grader, open_grader
from autograder.intake.submission import Submission
from autograder.sandbox.faults import SandboxFault

ENDING = {signal.SIGINT, signal.SIGTERM}  # the signals that end a command
_lock = threading.Lock()


@dataclass(frozen=True)
class Kit:
    """What a worker grades with."""

    digest: str
    layers: tuple[str, ...]


class OtherKit(CommandError):
    """A worker has other files or versions than the one that sends the work."""


class _Warm:
    """The grader of this process, opened when first needed."""

    def __init__(self) -> None:
        self.stack = contextlib.ExitStack()
        self.grader: Grader | None = None

    def open(self) -> Grader:
        if self.grader is None:
            self.grader = self.stack.enter_context(open_grader())
        return self.grader

    def close(self) -> None:
        self.grader = None
        with contextlib.suppress(Exception):
            self.stack.close()
        self.stack = contextlib.ExitStack()


_warm = _Warm()


def warm() -> Grader:
    """The grader of this process, ready."""
    return _warm.open()


def describe() -> Kit:
    """The kit and the sandbox layers of this process, which is ready to grade afterwards.

    Raises RubricError or SandboxFault.
    """
    with _lock:
        return Kit(digest.of_kit(), tuple(warm().sandbox.layers))


def check() -> None:
    """Try once, in this process, what each worker does first: what is wrong is then said once, not by every worker.

    Raises RubricError, SuiteFault or SandboxFault.
    """
    try:
        describe()
    finally:
        _warm.close()


def grade(submission: Submission, kit: str) -> dict[str, Any]:
    """The result of a submission in Gradescope's form.

    Raises OtherKit, SandboxFault (after a second try in a new sandbox) or SuiteFault: faults, none of them
    the student's.
    """
    with _lock:
        if digest.of_kit() != kit:
            raise OtherKit(
                "a worker has another version of the kit; install the same everywhere, do not edit it meanwhile"
            )
        try:
            return _grade(submission)
        except SandboxFault:
            return _grade(submission)


def _grade(submission: Submission) -> dict[str, Any]:
    try:
        result = warm().grade(submission)
    except BaseException:
        _warm.close()
        raise
    document = results.gradescope(result)
    document["extra_data"] |= {
        "unexplained": [asdict(one) for one in unexplained.of(result)],
        "guesses": [asdict(one) for one in guesses.of(submission)],
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
