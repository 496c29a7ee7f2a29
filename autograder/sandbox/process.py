"""The grader's side of one student process: requests, deadlines and the end; and the time and memory of one submission."""

import contextlib
import itertools
import os
import signal
import socket
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from pydantic import BaseModel, ConfigDict, Field

from autograder.exceptions import CallTimeout, Disconnected, SandboxError, WireError
from autograder.sandbox import wire
from autograder.sandbox.protocol import REQUESTS, Define, Ended, Load, Reference, Request, Response
from autograder.sandbox.wire import Connection
from autograder.shared.tree import Opaque

if TYPE_CHECKING:
    from autograder.sandbox.sandbox import Sandbox

SPENT, TOO_LARGE = Response(ended=Ended("spent")), Response(value=Opaque("something too large to send"))
INTERRUPTED_SECONDS = 0.3  # time to report the running loop at the deadline
# Limits on the stored responses of one process: a small array takes a few bytes on the wire and a hundred here. The references need
# at most 0.1 MB, and 13,000 values as nested lists.
MAX_STORED_BYTES, MAX_STORED_VALUES = 4 * 2**20, 40_000
REPLY_SHARE = 0.25  # share of the remaining limit that one response may use
Planned = tuple[Request, str, Response | None, bool]  # a call, and the rest as in `StudentProcess._planned`


CONTAINER_MEMORY = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
LOOK_SECONDS = 0.2  # interval between checks of the clocks
# Seconds for which the calls of one function may wait, without computing or returning. Once one has waited that long, others have a
# share of it: most of them call the first one. Then the seconds for which the calls of a submission may wait.
IDLE_SECONDS, LATER_IDLE_SHARE, MOST_IDLE_SECONDS = 2, 0.2, 10
# The share of the usual time for later calls of a function that has once used up its time: most such functions never end, and
# each is called in several processes. The share is still a hundred times the references' time.
ENDLESS_SHARE = 0.1
# The shares of a submission's time for the preview and for the calls of one module, so that slow code leaves some for the rest.
PREVIEW, PREVIEW_SHARE, MODULE_SHARE = "preview", 0.2, 0.5


class Limits(BaseModel):
    """The limits of one submission, which all its processes share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call_seconds: float = Field(default=4, gt=0, description="processor time of one call")
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


class Budget:
    """The time used by one submission, over all its processes, and the deadlines of the requests that are being made."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self.ended_seconds = 0.0  # processor time of ended processes
        self.own_seconds = 0.0  # processor time of grader and fork server for this submission
        # Seconds by account, a module or PREVIEW: processor time, or scaled wall-clock time if its requests mostly waited.
        self.module_seconds = defaultdict[str, float](float)
        self.endless = set[str]()  # the Request.runs of calls that used up their processor time
        # By the name of a function (see StudentProcess): file and line where it has waited too long, after which it is not called
        # again, and seconds of waiting.
        self.idle: dict[str, tuple[str, int]] = {}
        self.waited = defaultdict[str, float](float)
        self.running = 0  # the running process, 0 for none

    @property
    def processor_seconds(self) -> float:
        """Processor time of all processes of the submission, including grader and fork server time spent on it."""
        return self.ended_seconds + self.own_seconds + (_processor_seconds(self.running) if self.running else 0.0)

    def end(self, seconds: float | None = None) -> None:
        """Record that the process ended after this many seconds of processor time; None: read it from the system, if possible."""
        if self.running:
            self.ended_seconds += _processor_seconds(self.running) if seconds is None else seconds
        self.running = 0

    def remaining(self, account: str) -> float:
        """Return the seconds left for the requests of an account; "" is the whole submission."""
        if sum(self.waited.values()) > MOST_IDLE_SECONDS:
            return 0
        total = self.limits.submission_seconds
        share = PREVIEW_SHARE if account == PREVIEW else MODULE_SHARE if account else 1
        spent = max(self.processor_seconds, sum(self.module_seconds.values()))
        return min(total - spent, share * total - self.module_seconds[account])

    def begin(self, account: str, share: float, watch: Callable[[bool], str]) -> None:
        """Start the deadlines of consecutive requests. `share` is a factor on the usual time of a call.

        `watch` is called at each check, with whether no message has arrived for a while. It may raise, or return what waits.
        """
        self._account, self._share, self._watch, self._together = account, share, watch, self.remaining(account)
        self._looked = self._began = self._opened = time.monotonic()
        self._thread_seconds = time.thread_time()
        self._used = self._first = self.processor_seconds  # at the last check, and at the first
        self._processor: float | None = None  # the same at the start of the request

    def check(self, is_silent: bool = False) -> float:
        """Raise TimeoutError if the request, or the whole account, has used up its time. Checks every LOOK_SECONDS.

        Returns the seconds until the next check. It must not depend on messages, or a process could avoid to be seen waiting.
        """
        now = time.monotonic()
        since = now - self._looked
        if since < LOOK_SECONDS:
            return LOOK_SECONDS - since
        self._looked, elapsed = now, now - self._began
        spent = self._spent(now)
        if name := self._watch(is_silent):
            self.waited[name] += min(since, 2 * LOOK_SECONDS)  # the grader itself may have been stopped
            most = IDLE_SECONDS * (LATER_IDLE_SHARE if self.idle else 1)
            if self.waited[name] > most or self.remaining("") <= 0:
                raise CallTimeout("idle")
        if self._processor is None:
            # Without a check at the start of the request, assume that it used all the time since then.
            self._processor = max(self._used, self.processor_seconds - elapsed)
        self._used = self.processor_seconds
        allowed = self.limits.call_seconds * self._share
        if self._used - self._processor > allowed:
            raise CallTimeout("processor")
        if elapsed > allowed * self.limits.wall_factor:
            raise CallTimeout("wall")
        if spent > self._together:
            raise TimeoutError("total time of several calls")
        return LOOK_SECONDS

    def next(self) -> None:
        """Start the deadlines of the next request, after a response has arrived."""
        self._began, self._processor = time.monotonic(), None

    def finish(self) -> None:
        """Count the time of the requests for their account."""
        self.module_seconds[self._account] += self._spent(time.monotonic())

    def _spent(self, now: float) -> float:
        before, self._thread_seconds = self._thread_seconds, time.thread_time()
        self.own_seconds += self._thread_seconds - before
        return max(self.processor_seconds - self._first, (now - self._opened) / self.limits.wall_factor)


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
    """Return the memory of this machine or container in megabytes."""
    total = psutil.virtual_memory().total
    for path in CONTAINER_MEMORY:
        with contextlib.suppress(OSError, ValueError):
            total = min(total, int(Path(path).read_text()))
    return total // 2**20


