"""The grader's side of one student process: load, play, deadlines, questions, end.

Between two plays a process is stopped, so that of several processes of a submission only the one runs whose turn it is: what a
process does, it does while its own requests are answered and its own questions allowed.
"""

import contextlib
import itertools
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence

from autograder.faults import SandboxFault
from autograder.sandbox import wire
from autograder.sandbox.answerer import Answerer, Exhausted, Replies
from autograder.sandbox.budget import ENDLESS_SHARE, LOOK_SECONDS, CallSpent, Clock
from autograder.sandbox.connection import Connection, within
from autograder.sandbox.messages import Call, Ended, Reply, prepared_load, reply_of
from autograder.sandbox.wire import Parameters
from autograder.values.kinds import Opaque

SPENT, TOO_LARGE = Reply(ended=Ended("spent")), Reply(value=Opaque("something too large to send"))
# Kinds of requests whose replies are read at once, and of a form that bounds them.
OWN_QUESTIONS = ("load", "edits", "edit")
INTERRUPTED_SECONDS = 0.3  # in which a process may say where it was when its time was up


class Unasking:
    """What a process replies that has nothing to ask for: the grader reads it itself, and no question at all."""

    complete = False

    def __init__(self, student: Connection, clock: Clock):
        self.student, self.clock = student, clock

    def next(self) -> bytes:
        """The next reply; Gone or WireError if there is none, TimeoutError at a deadline."""
        self.clock.check()
        message = self.student.receive(self.clock.check)
        if wire.kind(message) == "ask":
            raise wire.WireError("a question of a process that was given nothing to ask for")
        return message

    def close(self) -> None:
        """Nobody else has to be told."""


