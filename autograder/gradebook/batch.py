"""Grades a whole class in worker processes, and writes every result as soon as it is available.

Failures and their consequences:

- The run is killed: each result is complete or absent, and the next run grades the missing ones.
- A submission cannot be read, or a test breaks: a grader error for that submission. The others are graded.
- A worker dies or hangs: another one retries. The third crash is a grader error. If workers only die, the run stops.
- A result cannot be written: a grader error. After three in a row the run stops, because the disk is full or gone.
- Ctrl-C: the workers end, the results remain, and KeyboardInterrupt propagates to the caller.

A grader error leaves no result, so it cannot be mistaken for a 0.
"""

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock
from typing import Any

from autograder.exceptions import CommandError
from autograder.gradebook import pool
from autograder.gradebook.pool import Pool
from autograder.gradebook.progress import Display
from autograder.gradebook.store import Document, Grade, Store
from autograder.homework.rubric import RubricError
from autograder.sandbox import layers
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Submission
from autograder.submissions.uploads import Upload, load

TRIES = 3  # attempts for each submission; the system may kill workers for lack of memory
WRITES = 3  # failed writes in a row that stop the run
CRASHES = 15  # crashing submissions in a row that stop the run


class CannotStartError(CommandError):
    """No worker can grade anything."""


class CrashError(CommandError):
    """A submission crashes every worker."""


@dataclass
class ClassGrades:
    """The outcome of a run so far: grades and grader errors by key. `kept` counts grades from an earlier run.

    `kit` is the digest of the workers' kit, `layers` are their sandbox layers.
    """

    kit: str
    layers: tuple[str, ...]
    grades: dict[str, Grade] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    kept: int = 0
    stopped: str = ""


def run(
    entries: Sequence[Upload],
    store: Store,
    workers: Pool,
    limits: Limits,
    display: Display,
    fresh: bool = False,
    accept_names: bool = False,
) -> ClassGrades:
    """Grade everything without a valid result; `accept_names` as in `submissions.uploads.load`.

    Raises KeyboardInterrupt, or CommandError if no worker can start.
    """
    batch = _Batch(store, workers, limits, display, fresh, accept_names)
    # Two threads for each worker: while one waits for it, the other reads the next submission.
    threads = ThreadPoolExecutor(2 * workers.width, initializer=pool.mask, initargs=("SIG_BLOCK",))
    display.start(len(entries))
    try:
        if not workers.is_local:  # local workers start with the first submission to grade: often there is none
            batch.start()
        futures = {threads.submit(batch.grade, entry): entry.key for entry in entries}
        for future in as_completed(futures):
            batch.settle(futures.pop(future), future)
            if batch.outcome.stopped:
                break
    finally:
        pool.mask("SIG_BLOCK")
        display.close()
        threads.shutdown(wait=False, cancel_futures=True)
        workers.end()
        threads.shutdown()
        pool.mask("SIG_UNBLOCK")
    outcome = batch.outcome
    for entry in entries:
        if entry.key not in outcome.grades:
            outcome.errors.setdefault(entry.key, "the run stopped before this submission")
    return outcome


def patience(limits: Limits) -> float:
    """Seconds after which a worker counts as stuck, far more than any submission may take."""
    return 2 * limits.submission_seconds * limits.wall_factor + 60


class _Batch:
    """One run: `grade` runs in many threads, `settle` in one."""

    def __init__(
        self, store: Store, workers: Pool, limits: Limits, display: Display, fresh: bool, accept_names: bool
    ) -> None:
        self.store, self.workers, self.limits, self.display = store, workers, limits, display
        self.fresh, self.accept_names = fresh, accept_names
        self.outcome = ClassGrades(pool.kit_digest(), tuple(layers.holding()))
        self.idle = SimpleQueue[int]()
        for number in range(workers.width):
            self.idle.put(number)
        self.starting, self.started = Lock(), False
        self.crashes = self.failed_writes = 0  # in a row

    def start(self, number: int = 0) -> None:
        """Wait until a worker can grade. Raises RubricError or CannotStartError if it cannot."""
        self.started = True
        self.display.say("Starting the workers; each records the hidden tests once ...")
        try:
            self.outcome.layers = tuple(self.workers.submit(number, pool.prepare).result())
        except RubricError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise CannotStartError(f"the grading process could not start: {why}") from error

    def grade(self, entry: Upload) -> Grade | tuple[Document, dict[str, Any]]:
        """Grade a submission, or return its grade from an earlier run if that is still valid.

        A new result comes with the digests and layers that it depends on. Raises CommandError for a grader error,
        CancelledError if the workers are gone.
        """
        try:
            submission = load(entry, self.limits, self.accept_names)
        except CommandError:
            raise
        except Exception as error:
            raise CommandError(f"it cannot be read: {type(error).__name__}: {error}") from error
        digest, sandbox = pool.submission_digest(submission), list(self.outcome.layers)
        stamp = {"submission": digest, "kit": self.outcome.kit, "layers": sandbox}
        earlier = None if self.fresh else self.store.kept(entry.key, stamp)
        if earlier is not None:
            return earlier
        number = self.idle.get()
        try:
            with self.starting:  # others start when the first is ready
                if not self.started:
                    self.start(number)
            return self._document(number, submission), stamp
        finally:
            self.idle.put(number)

    def _document(self, number: int, submission: Submission) -> Document:
        for _ in range(TRIES):
            try:
                future = self.workers.submit(number, pool.grade, submission, self.outcome.kit)
                document: Document = future.result(patience(self.limits))
                return document
            except CancelledError:
                raise
            except Exception as error:
                dask = type(error).__name__ == "KilledWorker"
                if not (dask or isinstance(error, BrokenExecutor | TimeoutError)):
                    raise CommandError(f"{type(error).__name__}: {error}") from error
                self.workers.stop(number)
        raise CrashError("grading it crashed the worker process repeatedly")

    def settle(self, key: str, future: "Future[Grade | tuple[Document, dict[str, Any]]]") -> None:
        """Write a result or record the grader error."""
        try:
            graded = future.result()
        except (RubricError, CannotStartError):
            raise
        except CancelledError:  # a cluster whose scheduler has ended
            self.outcome.stopped = "the workers can no longer be reached"
        except CommandError as error:
            self.crashes = self.crashes + 1 if isinstance(error, CrashError) else 0
            if self.crashes >= CRASHES:
                self.outcome.stopped = "the worker processes keep crashing"
            self._failed(key, str(error))
        else:
            self.crashes = 0
            if isinstance(graded, Grade):
                self.outcome.kept += 1
                self._graded(graded, kept=True)
            else:
                self._write(key, *graded)

    def _write(self, key: str, document: Document, stamp: dict[str, Any]) -> None:
        try:
            grade = self.store.write(key, document, stamp)
        except OSError as error:
            self.failed_writes += 1
            self._failed(key, f"its result cannot be written: {error.strerror or error}")
            if self.failed_writes >= WRITES:
                self.outcome.stopped = f"{self.store.results} cannot be written ({error.strerror or error})"
        else:
            self.failed_writes = 0
            self._graded(grade)

    def _graded(self, grade: Grade, kept: bool = False) -> None:
        self.outcome.grades[grade.key] = grade
        self.display.advance(grade.score, kept)

    def _failed(self, key: str, why: str) -> None:
        self.outcome.errors[key] = " ".join(why.split())
        self.store.set_aside(key)
        self.display.advance(None)
