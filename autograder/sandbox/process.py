"""The grader's side of one student process: requests, deadlines and the end."""

import contextlib
import itertools
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from autograder.exceptions import SandboxError
from autograder.sandbox import wire
from autograder.sandbox.budget import ENDLESS_SHARE, Budget, CallIdle, CallSpent, CallTimeout, Clock, waits
from autograder.sandbox.protocol import REQUESTS, Define, Ended, Load, Reference, Request, Response
from autograder.sandbox.wire import Connection
from autograder.values.tree import Opaque

SPENT, TOO_LARGE = Response(ended=Ended("spent")), Response(value=Opaque("something too large to send"))
INTERRUPTED_SECONDS = 0.3  # time to report the running loop at the deadline
# Limits on the stored responses of one process: a small array takes a few bytes on the wire and a hundred here. The references need
# at most 0.1 MB, and 13,000 values as nested lists.
MAX_KEPT_BYTES, MAX_KEPT_VALUES = 4 * 2**20, 40_000
REPLY_SHARE = 0.25  # share of the remaining limit that one response may use
Planned = tuple[Request, str, Response | None, bool]  # a call, and the rest as in `StudentProcess._planned`


class StudentProcess:
    """One student process, created by `Sandbox.start`. It ends with the `with` block."""

    def __init__(
        self,
        ours: socket.socket,
        pid: int,
        budget: Budget,
        lines: Mapping[str, int],
        end: Callable[[], str],
        is_full: Callable[[], bool],
    ):
        """`lines` is the number of lines of each file. `end` removes the process and returns why it was killed, or "".

        `is_full` checks its folder.
        """
        self.pid, self.budget, self.lines = pid, budget, lines
        self._remove, self._is_full = end, is_full
        self._limit = min(self.budget.limits.message_mb * 2**20, wire.MAX_FROM_STUDENT)
        self.connection = Connection(ours, self._limit)
        self.ended: Ended | None = None
        self._ran = False  # whether it may have run code of the submission
        self._modules = set[str]()  # imported modules of the submission
        self._unanswered: deque[Planned] = deque()  # the sent calls without a response
        self._beside, self._name = " beside", ""  # the end of the names of calls, and the last name
        self._kept_bytes, self._kept_values = 0, 0

    def load(
        self,
        modules: Sequence[str],
        references: Sequence[Reference] = (),
        helpers: Reference | None = None,
        account: str = "",
    ) -> Response:
        """Import modules of the submission, with `references` in place of some of its files.

        The functions of `helpers` replace those of the first module.
        """
        requests: list[Request] = [Load(modules)]
        if references or helpers or not self._modules:
            requests.insert(0, Define(references, helpers))
        self._modules.update(modules)
        replaced = (*(one.module for one in references), *(helpers.functions if helpers else ()))
        self._beside = " ".join((self._beside, *replaced))
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
                own = list(group)
                parts = [[call] for call in own] if is_endless else [own]  # to measure the time of each endless one
                for part in parts:
                    if skipped or self.budget.left(account) <= 0:
                        responses += [skipped or SPENT] * len(part)
                    else:
                        self._exchange(account, part, ENDLESS_SHARE if is_endless else 1, responses)
            return responses
        except (TimeoutError, wire.WireError) as error:
            if isinstance(error, TimeoutError) and not isinstance(error, CallTimeout):
                self._end("spent")
                return [*responses, SPENT]
            self._end(error.why, *(self._interrupted(error) if isinstance(error, CallTimeout) else ()))
            if not self._ran:
                raise SandboxError(f"a student's process failed before any student code: {error}") from None
        return [*responses, Response(ended=self.ended)]

    def _exchange(self, account: str, calls: Sequence[Planned], share: float, responses: list[Response]) -> None:
        clock = Clock(self.budget, self._watch, share, self.budget.left(account))
        self._unanswered = deque(calls)
        try:
            self.connection.send(wire.encode(len(calls)), *[call.payload for call, *_ in calls], check=clock.check)
            for call, *_ in calls:
                self._ran = self._ran or not call.is_kits
                clock.check(False)
                data = self.connection.receive(clock.check)
                message = wire.decode(data)
                response = call.response(message, self.lines)
                may_be_kept = not call.is_stored or self._keep(len(data), wire.count(message))
                responses.append(response if may_be_kept else TOO_LARGE)
                self._unanswered.popleft()
                clock.next()
        finally:
            clock.next()
            self.budget.module_seconds[account] += clock.seconds()

    def _keep(self, size: int, values: int) -> bool:
        """Whether a response may be stored, since all together must not fill the grader's memory."""
        left_bytes, left_values = MAX_KEPT_BYTES - self._kept_bytes, MAX_KEPT_VALUES - self._kept_values
        if size > REPLY_SHARE * left_bytes or values > REPLY_SHARE * left_values:
            return False
        self._kept_bytes, self._kept_values = self._kept_bytes + size, self._kept_values + values
        return True

    def _watch(self, is_silent: bool) -> str:
        """What waits, if it does not wait for the grader."""
        if self._is_full():
            raise wire.Disconnected("its temporary folder is full")
        name = self._unanswered[0][1]
        # The order matters: a process that sends a message and waits for the answer is not idle.
        return name if is_silent and name and waits(self.pid) and self.connection.is_silent() else ""

    def _planned(self, call: Request) -> Planned:
        """A call, its name, the response if its function has waited too long, and whether it has used up its processor time.

        The name is that of its function, beside everything that has a reference in its place: without these references, the
        same function may have to wait.
        """
        if call.is_kits:
            return call, "", None, False
        if call.runs or call.kind not in REQUESTS:  # other requests run no function, and follow one that does
            self._name = f"{call.runs or call.kind}{self._beside}"
        is_endless = call.runs in self.budget.endless or (len(self._modules) > 1 and bool(self.budget.endless))
        place = self.budget.idle.get(self._name)
        return call, self._name, place and Response(ended=Ended("idle", *place)), is_endless

    def _interrupted(self, error: CallTimeout) -> tuple[str, int]:
        """Interrupt a process; returns file and line of the running loop, or ("", 0) if it does not report one.

        Responses to earlier calls arrive first. They are discarded, and the calls are made again. The next call is the running
        one: its function counts as endless or idle. Without a report it is known only if all have the same function.
        """
        left, end, place = self._unanswered, time.monotonic() + INTERRUPTED_SECONDS, ("", 0)
        is_known = len({name for _, name, *_ in left}) == 1

        def look(_: bool) -> float:
            if time.monotonic() > end:
                raise TimeoutError
            return INTERRUPTED_SECONDS

        if hasattr(signal, "SIGINT") and os.name == "posix":
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGINT)
        with contextlib.suppress(TimeoutError, wire.WireError):
            while left:
                look(False)
                message = wire.decode(self.connection.receive(look))
                found = left[0][0].response(message, self.lines).error
                if found is not None and found.kind == "KeyboardInterrupt":
                    place, is_known = (found.file, found.line), True
                    break
                left.popleft()
        for call, name, *_ in list(left)[:is_known]:
            if isinstance(error, CallIdle):
                self.budget.idle[name] = place
            elif isinstance(error, CallSpent) and call.runs:
                self.budget.endless.add(call.runs)
        return place

    def _end(self, why: str, file: str = "", line: int = 0) -> None:
        """End the process; the fork server may know the reason more precisely."""
        if why == "crash" and self._is_full():
            why = "disk"
        self.ended = Ended(why)
        self.ended = Ended(self.close() or why, file, line)

    def close(self) -> str:
        """End the process; returns why the fork server killed it, or ""."""
        self.connection.close()
        self.ended = self.ended or Ended("crash")
        remove, self._remove = self._remove, str
        return remove()

    def __enter__(self) -> "StudentProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
