"""The grader's end of the answering process: started when first asked, killed at a deadline and after each submission; and the
relay, which carries questions to it."""

import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from autograder.faults import SandboxFault
from autograder.sandbox import answering, wire
from autograder.sandbox.answering import ANSWER, Answers
from autograder.sandbox.budget import LOOK_SECONDS, Budget, Clock
from autograder.sandbox.connection import Connection, within
from autograder.sandbox.layers import Confinement
from autograder.sandbox.messages import Call, Reply, reply_of
from autograder.sandbox.wire import Handle
from autograder.values.tree import leaves

MEMORY_SHARE = 4  # the answering process may have a quarter of a submission's memory
START_SECONDS = 60  # until it must be ready
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from autograder.sandbox import answering; answering.main()"


class Answerer:
    """Starts and ends the answering process; `answers` is called in it and must be picklable where fork is unsafe."""

    def __init__(self, answers: Callable[[], Answers], budget: Budget, confinement: Callable[[], Confinement]):
        """Its time counts for the budget; `confinement` is that of a student's process, asked for at each start."""
        self.answers, self.budget, self.confinement = answers, budget, confinement
        self.connection: Connection | None = None
        self.pid = self.server = 0
        self._control: socket.socket | None = None  # to the process that forks
        self._child: subprocess.Popen[bytes] | None = None

    def renew(self, budget: Budget) -> None:
        """Between two submissions: what one has asked for leaves traces in the memory of the process, which another could find.

        Without fork a start takes longer than a call may. There the same process goes on, and is started here.
        """
        if self.confinement().has("fork"):
            self.kill()
        else:
            self.running()
        self.budget = budget

    def running(self) -> Connection:
        """The connection to the process, which is started if there is none; raises SandboxFault."""
        if self.connection is None:
            ours, theirs = socket.socketpair()
            confinement = self._confinement()
            with theirs:
                self.pid = (self._fork if confinement.has("fork") else self._spawn)(theirs, confinement)
            self.connection = Connection(ours, confinement.message, LOOK_SECONDS)
            self.budget.run(self.pid)
            try:
                self.connection.receive(within(START_SECONDS))
            except (TimeoutError, wire.WireError):  # no fault of the student's
                self.kill()
                raise SandboxFault("the process that answers questions cannot be started") from None
        if self.pid not in self.budget.running:
            self.budget.run(self.pid)
        return self.connection

    def _fork(self, theirs: socket.socket, confinement: Confinement) -> int:
        if self._control is None:
            self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._control.settimeout(START_SECONDS)
            with control:
                self.server = os.fork()
                if self.server == 0:
                    answering.fork_on_request(control, self.answers)
        request = pickle.dumps((confinement, self.budget.limits.submission_seconds))
        return int(self._said(request, theirs.fileno()))

    def _said(self, request: bytes, *descriptors: int) -> float:
        """What the process that forks says to a request; raises SandboxFault."""
        assert self._control is not None
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [request], descriptors)
            if answer := self._control.recv(ANSWER.size):
                return float(*ANSWER.unpack(answer))
        self.connection = None
        self.close()
        raise SandboxFault("the process that answers questions cannot be started")

    def _spawn(self, theirs: socket.socket, confinement: Confinement) -> int:
        descriptors = (theirs.fileno(),) if os.name == "posix" else ()
        if os.name == "nt":
            theirs.set_inheritable(True)
        self._child = subprocess.Popen(
            [sys.executable, "-B", "-c", _START, json.dumps(sys.path), str(theirs.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors,
            close_fds=os.name == "posix",
        )
        assert self._child.stdin is not None
        with self._child.stdin as pipe:
            pipe.write(pickle.dumps((self.answers, confinement, self.budget.limits.submission_seconds)))
        return self._child.pid

    def _confinement(self) -> Confinement:
        """No files, no network, its share of a submission's memory besides what the process has from the grader."""
        student = self.confinement()
        memory = self.budget.limits.memory_mb * 2**20 // MEMORY_SHARE
        # A change of the thread that started it is no end of the grader: so this process does not end with its parent.
        # Its user has the number of the students' group, and is of no group.
        return replace(
            student, memory=memory, file_size=0, seconds=2**31, uid=student.group, group=0, ends_with_parent=False
        )

    def kill(self) -> None:
        """End the process, which may be in the midst of an answer."""
        if self.connection is None:
            return
        self.connection.close()
        self.connection = None
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self.budget.end(self.pid)
        else:
            self.budget.end(self.pid, self._said(answering.END))

    def close(self) -> None:
        """End the process, and the one that it was forked from."""
        with contextlib.suppress(SandboxFault):
            self.kill()
        if self._control is not None:
            self._control.close()
            self._control = None
            os.waitpid(self.server, 0)


# Carries questions from a student's process to the answering process, and back; checks who may ask for what.
#
# Messages are passed on as they are: what a student's process sends is worked on in the answering process, not in the grader.

MAX_QUESTIONS = 25_000  # in one request: as often as the contract allows a lent function and a neighbour together
MAX_NESTED = 3  # calls of the student's functions, each in the midst of a question of the one before
MAX_ASKED, MAX_ASKED_BYTES = 2_000, 8_192  # answers that are noted, and the largest of them


class Relay:
    """The conversation with one student process while its requests are answered."""

    def __init__(
        self,
        answerer: Answerer,
        student: Connection,
        clock: Clock,
        patience: float,
        asked: list[tuple[bytes, bytes]] | None,
    ):
        """`asked`, if given, takes questions (by digest) and sealed answers that could travel ahead another time.

        Then each call takes its reply into `seen`.
        """
        self.answerer, self.student, self.clock, self.patience, self.asked = answerer, student, clock, patience, asked
        self.allowed: frozenset[str] = frozenset()
        self.lent: frozenset[int] = frozenset()
        self.waiting = 0  # questions that the answering process has not answered yet
        self.nested = 0

    def reply(self, allowed: frozenset[str], call: Call, lines: Mapping[str, int]) -> Reply:
        """The student's reply to its present request, which may ask for `allowed` functions and those that the call lends."""
        self.allowed, self.lent = allowed, call.lent
        message, parts = self._next_reply(call.seen)
        cached = call.seen.get(message)
        values = cached[1] if cached else wire.count(parts)
        self.clock.budget.keep(values)
        reply = cached[0] if cached else reply_of(parts, call, lines)
        # An error names a line of this very submission.
        if self.asked is not None and not call.seen and reply.error is None:
            call.seen[message] = reply, values
        return reply

    def close(self) -> None:
        """The conversation is over. Where it broke off within an answer, the answering process cannot be used again."""
        if self.waiting:
            self.answerer.kill()

    def _next_reply(self, seen: Container[bytes] = ()) -> tuple[bytes, list[Any]]:
        """The next message that is no question, decoded if it is not `seen`, after all questions before it are answered."""
        for _ in range(MAX_QUESTIONS):
            message = self._receive(self.student)
            if message in seen:
                return self.clock.budget.receive(message), []
            parts = wire.decode(message)
            if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
                raise wire.WireError("not a reply")
            if parts[0] != "ask":
                return self.clock.budget.receive(message), parts
            self.clock.questions += 1
            self._question(message, parts)  # nothing of it is kept, so that it costs time alone
        raise TimeoutError("too many questions in one request")

    def _receive(self, connection: Connection) -> bytes:
        self.clock.check()
        return connection.receive(self.clock.check)

    def _question(self, message: bytes, parts: list[Any]) -> None:
        if len(parts) != 4 or not isinstance(parts[2], list) or not isinstance(parts[3], dict):
            raise wire.WireError("not a question")
        target, args, kwargs = parts[1:]
        if not isinstance(target, str | Handle) or not all(isinstance(name, str) for name in kwargs):
            raise wire.WireError("not a question")
        if (target not in self.allowed) if isinstance(target, str) else (target.id not in self.lent):
            # Two processes of one submission must not be able to ask for one another.
            answer = wire.encode(("refused", "ValueError", "this function is not available here"))
        else:
            answer = self._answered(message)
            if self.asked is not None and len(answer) <= MAX_ASKED_BYTES and len(self.asked) < MAX_ASKED:
                of_data = not any(isinstance(leaf, Handle) for leaf in leaves([args, kwargs]))
                if of_data and wire.kind(answer) != "refused":
                    digest, key = wire.hashed(message)
                    self.asked.append((digest, wire.sealed(key, answer)))
        self.student.send(answer, patience=self.patience)

    def _answered(self, question: bytes) -> bytes:
        """What the answering process says to a question, after it has had functions of the student's called."""
        answering = self.answerer.running()
        self.waiting += 1
        message = self._told(answering, question)
        while wire.kind(message) == "invoke":
            message = self._told(answering, self._invoked(message))
        self.waiting -= 1
        return message

    def _told(self, answering: Connection, message: bytes) -> bytes:
        """Tell the answering process something; what it says next."""
        try:
            answering.send(message, patience=self.patience)
            return self._receive(answering)
        except wire.Gone:
            # It has ended by its limits, which are the submission's. Another one is started for the next question.
            self.answerer.kill()
            return wire.encode(("refused", "MemoryError", "the answer needs more than a submission has"))

    def _invoked(self, request: bytes) -> bytes:
        """Have the student's process call a function of its own."""
        if self.nested >= MAX_NESTED:
            return wire.encode(("refused", "ValueError", "functions are nested too deeply"))
        self.nested += 1
        try:
            self.student.send(request, patience=self.patience)
            message, parts = self._next_reply()
        finally:
            self.nested -= 1
        if parts[0] not in ("returned", "raised"):
            raise wire.WireError("a reply of another form")
        return message
