"""What is seen while a class is graded: a bar on a terminal, now and then a line in a log, or nothing."""

import time
from statistics import median
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

INTERVAL = 10.0  # seconds between two lines in a log


class Display:
    """Counts what is done. Shows nothing itself; `kept` results stood already, a score of None is a fault."""

    def __init__(self) -> None:
        self.total = self.done = self.kept = self.faults = 0
        self.scores: list[float] = []

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, score: float | None, kept: bool = False) -> None:
        self.done += 1
        self.kept += kept
        self.faults += score is None
        if score is not None:
            self.scores.append(score)

    def close(self) -> None: ...

    def status(self) -> str:
        parts = [f"median {median(self.scores):g}"] if self.scores else []
        parts += [f"{self.kept} unchanged"] if self.kept else []
        parts += [f"{self.faults} faults"] if self.faults else []
        return ", ".join(parts)


class Lines(Display):
    """A line every few seconds, for logs."""

    def __init__(self, stream: TextIO):
        super().__init__()
        self.stream, self.said, self.last = stream, time.monotonic(), 0

    def advance(self, score: float | None, kept: bool = False) -> None:
        super().advance(score, kept)
        if time.monotonic() - self.said >= INTERVAL:
            self.close()

    def close(self) -> None:
        """Say how far it is, unless that was said already."""
        if self.done != self.last:
            self.said, self.last = time.monotonic(), self.done
            print(f"{self.done} of {self.total}: {self.status()}", file=self.stream, flush=True)


class Bar(Display):
    """A progress bar with count, time left and the running median."""

    def __init__(self, stream: TextIO):
        super().__init__()
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[status]}"))
        self.progress = Progress(TextColumn("Grading"), *columns, console=Console(file=stream), refresh_per_second=4)
        self.task = self.progress.add_task("", total=None, status="")

    def start(self, total: int) -> None:
        super().start(total)
        self.progress.update(self.task, total=total)
        self.progress.start()

    def advance(self, score: float | None, kept: bool = False) -> None:
        super().advance(score, kept)
        self.progress.update(self.task, completed=self.done, status=self.status())

    def close(self) -> None:
        self.progress.stop()


def display(stream: TextIO, quiet: bool) -> Display:
    if quiet:
        return Display()
    return Bar(stream) if stream.isatty() else Lines(stream)
