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
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.exceptions import CommandError
from autograder.feedback.results import Grade
from autograder.gradebook import pool
from autograder.gradebook.pool import Pool
from autograder.gradebook.rows import StudentRow
from autograder.gradebook.store import Store
from autograder.homework.homework import Homework
from autograder.sandbox import layers
from autograder.submissions.submission import Upload, load
from autograder.submissions.text import counted

TRIES = 3  # attempts for each submission; the system may kill workers for lack of memory
WRITES = 3  # failed writes in a row that stop the run
EACH = 25  # submissions between two lines of progress in a log
CRASHES = 15  # crashing submissions in a row that stop the run
PATIENCE, MARGIN = 2.0, 60.0  # times what a submission may take, and seconds more, after which a worker counts as stuck


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


def grade_class(
    entries: Sequence[Upload],
    homework: Homework,
    store: Store,
    workers: Pool,
    stream: TextIO | None = None,
    fresh: bool = False,
    accept_names: bool = False,
) -> Run:
    """Grade the submissions that have no valid result; all, if `fresh`. `accept_names` as in `submissions.submission.load`.

    On `stream`, the progress is a bar if it is a terminal, else a line for every 25 submissions. Raises KeyboardInterrupt, or
    CommandError or BrokenExecutor if no worker can start.
    """
    run = Run(pool.kit_digest(homework.own_folder), tuple(layers.holding()))
    console = Console(file=stream, quiet=stream is None, soft_wrap=True, highlight=False, markup=False)
    columns = "Grading", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[status]}")
    bar = Progress(*columns, console=console, disable=not console.is_terminal)
    limits, idle, starting, is_started = homework.rubric.limits, SimpleQueue[int](), Lock(), False
    failures = list[CommandError | BrokenExecutor]()  # why no worker can grade anything
    for number in range(workers.width):
        idle.put(number)

    def start(number: int) -> None:
        """Wait until a worker can grade. Raises CommandError or BrokenExecutor if none can."""
        nonlocal is_started
        is_started = True
        console.print("Starting the workers; each records the hidden tests once ...")
        failure: CommandError | BrokenExecutor = BrokenExecutor()
        for _ in range(TRIES):
            try:
                run.layers = tuple(workers.submit(number, pool.prepare, homework.own_folder).result())
                return
            except BrokenExecutor as error:  # the system may have killed the worker
                failure = error
                workers.stop(number)
            except CommandError as error:
                failure = error
                break
            except Exception as error:
                why = str(error) if isinstance(error, CancelledError) else f"{type(error).__name__}: {error}"
                failure = CommandError(f"the grading process could not start: {why}")
                break
        failures.append(failure)
        raise failure

    def grade(entry: Upload) -> tuple[Grade, bool]:
        """Grade a submission and write its result; the flag is true if one from an earlier run is still valid.

        Runs in many threads. Raises CommandError or BrokenExecutor for a grader error, OSError if the result cannot be
        written, CancelledError if the workers are gone.
        """
        try:
            submission = load(entry, homework.rubric, accept_names)
        except CommandError:
            raise
        except Exception as error:
            raise CommandError(f"it cannot be read: {type(error).__name__}: {error}") from error
        stamp = {"submission": pool.submission_digest(submission), "kit": run.kit, "layers": list(run.layers)}
        earlier = None if fresh else store.valid(entry.key, stamp)
        if earlier is not None:
            return earlier, True
        number = idle.get()
        try:
            with starting:  # others start when the first is ready
                if not is_started:
                    start(number)
            for _ in range(TRIES):
                try:
                    future = workers.submit(number, pool.grade, submission, run.kit, homework.own_folder)
                    result: Grade = future.result(PATIENCE * limits.submission_seconds * limits.wall_factor + MARGIN)
                    break
                except (CancelledError, CommandError):
                    raise
                except Exception as error:
                    dask = type(error).__name__ == "KilledWorker"
                    if not (dask or isinstance(error, BrokenExecutor | TimeoutError)):
                        raise CommandError(f"{type(error).__name__}: {error}") from error
                    workers.stop(number)
            else:
                raise BrokenExecutor("grading it crashed the worker process repeatedly")
        finally:
            idle.put(number)
        return store.write(result, stamp), False

    # Two threads for each worker: while one waits for it, the other reads the next submission.
    threads = ThreadPoolExecutor(2 * workers.width, initializer=pool.mask, initargs=("SIG_BLOCK",))
    task = bar.add_task("", total=len(entries), status="")
    crashes = failed_writes = 0  # in a row
    bar.start()
    try:
        if not workers.is_local:  # local workers start with the first submission to grade: often there is none
            start(0)
        futures = {threads.submit(grade, entry): entry.key for entry in entries}
        for future in as_completed(futures):
            key = futures.pop(future)
            if failures:
                raise failures[0]
            try:
                run.grades[key], is_unchanged = future.result()
            except CancelledError:  # a cluster whose scheduler has ended
                run.stopped = "the workers can no longer be reached"
            except (CommandError, BrokenExecutor, OSError) as error:
                why = str(error)
                crashes = crashes + 1 if isinstance(error, BrokenExecutor) else 0
                if crashes >= CRASHES:
                    run.stopped = "the worker processes keep crashing"
                if isinstance(error, OSError):
                    failed_writes += 1
                    why = f"its result cannot be written: {error.strerror or error}"
                    if failed_writes >= WRITES:
                        run.stopped = f"{store.results} cannot be written ({error.strerror or error})"
                run.errors[key] = " ".join(why.split())
                store.set_aside(key)
            else:
                run.unchanged += is_unchanged
                crashes, failed_writes = 0, failed_writes if is_unchanged else 0
            if run.stopped:
                break
            errors, done = len(run.errors), len(run.grades) + len(run.errors)
            counts = [f"{run.unchanged} unchanged"] * bool(run.unchanged)
            counts += [counted(errors, "grader error")] * bool(errors)
            bar.update(task, completed=done, status=", ".join(counts))
            if not console.is_terminal and (done == len(entries) or done % EACH == 0):
                console.print(", ".join([f"{done} of {len(entries)}", *counts]))
    finally:
        pool.mask("SIG_BLOCK")
        bar.stop()
        threads.shutdown(wait=False, cancel_futures=True)
        workers.end()
        threads.shutdown()
        pool.mask("SIG_UNBLOCK")
    for entry in entries:
        if entry.key not in run.grades:
            run.errors.setdefault(entry.key, "the run stopped before this submission")
    return run