class StudentProcess:
    """One student process, created by `Sandbox.start`. It ends with the `with` block."""

    def __init__(self, ours: socket.socket, pid: int, sandbox: "Sandbox"):
        self.pid, self.budget, self._sandbox = pid, sandbox.budget, sandbox
        self._lines = sandbox.folder.lines  # of each file
        self.connection = Connection(ours, min(sandbox.limits.message_mb * 2**20, wire.MAX_FROM_STUDENT))
        self.ended: Ended | None = None
        self._ran = False  # whether it may have run code of the submission
        self._modules = set[str]()  # imported modules of the submission
        self._unanswered: deque[Planned] = deque()  # the sent calls without a response
        self._suffix, self._name = " beside", ""  # the end of the names of calls, and the last name
        self._bytes_left, self._values_left = MAX_STORED_BYTES, MAX_STORED_VALUES

    def load(
        self,
        modules: Sequence[str],
        references: Sequence[Reference] = (),
        helpers: Reference | None = None,
        account: str = "",
        functions: Mapping[str, Sequence[str]] | None = None,
    ) -> Response:
        """Import modules of the submission, with `references` in place of some of its files.

        The functions of `helpers` replace those of the first module. The value of the response is the signatures of
        `functions`, names by module, as a dict; None without any.
        """
        requests: list[Request] = [Load(modules, functions)]
        if references or helpers or not self._modules:
            requests.insert(0, Define(references, helpers))
        self._modules.update(modules)
        replaced = (*(one.module for one in references), *(helpers.functions if helpers else ()))
        self._suffix = " ".join((self._suffix, *replaced))
        return self.run(requests, account)[-1]

    def run(self, calls: Sequence[Request], account: str = "") -> list[Response]:
        """Make requests; returns the responses up to the end of the process, the last of which has the reason for it.

        The time counts for the module `account`. Once that has used up its share, requests are not made and each
        response is `SPENT`.

        An error of the kit's own code in the process raises SandboxError if no code of the submission has run there. Later, it
        counts as an invalid response, since the submission may have caused or forged it. An error that does not depend on the
        submission fails the self-test (grader.py).
        """
        responses: list[Response] = []
        if self.ended is not None and calls:
            return [Response(ended=self.ended)]
        try:
            for (skipped, is_endless), group in itertools.groupby(map(self._planned, calls), itemgetter(2, 3)):
                planned = list(group)
                # The time of each endless one is measured.
                for batch in [[call] for call in planned] if is_endless else [planned]:
                    if skipped or self.budget.remaining(account) <= 0:
                        responses += [skipped or SPENT] * len(batch)
                    else:
                        self._exchange(account, batch, ENDLESS_SHARE if is_endless else 1, responses)
            return responses
        except (TimeoutError, WireError) as error:
            if isinstance(error, TimeoutError) and not isinstance(error, CallTimeout):
                self._end("spent")
                return [*responses, SPENT]
            self._end(error.why, *(self._interrupted(error) if isinstance(error, CallTimeout) else ()))
            if not self._ran:
                raise SandboxError(f"a student's process failed before any student code: {error}") from None
        return [*responses, Response(ended=self.ended)]

    def _exchange(self, account: str, calls: Sequence[Planned], share: float, responses: list[Response]) -> None:
        budget, self._unanswered = self.budget, deque(calls)
        budget.begin(account, share, self._watch)
        try:
            self.connection.send(wire.encode(len(calls)), *[call.payload for call, *_ in calls], check=budget.check)
            for call, *_ in calls:
                self._ran = self._ran or not call.is_kits
                budget.check()
                data = self.connection.receive(budget.check)
                message, values = wire.received(data)
                response = call.response(message, self._lines)
                if call.is_stored:  # all together must not fill the grader's memory
                    size = len(data)
                    if size > REPLY_SHARE * self._bytes_left or values > REPLY_SHARE * self._values_left:
                        response = TOO_LARGE
                    else:
                        self._bytes_left, self._values_left = self._bytes_left - size, self._values_left - values
                responses.append(response)
                self._unanswered.popleft()
                budget.next()
        finally:
            budget.finish()

    def _watch(self, is_silent: bool) -> str:
        """Return the name of the running call if the process waits, but not for the grader; else "". Raises Disconnected."""
        if self._sandbox.is_full():
            raise Disconnected("its temporary folder is full")
        name = self._unanswered[0][1]
        # The order matters: a process that sends a message and waits for the answer is not idle.
        return name if is_silent and name and waits(self.pid) and self.connection.is_silent() else ""

    def _planned(self, call: Request) -> Planned:
        """Return a call, its name, the response if its function has waited too long, and whether it has used up its processor time.

        The name is that of its function, beside everything that has a reference in its place: without these references, the
        same function may have to wait.
        """
        if call.is_kits:
            return call, "", None, False
        if call.runs or call.kind not in REQUESTS:  # other requests run no function, and follow one that does
            self._name = f"{call.runs or call.kind}{self._suffix}"
        is_endless = call.runs in self.budget.endless or (len(self._modules) > 1 and bool(self.budget.endless))
        location = self.budget.idle.get(self._name)
        return call, self._name, location and Response(ended=Ended("idle", *location)), is_endless

    def _interrupted(self, error: CallTimeout) -> tuple[str, int]:
        """Interrupt a process; returns file and line of the running loop, or ("", 0) if it does not report one.

        Responses to earlier calls arrive first. They are discarded, and the calls are made again. The next call is the running
        one: its function counts as endless or idle. Without a report it is known only if all have the same function.
        """
        unanswered, end, location = self._unanswered, time.monotonic() + INTERRUPTED_SECONDS, ("", 0)
        is_known = len({name for _, name, *_ in unanswered}) == 1

        def look(_: bool) -> float:
            if time.monotonic() > end:
                raise TimeoutError
            return INTERRUPTED_SECONDS

        if hasattr(signal, "SIGINT") and os.name == "posix":
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGINT)
        with contextlib.suppress(TimeoutError, WireError):
            while unanswered:
                look(False)
                message, _ = wire.received(self.connection.receive(look))
                reported = unanswered[0][0].response(message, self._lines).error
                if reported is not None and reported.kind == "KeyboardInterrupt":
                    location, is_known = (reported.file, reported.line), True
                    break
                unanswered.popleft()
        for call, name, *_ in list(unanswered)[:is_known]:
            if error.why == "idle":
                self.budget.idle[name] = location
            elif error.args == ("processor",) and call.runs:
                self.budget.endless.add(call.runs)
        return location

    def _end(self, why: str, file: str = "", line: int = 0) -> None:
        """End the process; the fork server may know the reason more precisely."""
        if why == "crash" and self._sandbox.is_full():
            why = "disk"
        self.ended = Ended(self.close() or why, file, line)

    def close(self) -> str:
        """End the process; returns why the fork server killed it, or ""."""
        if self.ended is not None:
            return ""
        self.ended = Ended("crash")
        self.connection.close()
        return self._sandbox.end_process()

    def __enter__(self) -> "StudentProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
