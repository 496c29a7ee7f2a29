"""The time and memory limits of one submission, and the time it has used."""

import contextlib
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, Field

CONTAINER_MEMORY = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
LOOK_SECONDS = 0.2  # interval between checks of the clocks
# Seconds for which the calls of one function may wait, without computing or returning. Once one has waited that long, others have a
# share of it: most of them call the first one. Then the seconds for which the calls of a submission may wait.
IDLE_SECONDS, LATER_IDLE_SHARE, MOST_IDLE_SECONDS = 2, 0.2, 10
# Extra time of a call for each callback: about eight times its cost in both processes, so a call may make as many as the contract
# allows, whatever the load.
CALLBACK_SECONDS = 0.001
# The share of the usual time for later calls of a function that has once used up its time: most such functions never end, and
# each is called in several processes. The share is still a hundred times the references' time.
ENDLESS_SHARE = 0.1
# The shares of a submission's time for the preview and for the calls of one module, so that slow code leaves some for the rest.
PREVIEW, PREVIEW_SHARE, MODULE_SHARE = "preview", 0.2, 0.5


class Limits(BaseModel):
    """The limits of one submission, which all its processes share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call_seconds: float = Field(
        default=4, gt=0, description="processor time of one call, besides what its callbacks take"
    )
    submission_seconds: float = Field(
        default=60, gt=0, description="processor time of all calls, of which one module may use half"
    )
    wall_factor: float = Field(default=8, ge=1, description="wall-clock time allowed for a second of processor time")
    memory_mb: int = Field(default=384, ge=128, description="memory of one process of a submission")
    message_mb: int = Field(default=8, ge=1, description="one message over the wire")
    disk_mb: int = Field(default=16, ge=1, description="the temporary folder of one process")
    processes: int = Field(
        default=128,
        ge=1,
        description="threads of the student's process; an ended thread counts until the kernel has released it",
    )
    open_files: int = Field(default=64, ge=16)
    repairs: int = Field(
        default=1200,
        ge=0,
        description="edited versions of a function that are tried if no misconception explains it, at most 1200",
    )
    upload_files: int = Field(default=500, ge=1, description="files in one submission")
    upload_mb: int = Field(default=20, ge=1, description="unpacked size of one submission")


class CallTimeout(TimeoutError):
    """A call has used up its wall-clock time. A TimeoutError of no other kind means that the whole account is used up."""

    why = "deadline"


class CallSpent(CallTimeout):
    """A call has used up its processor time, so it may be endless."""


class CallIdle(CallTimeout):
    """A call has waited for too long."""

    why = "idle"


@dataclass
class Budget:
    """The time used by one submission, over all its processes."""

    limits: Limits
    wall_seconds: float = 0.0  # wall-clock time of the answered requests
    ended_seconds: float = 0.0  # processor time of ended processes
    own_seconds: float = 0.0  # processor time of grader and fork server for this submission
    # Seconds of processor or waiting time by account, which is a module or PREVIEW.
    module_seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    endless: set[str] = field(default_factory=set)  # the Call.runs of calls that used up their processor time
    # By the name of a function (see StudentProcess): file and line where it has waited too long, after which it is not called
    # again, and seconds of waiting.
    idle: dict[str, tuple[str, int]] = field(default_factory=dict)
    waited: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    running: int = 0  # the running process, 0 for none

    @property
    def processor_seconds(self) -> float:
        """Processor time of all processes of the submission, including grader and fork server time spent on it."""
        return self.ended_seconds + self.own_seconds + (_processor_seconds(self.running) if self.running else 0.0)

    def end(self, seconds: float | None = None) -> None:
        """Record that the process ended after this many seconds of processor time; None: read it from the system, if possible."""
        if self.running:
            self.ended_seconds += _processor_seconds(self.running) if seconds is None else seconds
        self.running = 0

    def left(self, account: str) -> float:
        """The seconds left for the requests of an account; "" is the whole submission."""
        if sum(self.waited.values()) > MOST_IDLE_SECONDS:
            return 0
        share = PREVIEW_SHARE if account == PREVIEW else MODULE_SHARE if account else 1
        return share * self.limits.submission_seconds - self.module_seconds[account]

    def check(self, wall_seconds: float = 0.0) -> float:
        """The processor time so far; raises TimeoutError if it, or the wall-clock time, is used up."""
        used = self.processor_seconds
        if used > self.limits.submission_seconds:
            raise TimeoutError("processor time of the submission")
        if self.wall_seconds + wall_seconds > self.limits.submission_seconds * self.limits.wall_factor:
            raise TimeoutError("time of the submission")
        return used

    def wait(self, name: str, seconds: float) -> None:
        """Record that a call waits; raises CallIdle if those of this name have waited too long."""
        self.waited[name] += seconds
        if self.waited[name] > IDLE_SECONDS * (LATER_IDLE_SHARE if self.idle else 1) or self.left("") <= 0:
            raise CallIdle("waiting")


class Clock:
    """The deadlines of consecutive requests: processor time, time of waiting, and wall-clock time as a backstop."""

    def __init__(self, budget: Budget, watch: Callable[[bool], str], share: float, together: float):
        """`share` is a factor on the usual time of a call. All requests may take `together` seconds in total.

        `watch` is called at each check, with whether no message has arrived for a while. It may raise, or return what waits.
        """
        self.budget, self.watch, self.share = budget, watch, share
        self.looked = self.began = self.opened = time.monotonic()
        self.together = together
        self.own = time.thread_time()
        self.used = self.first = budget.check()  # processor time of the submission at the last check, and at the first
        self.processor: float | None = None  # the same at the start of the request
        self.callbacks = 0  # callbacks of the request

    def check(self, is_silent: bool = False) -> float:
        """Raise TimeoutError if the request, or the whole submission, has used up its time. Checks every LOOK_SECONDS.

        Returns the seconds until the next check. It must not depend on messages, or a process could avoid to be seen waiting.
        """
        now = time.monotonic()
        since = now - self.looked
        if since < LOOK_SECONDS:
            return LOOK_SECONDS - since
        self.looked, elapsed, limits = now, now - self.began, self.budget.limits
        self._count_own()
        used = self.budget.check(elapsed)
        if name := self.watch(is_silent):
            self.budget.wait(name, min(since, 2 * LOOK_SECONDS))  # the grader itself may have been stopped
        if self.processor is None:
            # Without a check at the start of the request, assume that it used all the time since then.
            self.processor = max(self.used, used - elapsed)
        self.used = used
        allowed = limits.call_seconds * self.share + self.callbacks * CALLBACK_SECONDS
        if used - self.processor > allowed:
            raise CallSpent("processor time of a call")
        if elapsed > allowed * limits.wall_factor:
            raise CallTimeout("time of a call")
        if used - self.first > self.together or now - self.opened > self.together * limits.wall_factor:
            raise TimeoutError("total time of several calls")
        return LOOK_SECONDS

    def next(self) -> None:
        """Start the deadlines of the next request, after a response has arrived."""
        now = time.monotonic()
        self.budget.wall_seconds += now - self.began
        self.began, self.processor, self.callbacks = now, None, 0

    def seconds(self) -> float:
        """The time of all requests: processor time, or scaled wall-clock time if they mostly waited."""
        self._count_own()
        used = self.budget.processor_seconds - self.first
        return max(used, (time.monotonic() - self.opened) / self.budget.limits.wall_factor)

    def _count_own(self) -> None:
        before, self.own = self.own, time.thread_time()
        self.budget.own_seconds += self.own - before


def _processor_seconds(pid: int) -> float:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return time.clock_gettime(~pid << 3 | 2)  # clock_getcpuclockid(3): sixty times faster than reading a file
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def waits(pid: int) -> bool:
    """Whether every thread of a process sleeps or is stopped: none runs, or waits for a processor or a disk. False if unknown."""
    try:
        stats = [Path(f"/proc/{pid}/task/{thread}/stat").read_bytes() for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return False
    return all(stat.rpartition(b")")[2][1:2] in b"STZ" for stat in stats)


def container_memory() -> int:
    """The memory of this machine or container in megabytes."""
    total = psutil.virtual_memory().total
    for place in CONTAINER_MEMORY:
        with contextlib.suppress(OSError, ValueError):
            total = min(total, int(Path(place).read_text()))
    return total // 2**20
