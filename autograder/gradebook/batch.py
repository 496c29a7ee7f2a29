"""Grades a whole class in worker processes, and writes every result as soon as it is available.

Failures, and their consequences:
- killed at any moment: results are written completely or not at all; the next run continues with the missing ones;
- a submission cannot be read, or a test breaks: a grader error for that submission; the others are graded;
- a worker dies: the workers are restarted; its submissions are retried one at a time, and one that kills its worker
  twice on its own is a grader error; if workers only die, the run stops;
- a result cannot be written: a grader error; after three in a row the run stops, because the disk is full or gone;
- Ctrl-C: the workers end, the results remain, KeyboardInterrupt propagates to the caller.

A grader error leaves no result, so it cannot be mistaken for a 0.
"""

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field, replace
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

TRIES = 2  # crashes of a worker that a submission may cause on its own
WRITES = 3  # failed writes in a row
BREAKS = 50  # crashes in a row without a result
NO_WORKERS = "the grading process could not start"


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


@dataclass(frozen=True)
class _Job:
    """A submission in progress."""

    entry: Upload
    submission: Submission
    stamp: dict[str, Any]
    crashes: int = 0


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
    running: dict[Future[Document], _Job] = {}
    try:
        # Local workers start with the first submission to grade: often there is none.
        outcome = ClassGrades(pool.kit_digest(), tuple(layers.holding()) if workers.is_local else _layers(workers))
        return _Batch(store, workers, limits, display, outcome, running, fresh, accept_names).all(entries)
    finally:
        with pool.undisturbed():
            display.close()
            # Stop whatever still runs; the executor may be gone already.
            for future in running:
                with contextlib.suppress(Exception):
                    future.cancel()
            for end in (workers.end, workers.close):
                with contextlib.suppress(Exception):
                    end()


def _layers(workers: Pool) -> tuple[str, ...]:
    """The layers of the workers' sandbox, once they are ready. Raises RubricError or CommandError."""
    try:
        kit, layers = workers.submit(pool.describe).result()
    except RubricError:
        raise
    except Exception as error:
        raise CommandError(f"{NO_WORKERS}: {type(error).__name__}: {error}") from error
    if kit != pool.kit_digest():
        advice = "install the same version everywhere"
        raise CommandError(f"{NO_WORKERS}: the workers have a different version of the kit; {advice}")
    return tuple(layers)


@dataclass
class _Batch:
    """One run; methods are in the order in which a submission passes through them."""

    store: Store
    workers: Pool
    limits: Limits
    display: Display
    outcome: ClassGrades
    running: dict[Future[Document], _Job]
    fresh: bool
    accept_names: bool
    suspects: deque[_Job] = field(default_factory=deque)
    failed_writes: int = 0
    breaks: int = 0
    ready: bool = False

    def all(self, entries: Sequence[Upload]) -> ClassGrades:
        self.display.start(len(entries))
        jobs = self._jobs(entries)
        while self._fill(jobs) and not self.outcome.stopped:
            done = wait(self.running, pool.patience(self.limits), FIRST_COMPLETED).done
            for future in done:
                self._settle(future)
            if not done and self.running:  # far longer than any submission may take: a crash
                self._broken()
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
                self._failed(entry, str(error))
                continue
            except Exception as error:
                self._failed(entry, f"it cannot be read: {type(error).__name__}: {error}")
                continue
            kit, layers = self.outcome.kit, list(self.outcome.layers)
            stamp = {"submission": pool.submission_digest(submission), "kit": kit, "layers": layers}
            earlier = None if self.fresh else self.store.kept(entry.key, stamp)
            if earlier is None:
                yield _Job(entry, submission, stamp)
            else:
                self.outcome.kept += 1
                self._graded(earlier, kept=True)

    def _fill(self, jobs: Iterator[_Job]) -> bool:
        """Keep the workers busy; after a crash, with one suspect at a time. False if nothing is left."""
        if self.suspects:
            if not self.running:
                self._submit(self.suspects.popleft())
            return True
        while len(self.running) < 2 * self.workers.width and not (self.suspects or self.outcome.stopped):
            job = next(jobs, None)
            if job is None:
                break
            self._submit(job)
        return bool(self.running or self.suspects)

    def _submit(self, job: _Job) -> None:
        if not self.ready:
            self.ready, self.outcome.layers = True, _layers(self.workers)
        try:
            future = self.workers.submit(pool.grade, job.submission, self.outcome.kit)
        except BrokenExecutor:
            self.suspects.append(job)
            self._broken()
        except Exception:
            self._gone()
        else:
            self.running[future] = job

    def _settle(self, future: "Future[Document]") -> None:
        job = self.running.get(future)
        if job is None:
            return
        try:
            document = future.result()
        except BrokenExecutor:
            self._broken()
        except CancelledError:
            self._gone()
        except Exception as error:
            del self.running[future]
            if type(error).__name__ == "KilledWorker":
                self._crashed(job, alone=not self.running)
            else:
                self._failed(job.entry, f"{type(error).__name__}: {error}")
        else:
            del self.running[future]
            self.breaks = 0
            self._write(job, document)

    def _broken(self) -> None:
        """A worker has died; every submission in progress is a suspect."""
        for future in [f for f in self.running if f.done() and not f.cancelled() and f.exception() is None]:
            self._settle(future)
        self.breaks += 1
        if self.breaks >= BREAKS:
            self.outcome.stopped = "the worker processes keep crashing"
        lost = list(self.running.values())
        self.running.clear()
        self.workers.renew()
        for job in lost:
            self._crashed(job, alone=len(lost) == 1)

    def _gone(self) -> None:
        """The executor accepts no more work, or has dropped it: a cluster whose scheduler has ended."""
        self.running.clear()
        self.outcome.stopped = "the workers can no longer be reached"

    def _crashed(self, job: _Job, alone: bool) -> None:
        job = replace(job, crashes=job.crashes + alone)
        if job.crashes < TRIES:
            self.suspects.append(job)
        else:
            self._failed(job.entry, "grading it crashed the worker process repeatedly")

    def _write(self, job: _Job, document: Document) -> None:
        try:
            grade = self.store.write(job.entry.key, document, job.stamp)
        except OSError as error:
            self.failed_writes += 1
            self._failed(job.entry, f"its result cannot be written: {error.strerror or error}")
            if self.failed_writes >= WRITES:
                self.outcome.stopped = f"{self.store.results} cannot be written ({error.strerror or error})"
        else:
            self.failed_writes = 0
            self._graded(grade)

    def _graded(self, grade: Grade, kept: bool = False) -> None:
        self.outcome.grades[grade.key] = grade
        self.display.advance(grade.score, kept)

    def _failed(self, entry: Upload, why: str) -> None:
        self.outcome.errors[entry.key] = " ".join(why.split())
        self.store.set_aside(entry.key)
        self.display.advance(None)
