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
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from autograder.exceptions import CommandError
from autograder.feedback.results import Grade
from autograder.gradebook import pool
from autograder.gradebook.pool import Pool
from autograder.gradebook.rows import StudentRow
from autograder.gradebook.store import Store
from autograder.homework.homework import Homework
from autograder.sandbox import layers
from autograder.submissions.submission import Submission, Upload, load
from autograder.submissions.text import counted

TRIES = 3  # attempts for each submission; the system may kill workers for lack of memory
WRITES = 3  # failed writes in a row that stop the run
EACH = 25  # submissions between two lines of progress in a log
CRASHES = 15  # crashing submissions in a row that stop the run


@dataclass
class Run:
    """A run so far: grades and grader errors by key. `unchanged` counts grades from an earlier run.

    `kit` is the digest of the workers' kit, `layers` are their sandbox layers, `stopped` is the reason if the run ended
    early. After grading, `rows` are the students and `problems` the notes for the instructor.
    """

    kit: str
    layers: tuple[str, ...]
    grades: dict[str, Grade] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    unchanged: int = 0
    stopped: str = ""
    rows: Sequence[StudentRow] = ()
    problems: list[str] = field(default_factory=list)


class Batch:
    """Grades submissions without a valid result: `grade` runs in many threads, everything else in one.

    `accept_names` as in `submissions.submission.load`. On `stream`, the progress is a bar if it is a terminal, else a line for
    every 25 submissions.
    """

    def __init__(
        self,
        store: Store,
        workers: Pool,
        homework: Homework,
        stream: TextIO | None = None,
        fresh: bool = False,
        accept_names: bool = False,
    ) -> None:
        self.store, self.workers, self.homework = store, workers, homework
        self.fresh, self.accept_names = fresh, accept_names
        self.console = Console(file=stream, quiet=stream is None, soft_wrap=True, highlight=False, markup=False)
        counts = TextColumn("{task.fields[status]}")
        columns = "Grading", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), counts
        self.bar = Progress(*columns, console=self.console, disable=not self.console.is_terminal)
        self.outcome = Run(pool.kit_digest(homework.own_folder), tuple(layers.holding()))
        self.idle = SimpleQueue[int]()
        for number in range(workers.width):
            self.idle.put(number)
        self.starting, self.started = Lock(), False
        self.failure: CommandError | BrokenExecutor | None = None  # why no worker can grade anything
        self.crashes = self.failed_writes = 0  # in a row

    @property
    def patience(self) -> float:
        """The seconds after which a worker counts as stuck, far more than any submission may take."""
        limits = self.homework.rubric.limits
        return 2 * limits.submission_seconds * limits.wall_factor + 60

    def run(self, entries: Sequence[Upload]) -> Run:
        """Grade everything. Raises KeyboardInterrupt, or CommandError or BrokenExecutor if no worker can start."""
        # Two threads for each worker: while one waits for it, the other reads the next submission.
        threads = ThreadPoolExecutor(2 * self.workers.width, initializer=pool.mask, initargs=("SIG_BLOCK",))
        task = self.bar.add_task("", total=len(entries), status="")
        self.bar.start()
        try:
            if not self.workers.is_local:  # local workers start with the first submission to grade: often there is none
                self.start()
            futures = {threads.submit(self.grade, entry): entry.key for entry in entries}
            for future in as_completed(futures):
                self.settle(futures.pop(future), future)
                if self.outcome.stopped:
                    break
                self.show(task, len(entries))
        finally:
            pool.mask("SIG_BLOCK")
            self.bar.stop()
            threads.shutdown(wait=False, cancel_futures=True)
            self.workers.end()
            threads.shutdown()
            pool.mask("SIG_UNBLOCK")
        for entry in entries:
            if entry.key not in self.outcome.grades:
                self.outcome.errors.setdefault(entry.key, "the run stopped before this submission")
        return self.outcome

    def start(self, number: int = 0) -> None:
        """Wait until a worker can grade. Raises CommandError or BrokenExecutor if none can."""
        self.started = True
        self.console.print("Starting the workers; each records the hidden tests once ...")
        failure: CommandError | BrokenExecutor = BrokenExecutor()
        for _ in range(TRIES):
            try:
                self.outcome.layers = tuple(
                    self.workers.submit(number, pool.prepare, self.homework.own_folder).result()
                )
                return
            except BrokenExecutor as error:  # the system may have killed the worker
                failure = error
                self.workers.stop(number)
            except CommandError as error:
                failure = error
                break
            except Exception as error:
                why = str(error) if isinstance(error, CancelledError) else f"{type(error).__name__}: {error}"
                failure = CommandError(f"the grading process could not start: {why}")
                break
        self.failure = failure
        raise failure

    def grade(self, entry: Upload) -> tuple[Grade, bool]:
        """Grade a submission and write its result; the flag is true if one from an earlier run is still valid.

        Raises CommandError or BrokenExecutor for a grader error, OSError if the result cannot be written, CancelledError
        if the workers are gone.
        """
        try:
            submission = load(entry, self.homework.rubric, self.accept_names)
        except CommandError:
            raise
        except Exception as error:
            raise CommandError(f"it cannot be read: {type(error).__name__}: {error}") from error
        digest, sandbox = pool.submission_digest(submission), list(self.outcome.layers)
        stamp = {"submission": digest, "kit": self.outcome.kit, "layers": sandbox}
        earlier = None if self.fresh else self.store.valid(entry.key, stamp)
        if earlier is not None:
            return earlier, True
        number = self.idle.get()
        try:
            with self.starting:  # others start when the first is ready
                if not self.started:
                    self.start(number)
            grade = self._graded(number, submission)
        finally:
            self.idle.put(number)
        return self.store.write(grade, stamp), False

    def _graded(self, number: int, submission: Submission) -> Grade:
        for _ in range(TRIES):
            try:
                future = self.workers.submit(number, pool.grade, submission, self.outcome.kit, self.homework.own_folder)
                grade: Grade = future.result(self.patience)
                return grade
            except (CancelledError, CommandError):
                raise
            except Exception as error:
                dask = type(error).__name__ == "KilledWorker"
                if not (dask or isinstance(error, BrokenExecutor | TimeoutError)):
                    raise CommandError(f"{type(error).__name__}: {error}") from error
                self.workers.stop(number)
        raise BrokenExecutor("grading it crashed the worker process repeatedly")

    def settle(self, key: str, future: "Future[tuple[Grade, bool]]") -> None:
        """Record the grade or the grader error of a submission. Raises what `start` raised if no worker can start."""
        outcome = self.outcome
        if self.failure:
            raise self.failure
        try:
            grade, is_kept = future.result()
        except CancelledError:  # a cluster whose scheduler has ended
            outcome.stopped = "the workers can no longer be reached"
            return
        except (CommandError, BrokenExecutor, OSError) as error:
            why = str(error)
            self.crashes = self.crashes + 1 if isinstance(error, BrokenExecutor) else 0
            if self.crashes >= CRASHES:
                outcome.stopped = "the worker processes keep crashing"
            if isinstance(error, OSError):
                self.failed_writes += 1
                why = f"its result cannot be written: {error.strerror or error}"
                if self.failed_writes >= WRITES:
                    outcome.stopped = f"{self.store.results} cannot be written ({error.strerror or error})"
            outcome.errors[key] = " ".join(why.split())
            self.store.set_aside(key)
        else:
            outcome.grades[key] = grade
            outcome.unchanged += is_kept
            self.crashes = 0
            self.failed_writes = self.failed_writes if is_kept else 0

    def show(self, task: TaskID, total: int) -> None:
        """Show how many submissions have a grade or a grader error."""
        errors = len(self.outcome.errors)
        done, unchanged = len(self.outcome.grades) + errors, self.outcome.unchanged
        counts = [f"{unchanged} unchanged"] * bool(unchanged) + [counted(errors, "grader error")] * bool(errors)
        self.bar.update(task, completed=done, status=", ".join(counts))
        if not self.console.is_terminal and (done == total or done % EACH == 0):
            self.console.print(", ".join([f"{done} of {total}", *counts]))
