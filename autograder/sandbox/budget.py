"""What one submission may cost: the deadlines of its calls, and the memory of the machine or container that it runs in."""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from autograder.sandbox import wire

if TYPE_CHECKING:
    from autograder.sandbox.process import Student

CGROUP = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # a container's memory
LOOK = 0.2  # seconds of silence after which the deadlines are looked at


class Clock:
    """The deadlines of one request after another: processor time of the student's process, and wall-clock time as a backstop."""

    def __init__(self, student: "Student"):
        self.student, self.limits = student, student.limits
        self._begin()

    def _begin(self) -> None:
        self.started = self.looked = time.monotonic()
        self.processor: float | None = None
        self.answering = 0.0

    def receive(self) -> bytes:
        self.check()
        return self.student.line.receive(self.check)

    def send(self, *payloads: bytes) -> None:
        self.student.line.send(*payloads, patience=self.limits.call_seconds * self.limits.wall_factor)

    def check(self) -> None:
        """Raise TimeoutError when the request, or the submission as a whole, has cost too much; looks every LOOK seconds."""
        now = time.monotonic()
        if now - self.looked < LOOK:
            return
        self.looked, elapsed = now, now - self.started
        sandbox, limits = self.student.sandbox, self.limits
        used = self._processor_time()
        if self.processor is None:
            self.processor = used - min(used, elapsed)
        if (
            used - self.processor + self.answering > limits.call_seconds
            or elapsed > limits.call_seconds * limits.wall_factor
        ):
            raise TimeoutError("deadline")
        if sandbox.spent + elapsed > limits.submission_seconds * limits.wall_factor:
            raise TimeoutError("deadline")
        if self.student.single is not None and sandbox.disk_full():
            raise wire.Gone("its temporary folder is full")

    def _processor_time(self) -> float:
        try:
            times = psutil.Process(self.student.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def next(self) -> None:
        """A reply has come: the deadlines of the next request begin."""
        self.stop()
        self._begin()

    def stop(self) -> None:
        self.student.sandbox.spent += time.monotonic() - self.started


def container_memory() -> int:
    """Megabytes that this machine or container has."""
    found = psutil.virtual_memory().total
    for place in CGROUP:
        with contextlib.suppress(OSError, ValueError):
            found = min(found, int(Path(place).read_text()))
    return found // 2**20