class StudentProcess:
    """One student process; made by `Sandbox.start`."""

    def __init__(
        self,
        ours: socket.socket,
        pid: int,
        answerer: Answerer,
        lines: Mapping[str, int],
        end: Callable[[], str],
        is_full: Callable[[], bool],
        share: float = 1,
    ):
        """`lines` of each file; `end` removes the process and says why it was killed, if it was; `is_full` looks at its folder.

        The calls of one message may take a `share` of the submission's time.
        """
        self.pid, self.answerer, self.budget, self.lines = pid, answerer, answerer.budget, lines
        self._remove, self._is_full = end, is_full
        limits = self.budget.limits
        limit = min(limits.message_mb * 2**20, wire.MAX_FROM_STUDENT)
        self.connection = Connection(ours, limit, LOOK_SECONDS)
        self.ended: Ended | None = None
        self.alive = True  # as far as the sandbox knows
        self.confined = False
        self.is_reference = False  # what it replies is kept, in `Call.seen`
        self._modules: dict[str, tuple[str, ...]] = {}  # what is imported into a context
        self._allowed: dict[str, list[str]] = {}  # what a context may ask for
        self._may_ask = False  # whether it has been given anything to ask for
        self._share = share
        self._patience = limits.call_seconds * limits.wall_factor

    def load(
        self,
        context: str,
        modules: Sequence[str],
        stand_ins: Mapping[str, Mapping[str, Parameters]] | None = None,
        replaced: Sequence[str] = (),
    ) -> Reply:
        """Import modules into a context of their own.

        `stand_ins` are modules whose functions (with their parameters) are answered by the answering process, and
        so are the functions `replaced` of the first module. These may be asked for in this context, and no others.
        """
        proxies = stand_ins or {}
        named = [f"{module}.{function}" for module, functions in proxies.items() for function in functions]
        self._modules[context] = tuple(modules)
        self._allowed[context] = named + [f"{modules[0]}.{function}" for function in replaced]
        return self.play([prepared_load(context, modules, proxies, replaced)])[0]

    def play(self, calls: Sequence[Call]) -> list[Reply]:
        """Make requests; their replies, up to the end of the process, of which the last one says why.

        Requests of a module that has used up what one may have are not made: they are `SPENT`.

        Raises SandboxFault for a process that could not be confined.
        """
        replies: list[Reply] = []
        if not calls:
            return replies
        account = ""
        if self.ended is None:
            try:
                for part in self._parts(calls):
                    account = self._account(part[0])
                    if self.budget.left(account) > 0:
                        self._exchange(account, part, replies)
                    else:
                        replies += [SPENT] * len(part)
                return replies
            except TimeoutError as error:
                if self.budget.left(account) <= 0 and not isinstance(error, CallSpent):
                    self._end("spent")
                    return [*replies, SPENT]
                self._end("deadline", *self._interrupted(calls[len(replies) :], isinstance(error, CallSpent)))
            except Exhausted:
                self._end("memory")
            except wire.Gone:
                self._end("crash")
                if not self.confined and self.ended == Ended("crash"):
                    raise SandboxFault("a student's process has ended before it was confined") from None
            except wire.WireError:
                self._end("protocol")
            finally:
                self._signal("SIGSTOP")
        return [*replies, Reply(ended=self.ended)]

    def _exchange(self, account: str, calls: Sequence[Call], replies: list[Reply]) -> None:
        together = min(self._share * self.budget.limits.submission_seconds, self.budget.left(account))
        clock = Clock(self.budget, self._watch, ENDLESS_SHARE if self._may_be_endless(calls[0]) else 1, together)
        self._signal("SIGCONT")
        try:
            self._wait_until_confined(clock)
            allowed = {call.context: self._allowed.get(call.context, ()) for call in calls}
            self._may_ask = self._may_ask or any(allowed.values()) or any(call.lent for call in calls)
            if self._may_ask:
                self.answerer.running()
                clock.next()  # to start a process is no time of a call: without fork it takes longer than one may
            # All is sent before the connection is given away: it has one user at a time, who alone knows how it blocks.
            self.connection.send(wire.encode(len(calls)), *[call.payload for call in calls], patience=self._patience)
            incoming: Replies | Unasking = Unasking(self.connection, clock)
            if self._may_ask:
                plan = wire.encode([allowed, [[call.context, *call.lent] for call in calls]])
                incoming = Replies(self.answerer, self.connection.socket, plan, clock)
            try:
                for call in calls:
                    replies.append(self._read(account, incoming.next(), call))
                    clock.next()
                incoming.complete = True
            finally:
                incoming.close()
        finally:
            clock.next()
            self.budget.module_seconds[account] += clock.seconds()

    def _read(self, account: str, message: bytes, call: Call) -> Reply:
        """A reply; that of the references is read once, and counted each time."""
        if message in call.seen:
            reply, values = call.seen[message]
        else:
            parts = wire.message_of(message)
            reply, values = reply_of(parts, call, self.lines), wire.count(parts)
            # An error names a line of this very submission.
            if self.is_reference and not call.seen and reply.error is None:
                call.seen[message] = reply, values
        if call.kind in OWN_QUESTIONS or self.budget.keep(account, call.edited, len(message), values):
            return reply
        return TOO_LARGE

    def _wait_until_confined(self, clock: Clock) -> None:
        """Hear from a new process that it is confined; until then none of the student's code has run."""
        if self.confined:
            return
        why = self.connection.receive(clock.check).decode("utf-8", "replace")
        if why:
            self.close()
            raise SandboxFault(f"a student's process cannot be confined: {why}")
        self.confined = True

    def _watch(self) -> None:
        if self._is_full():
            raise wire.Gone("its temporary folder is full")

    def _parts(self, calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
        """The calls of one module after those of another, and those that may be endless apart.

        With others in one message nobody could say whose time it is that passes.
        """
        groups = itertools.groupby(calls, lambda call: (self._account(call), self._may_be_endless(call)))
        return itertools.chain.from_iterable(
            ((call,) for call in own) if apart else (tuple(own),) for (_, apart), own in groups
        )

    def _account(self, call: Call) -> str:
        """The module that a call is one of; "" where several may be called."""
        return call.context if self._modules.get(call.context) == (call.context,) else ""

    def _may_be_endless(self, call: Call) -> bool:
        """Whether it runs what has used up the time of a call before, or may ask for it as one of several modules."""
        endless, modules = self.budget.endless, self._modules.get(call.context, ())
        return call.runs in endless or (len(modules) > 1 and bool(endless))

    def _interrupted(self, calls: Sequence[Call], spent: bool) -> tuple[str, int]:
        """File and line of the loop in which a process that has used up its time is interrupted; ("", 0): it does not say.

        First come replies to those of the `calls` that it had made before. None of them counts: they are made again.
        """
        look, left = within(INTERRUPTED_SECONDS), list(calls)
        self._signal("SIGINT")
        with contextlib.suppress(TimeoutError, wire.WireError):
            while left:
                look()
                message = self.connection.receive(look)
                if wire.kind(message) == "ask":
                    continue  # sent before the signal came
                reply = wire.message_of(message)
                call = left.pop(0)
                error = reply_of(reply, call, self.lines).error
                if error is not None and error.kind == "KeyboardInterrupt":
                    self.budget.endless |= {call.runs} if spent and call.runs else set()
                    return error.file, error.line
        return "", 0

    def _end(self, why: str, file: str = "", line: int = 0) -> None:
        """The process is of no use any more; the fork server may know better why."""
        if why == "crash" and self._is_full():
            why = "disk"
        self.ended = Ended(why)
        self.ended = Ended(self.close() or why, file, line)

    def close(self, why: str = "crash") -> str:
        """End the process; why the fork server has killed it before, if it has."""
        self.connection.close()
        self.ended = self.ended or Ended(why)
        alive, self.alive = self.alive, False
        return self._remove() if alive else ""

    def _signal(self, name: str) -> None:
        """Let the process run, or stop it with all its threads."""
        if self.alive and hasattr(signal, name):
            with contextlib.suppress(OSError):
                os.kill(self.pid, getattr(signal, name))
