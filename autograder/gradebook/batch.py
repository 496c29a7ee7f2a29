"""Grades a whole class in worker processes, and writes every result as soon as it is available.

Failures, and their consequences:
- killed at any moment: results are written completely or not at all; the next run continues with the missing ones;
- a submission cannot be read, or a test breaks: a grader error for that submission; the others are graded;
- a worker dies or is stuck: another takes its place; its submission is retried last, and is a grader error if that crashes too;
  if workers only die, the run stops;
- a result cannot be written: a grader error; after three in a row the run stops, because the disk is full or gone;
- Ctrl-C: the workers end, the results remain, KeyboardInterrupt propagates to the caller.

A grader error leaves no result, so it cannot be mistaken for a 0.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
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

TRIES = 2  # crashes of a worker that a submission may cause
WRITES = 3  # failed writes in a row
CRASHES = 50  # crashes in a row without a result


@dataclass
class ClassGrades:
    """The outcome of a run so far: grades and grader errors by key; `kept` grades are from an earlier run.

    `kit` is the digest of the workers' kit, `layers` are those of their sandbox.
    """

    kit: str
    layers: tuple[str, ...]
    grades: dict[str, Grade] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    kept: int = 0
    stopped: str = ""


@dataclass
class _Job:
    """A submission to grade; `worker` is the number of the one that grades it."""

    key: str
    submission: Submission
    stamp: dict[str, Any]
    crashes: int = 0
    worker: int = 0


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
    batch = _Batch(store, workers, limits, display, ClassGrades(pool.kit_digest(), ()), fresh, accept_names)
    try:
        return batch.all(entries)
    finally:
        with pool.undisturbed():
            display.close()
            workers.end()


def patience(limits: Limits) -> float:
    """Seconds without a result after which the workers must be stuck: far more than any submission may take."""
    return 2 * limits.submission_seconds * limits.wall_factor + 60


@dataclass
class _Batch:
    """One run; methods are in the order in which a submission passes through them."""

    store: Store
    workers: Pool
    limits: Limits
    display: Display
    outcome: ClassGrades
    fresh: bool
    accept_names: bool
    running: dict[Future[Document], _Job] = field(default_factory=dict)
    retries: list[_Job] = field(default_factory=list)
    failed_writes: int = 0
    crashes: int = 0
    ready: bool = False

    def all(self, entries: Sequence[Upload]) -> ClassGrades:
        self.display.start(len(entries))
        if self.workers.is_local:  # these start with the first submission to grade: often there is none
            self.outcome.layers = tuple(layers.holding())
        else:
            self._start()
        jobs = self._jobs(entries)
        while not self.outcome.stopped:
            self._fill(jobs)
            if not self.running:
                break
            done = wait(self.running, patience(self.limits), FIRST_COMPLETED).done
            for future in done or list(self.running):
                self._settle(future)
        for entry in entries if self.outcome.stopped else ():
            if entry.key not in self.outcome.grades:
                self.outcome.errors.setdefault(entry.key, "the run stopped before this submission")
        return self.outcome

    def _jobs(self, entries: Sequence[Upload]) -> Iterator[_Job]:
        """The submissions to grade, each read when a worker is free."""
        for entry in entries:
            try:
                submission = load(entry, self.limits, self.accept_names)
            except CommandError as error:
                self._failed(entry.key, str(error))
                continue
            except Exception as error:
                self._failed(entry.key, f"it cannot be read: {type(error).__name__}: {error}")
                continue
            digest, sandbox = pool.submission_digest(submission), list(self.outcome.layers)
            stamp = {"submission": digest, "kit": self.outcome.kit, "layers": sandbox}
            earlier = None if self.fresh else self.store.kept(entry.key, stamp)
            if earlier is None:
                yield _Job(entry.key, submission, stamp)
            else:
                self.outcome.kept += 1
                self._graded(earlier, kept=True)

    def _fill(self, jobs: Iterator[_Job]) -> None:
        """Give every idle worker a submission, if there is one."""
        busy = {job.worker for job in self.running.values()}
        for number in (number for number in range(self.workers.width) if number not in busy):
            if self.outcome.stopped:
                return
            job = next(jobs, None) or (self.retries.pop() if self.retries else None)
            if job is None:
                return
            if not self.ready:
                self._start()
            job.worker = number
            try:
                self.running[self.workers.submit(number, pool.grade, job.submission, self.outcome.kit)] = job
            except BrokenExecutor:
                self._crashed(job)
            except Exception:
                self._unreachable()

    def _start(self) -> None:
        """Wait until a worker can grade. Raises RubricError or CommandError if it cannot."""
        self.ready = True
        self.display.say("Starting the workers; each records the hidden tests once ...")
        try:
            self.outcome.layers = tuple(self.workers.submit(0, pool.prepare).result())
        except RubricError:
            raise
        except Exception as error:
            raise CommandError(f"the grading process could not start: {type(error).__name__}: {error}") from error

    def _settle(self, future: "Future[Document]") -> None:
        job = self.running.pop(future)
        if not future.done():  # no worker has finished anything for far too long
            self._crashed(job)
            return
        try:
            document = future.result()
        except BrokenExecutor:
            self._crashed(job)
        except CancelledError:
            self._unreachable()
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # Dask's
                self._crashed(job)
            else:
                self._failed(job.key, f"{type(error).__name__}: {error}")
        else:
            self.crashes = 0
            self._write(job, document)

    def _crashed(self, job: _Job) -> None:
        self.workers.stop(job.worker)
        job.crashes += 1
        self.crashes += 1
        if self.crashes >= CRASHES:
            self.outcome.stopped = "the worker processes keep crashing"
        if job.crashes < TRIES:
            self.retries.append(job)
        else:
            self._failed(job.key, "grading it crashed the worker process repeatedly")

    def _unreachable(self) -> None:
        """The executor accepts no more work, or has dropped it: a cluster whose scheduler has ended."""
        self.outcome.stopped = "the workers can no longer be reached"

    def _write(self, job: _Job, document: Document) -> None:
        try:
            grade = self.store.write(job.key, document, job.stamp)
        except OSError as error:
            self.failed_writes += 1
            self._failed(job.key, f"its result cannot be written: {error.strerror or error}")
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
