"""Progress of a run: a bar on a terminal, a line every ten seconds in a log, or nothing."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

INTERVAL = 10.0  # seconds between two lines in a log
TEXT = TextColumn("{task.description}")


@contextlib.contextmanager
def stages(weights: Mapping[str, float], stream: TextIO) -> Iterator[Callable[[str], None]]:
    """Show the stages of a long task: a bar on a terminal, else a line for each.

    The returned function is called with the name of each stage when it begins; `weights` are their shares of the time.
    """
    names = list(weights)
    bar = Progress(SpinnerColumn(), TEXT, BarColumn(), TimeElapsedColumn(), console=Console(file=stream))
    task = bar.add_task("", total=sum(weights.values()))

    def begin(name: str) -> None:
        if not stream.isatty():
            print(f"{name} ...", file=stream, flush=True)
        done = sum(weights[earlier] for earlier in names[: names.index(name)])
        bar.update(task, description=name, completed=done)

    with bar if stream.isatty() else contextlib.nullcontext():
        yield begin


class Display:
    """Counts graded submissions, and shows the count on `stream`, if any.

    `kept` results are from an earlier run; no score means a grader error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream, self.total = stream, 0
        self.done = self.kept = self.errors = 0
        self.shown_at, self.shown = time.monotonic(), 0
        columns = (TEXT, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.fields[status]}"))
        is_terminal = stream is not None and stream.isatty()
        self.bar = Progress(*columns, console=Console(file=stream)) if is_terminal else None

    def start(self, total: int) -> None:
        self.total = total
        if self.bar:
            self.bar.add_task("Grading", total=total, status="")
            self.bar.start()

    def say(self, text: str) -> None:
        if self.bar:
            self.bar.console.print(text, highlight=False)  # above the bar
        elif self.stream:
            print(text, file=self.stream, flush=True)

    def advance(self, score: float | None, kept: bool = False) -> None:
        self.done += 1
        self.kept += kept
        self.errors += score is None
        if self.bar:
            self.bar.update(self.bar.task_ids[0], completed=self.done, status=self._status())
        elif time.monotonic() - self.shown_at >= INTERVAL:
            self._show()

    def close(self) -> None:
        if self.bar:
            self.bar.stop()
        elif self.done != self.shown:
            self._show()

    def _show(self) -> None:
        self.shown_at, self.shown = time.monotonic(), self.done
        self.say(", ".join(filter(None, (f"{self.done} of {self.total}", self._status()))))

    def _status(self) -> str:
        errors = f"{self.errors} grader error{'' if self.errors == 1 else 's'}"
        return ", ".join([f"{self.kept} unchanged"] * bool(self.kept) + [errors] * bool(self.errors))
