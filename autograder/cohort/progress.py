"""What is seen while a class is graded: a bar on a terminal, now and then a line in a log, or nothing."""

import bisect
import time
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

INTERVAL = 10.0


class Display(Protocol):
    """`kept` results stood already, `score` is None for a fault."""

    def start(self, total: int) -> None: ...

    def advance(self, score: float | None, kept: bool = False) -> None: ...

    def close(self) -> None: ...


def display(stream: TextIO, quiet: bool) -> Display:
    if quiet:
        return Silence()
    return Bar(stream) if stream.isatty() else Lines(stream)


class Tally:
    """How far it is, how fast it goes, and the median score so far."""

    def __init__(self) -> None:
        self.total = self.done = self.kept = self.faults = 0
        self.began = time.monotonic()
        self.scores: list[float] = []

    def start(self, total: int) -> None:
        self.total, self.began = total, time.monotonic()

    def add(self, score: float | None, kept: bool) -> None:
        self.done += 1
        self.kept += kept
        self.faults += score is None
        if score is not None:
            bisect.insort(self.scores, score)

    @property
    def median(self) -> float:
        middle = len(self.scores) // 2
        if len(self.scores) % 2:
            return self.scores[middle]
        return (self.scores[middle - 1] + self.scores[middle]) / 2 if self.scores else float("nan")

    @property
    def rate(self) -> float:
        """Submissions graded in a second; what stood already does not count."""
        return (self.done - self.kept) / max(time.monotonic() - self.began, 1e-9)

    def status(self) -> str:
        parts = [f"{self.rate:.1f}/s"] if self.done > self.kept else []
        left = self.total - self.done
        if left and self.done > self.kept:
            parts.append(f"{duration(left / self.rate)} left")
        parts += [f"median {self.median:g}"] if self.scores else []
        parts += [f"{self.kept} unchanged"] if self.kept else []
        parts += [f"{self.faults} faults"] if self.faults else []
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Two figures at most: 45 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


class Silence:
    """Shows nothing."""

    def start(self, total: int) -> None: ...

    def advance(self, score: float | None, kept: bool = False) -> None: ...

    def close(self) -> None: ...


class Lines:
    """A line every few seconds, for logs."""

    def __init__(self, stream: TextIO):
        self.stream, self.tally, self.said, self.line = stream, Tally(), time.monotonic(), ""

    def start(self, total: int) -> None:
        self.tally.start(total)

    def advance(self, score: float | None, kept: bool = False) -> None:
        self.tally.add(score, kept)
        if time.monotonic() - self.said >= INTERVAL:
            self._say()

    def close(self) -> None:
        self._say()

    def _say(self) -> None:
        self.said = time.monotonic()
        before, self.line = self.line, f"{self.tally.done} of {self.tally.total}: "
        if self.tally.total and self.line != before:
            print(self.line + self.tally.status(), file=self.stream, flush=True)


class Bar:
    """A progress bar with count, rate, time left and the running median."""

    def __init__(self, stream: TextIO):
        self.tally = Tally()
        columns = (
            TextColumn("Grading"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
        )
        self.progress = Progress(*columns, console=Console(file=stream), refresh_per_second=4)
        self.task = self.progress.add_task("", total=None, status="")

    def start(self, total: int) -> None:
        self.tally.start(total)
        self.progress.update(self.task, total=total)
        self.progress.start()

    def advance(self, score: float | None, kept: bool = False) -> None:
        self.tally.add(score, kept)
        self.progress.update(self.task, completed=self.tally.done, status=self.tally.status())

    def close(self) -> None:
        self.progress.stop()
