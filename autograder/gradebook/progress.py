"""Progress of a run: a bar on a terminal, a line every ten seconds in a log, or nothing."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

INTERVAL = 10.0  # seconds between two lines in a log


@contextlib.contextmanager
def stages(weights: Mapping[str, float], stream: TextIO) -> Iterator[Callable[[str], None]]:
    """Show the stages of a long task: a bar on a terminal, else a line for each.

    The returned function is called with the name of each stage when it begins; `weights` are their shares of the time.
    """
    bar = Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=Console(file=stream))
    task, end, stopped = bar.add_task("", total=sum(weights.values())), 0.0, threading.Event()

    def begin(name: str) -> None:
        nonlocal end
        if stream.isatty():
            bar.update(task, description=name, completed=end)
        else:
            print(f"{name} ...", file=stream, flush=True)
        end += weights[name]

    def move() -> None:
        while not stopped.wait(0.25):  # approaches the end of the stage, whose length is unknown
            bar.advance(task, 0.03 * (end - bar.tasks[task].completed))

    mover = threading.Thread(target=move, daemon=True)
    if stream.isatty():
        bar.start()
        mover.start()
    try:
        yield begin
    finally:
        stopped.set()
        if stream.isatty():
            mover.join()
            bar.stop()


class Display:
    """Counts graded submissions, and shows the count on `stream`, if any.

    `kept` results are from an earlier run; no score means a grader error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.total = self.done = self.kept = self.errors = 0
        self.stream, self.said, self.last = stream, time.monotonic(), 0
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[status]}"))
        bar = Progress(TextColumn("Grading"), *columns, console=Console(file=stream), refresh_per_second=4)
        self.bar = bar if stream is not None and stream.isatty() else None

    def start(self, total: int) -> None:
        self.total = total
        if self.bar:
            self.bar.add_task("", total=total, status="")
            self.bar.start()

    def advance(self, score: float | None, kept: bool = False) -> None:
        self.done += 1
        self.kept += kept
        self.errors += score is None
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=self.done, status=", ".join(self._parts()))
        elif self.stream and time.monotonic() - self.said >= INTERVAL:
            self._say()

    def close(self) -> None:
        if self.bar:
            self.bar.stop()
        elif self.stream and self.done != self.last:
            self._say()

    def _say(self) -> None:
        self.said, self.last = time.monotonic(), self.done
        print(", ".join([f"{self.done} of {self.total}", *self._parts()]), file=self.stream, flush=True)

    def _parts(self) -> list[str]:
        errors = "1 grader error" if self.errors == 1 else f"{self.errors} grader errors"
        return [f"{self.kept} unchanged"] * bool(self.kept) + [errors] * bool(self.errors)
