"""The grader's end of the answering process: started for a submission's first requests, killed at a deadline and after each
submission; and what it passes on from a student's process."""

import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

from autograder.faults import SandboxFault
from autograder.sandbox import answering, conversation, wire
from autograder.sandbox.answering import ANSWER
from autograder.sandbox.budget import LOOK_SECONDS, Budget, Clock
from autograder.sandbox.connection import Connection, within
from autograder.sandbox.conversation import Answers
from autograder.sandbox.layers import Confinement

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
            self.connection = Connection(ours, confinement.message + 1, LOOK_SECONDS)
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
        own = replace(student, memory=memory, file_size=0, seconds=2**31, ends_with_parent=False, receives=True)
        return replace(own, uid=student.group, group=0)

    def kill(self) -> None:
        """End the process, which may be in the midst of an answer."""
        if self.connection is None:
            return
        self.connection.close()
        self.connection = None
        if self._child is not None:
            self.budget.end(self.pid)  # while it can be seen what it has used
            self._child.kill()
            self._child.wait()
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


class Exhausted(wire.WireError):
    """The answering process has ended by its limits, which are the submission's."""


class Replies:
    """What a student's process replies to its requests, while the answering process speaks with it."""

    def __init__(self, answerer: Answerer, student: socket.socket, plan: bytes, clock: Clock):
        """The `plan` says what may be asked: see `answering.serve`."""
        self.answerer, self.clock, self.complete = answerer, clock, False
        self.connection = answerer.running()
        try:
            self.connection.give(student, answerer.pid)
            self.connection.send(plan)
        except wire.Gone:
            raise Exhausted from None

    def next(self) -> bytes:
        """The next reply; Gone or WireError if the student's process sends none, TimeoutError at a deadline, or Exhausted."""
        while True:
            self.clock.check()
            try:
                message = self.connection.receive(self.clock.check)
            except wire.Gone:
                self.clock.budget.check()
                raise Exhausted from None
            match message[:1]:
                case conversation.REPLY:
                    return message[1:]
                case conversation.ASKED:
                    self.clock.questions += conversation.QUESTIONS_TOLD
                case conversation.TOO_MANY:
                    raise TimeoutError("too many questions in one request")
                case end:
                    self.complete = True
                    raise wire.Gone("closed") if end == conversation.GONE else wire.WireError("not a message")

    def close(self) -> None:
        """All replies have come, or none is of interest any more: then the answering process may be in the midst of an answer."""
        if not self.complete:
            self.answerer.kill()
