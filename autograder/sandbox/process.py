"""The grader's side of the student's process: start, call, deadlines, end.

A `Sandbox` owns one fork server and one folder, and runs one student process at a time. Whatever the student does, a call
ends in a `Reply`: a value, an error, or the news that the process is gone (`Ended`). Only a fault of the machine raises
SandboxFault.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from autograder.homework import kit
from autograder.homework.rubric import Limits
from autograder.sandbox import confine, sweep, wire
from autograder.sandbox.budget import LOOK, Clock, container_memory
from autograder.sandbox.folder import Folder, holes
from autograder.sandbox.messages import NO_ANSWERS, Answer, Call, Ended, Refusal, Reply, prepared, reply_of

MAX_QUESTIONS = 10_000
NESTING = 3
KNOWN, KNOWN_BYTES = 500, 8_192  # how many answers are remembered, and the largest of them with its question
LARGE, MAX_RECEIVED = 65_536, 64 * 2**20  # bytes: messages that count, and what one submission may send of them


class SandboxFault(Exception):
    """The machine, not the student, is to blame."""


def layers(without: tuple[str, ...] = ()) -> list[str]:
    """The layers that hold on this machine; Landlock and seccomp need no_new_privileges below them."""
    found = [name for name, missing in confine.available().items() if not missing and name not in without]
    needing = ("landlock", "seccomp") if "no_new_privileges" not in found else ()
    return [name for name in found if name not in needing]


class Sandbox:
    """One fork server, one folder, one student process at a time."""

    def __init__(self, limits: Limits, without: tuple[str, ...] = ()):
        self.limits = limits
        self.layers = layers(without)
        self.spent = 0.0
        self.received = 0
        self._files: Mapping[str, bytes] = {}
        self._server: subprocess.Popen[bytes] | None = None
        if "not_dumpable" in self.layers:
            confine.hide_memory()
        try:
            self.folder = Folder("user" in self.layers)
            if "fork" in self.layers:
                self._start_server()
        except OSError as error:
            raise SandboxFault(f"the sandbox cannot be set up: {error}") from error

    def _start_server(self) -> None:
        self._control, theirs = socket.socketpair()
        self._server = self._launch(theirs)
        theirs.close()

    def _launch(self, theirs: socket.socket) -> "subprocess.Popen[bytes]":
        if os.name == "nt":
            theirs.set_inheritable(True)
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
        temporary = str(self.folder.temporary)
        environment = {**threads, "HOME": temporary, "TMPDIR": temporary, "LANG": "C.UTF-8"}
        command = [sys.executable, "-I", "-B", str(kit.PACKAGE / "sandbox" / "server.py")]
        return subprocess.Popen(
            [*command, json.dumps(self._settings()), str(theirs.fileno())],
            env=environment if os.name == "posix" else {**os.environ, **environment},
            cwd=self.folder.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()] if os.name == "posix" else (),
            close_fds=os.name == "posix",
            start_new_session=os.name == "posix",
        )

    def _settings(self) -> dict[str, Any]:
        limits = self.limits
        plan = confine.Plan(
            folder=str(self.folder.files),
            temporary=str(self.folder.temporary),
            uid=self.folder.uid,
            memory=min(limits.memory_mb, container_memory() // 2) * 2**20,
            file_size=limits.disk_mb * 2**18,  # a quarter: open files that are unlinked are not seen
            disk=limits.disk_mb * 2**20,
            processor_seconds=int(limits.submission_seconds) + 1,
            processes=limits.processes,
            open_files=limits.open_files,
            layers=self.layers,
        )
        return {
            "plan": vars(plan),
            "view": self.folder.view,
            "imports": [str(kit.PACKAGE.parent), *(str(Path(str(m.__file__)).parents[1]) for m in (np, msgpack))],
            "holes": holes(),
            "message_limit": limits.message_mb * 2**20,
        }

    def place(self, files: Mapping[str, bytes]) -> None:
        """Put a submission where its process reads it, in place of the one before."""
        self.spent, self.received, self._files = 0.0, 0, files
        try:
            self.folder.place(files)
        except OSError as error:
            raise SandboxFault(f"a submission cannot be unpacked: {error}") from error

    def start(self) -> "Student":
        """A new student process."""
        ours, theirs = socket.socketpair()
        try:
            if self._server is None:
                self.folder.renew()
                single = self._launch(theirs)
                return Student(self, ours, single.pid, single)
            return Student(self, ours, int(self._ask(b"+", theirs.fileno())), None)
        except ValueError as error:
            raise SandboxFault(f"a student's process cannot be confined: {error}") from error
        finally:
            theirs.close()

    def end(self) -> None:
        """End the student process that runs, with everything that it has left behind."""
        if self._server is None:
            self.folder.clear()
        else:
            self._ask(b"-")

    def _ask(self, request: bytes, *descriptors: int) -> str:
        """A request to the fork server, and its answer; one that a student has brought down is started again elsewhere."""
        for _ in range(2):
            try:
                socket.send_fds(self._control, [request], list(descriptors))
                return self._line()
            except OSError as error:
                fault = error
                self._stop_server(patience=0)
                self.folder.remove()
                self.folder = Folder("user" in self.layers)
                self.folder.place(self._files)
                self._start_server()
        raise SandboxFault(f"the fork server does not answer: {fault}")

    def _line(self) -> str:
        self._control.settimeout(60)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = self._control.recv(1024)
            if not piece:
                raise OSError("it has ended")
            answer += piece
        return answer.decode().strip()

    def disk_full(self) -> bool:
        return self.folder.used() > self.limits.disk_mb * 2**20

    def close(self) -> None:
        """End the fork server and remove the folder."""
        self._stop_server(patience=10)
        self.folder.remove()

    def _stop_server(self, patience: float) -> None:
        if self._server is not None:
            self._control.close()
            try:
                self._server.wait(patience)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Student:
    """One student process with one module (or, together, several) loaded."""

    def __init__(self, sandbox: Sandbox, connection: socket.socket, pid: int, single: "subprocess.Popen[bytes] | None"):
        self.sandbox, self.pid, self.single, self.limits = sandbox, pid, single, sandbox.limits
        self.line = wire.Line(connection, min(self.limits.message_mb * 2**20, wire.FROM_STUDENT), LOOK)
        self.ended: Ended | None = None
        self.calls = 0
        self._lent: Mapping[int, Callable[..., Any]] = {}
        self._nesting = 0

    def load(
        self,
        context: str,
        modules: tuple[str, ...],
        stand_ins: Mapping[str, tuple[str, ...]],
        answer: Answer,
        replaced: tuple[str, ...] = (),
    ) -> Reply:
        """Import modules into a context of their own; `stand_ins`, and `replaced` of the first module, are answered."""
        named = {name: list(functions) for name, functions in stand_ins.items()}
        payload = wire.encode(("load", context, list(modules), named, list(replaced)))
        return self._request([("load", payload, {})], answer)[0]

    def call(
        self,
        context: str,
        module: str,
        function: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        checks: Sequence[str],
        answer: Answer,
    ) -> Reply:
        """Call a function; functions among the arguments are called back here."""
        return self.call_all([prepared(context, module, function, args, kwargs, checks)], answer)[0]

    def call_all(self, calls: Sequence[Call], answer: Answer) -> list[Reply]:
        """Several calls with one message, which saves most of the cost; where the process ends, the last reply says so."""
        self.calls += len(calls)
        return self._request([("call", call.payload, call.lent) for call in calls], answer)

    def again(self, numbers: Sequence[int]) -> list[Reply]:
        """Which arguments of the calls of these numbers, which were checked for purity, have changed by now."""
        return self._request([("again", wire.encode(("again", number)), {}) for number in numbers], NO_ANSWERS)

    def close(self) -> None:
        self.line.close()
        if self.single is not None:
            sweep.end_family(self.single, str(self.sandbox.folder.temporary))
        self.sandbox.end()

    def _request(self, requests: Sequence[tuple[str, bytes, Mapping[int, Any]]], answer: Answer) -> list[Reply]:
        """Send requests together and receive their replies one by one, up to the end of the process."""
        replies: list[Reply] = []
        if not requests:
            return []
        if self.ended is None:
            clock = Clock(self)
            try:
                clock.send(wire.encode(len(requests)), *(payload for _, payload, _ in requests))
                for kind, _, lent in requests:
                    self._lent = lent
                    replies.append(self._awaited(kind, clock, answer))
                    clock.next()
                return replies
            except TimeoutError:
                self.ended = Ended("deadline")
            except wire.Gone:
                self.ended = Ended("disk" if self.sandbox.disk_full() else "crash")
            except wire.WireError:
                self.ended = Ended("protocol")
            finally:
                clock.stop()
                self._lent = {}
        return [*replies, Reply(ended=self.ended)]

    def _awaited(self, kind: str, clock: Clock, answer: Answer) -> Reply:
        """The reply to a request of this kind, after whatever the student's process asks before."""
        for _ in range(MAX_QUESTIONS):
            message = self._bounded(clock.receive())
            if message in answer.known:
                clock.send(answer.known[message])
                continue
            reply = wire.decode(message)
            if not isinstance(reply, list) or not reply or not isinstance(reply[0], str):
                raise wire.WireError("not a reply")
            if reply[0] != "ask":
                return reply_of(reply, kind, self.sandbox.folder.lines)
            self._answer(reply, message, clock, answer)
        raise wire.WireError("too many questions in one call")

    def _bounded(self, message: bytes) -> bytes:
        """A message, as long as those of one submission that are large do not fill the grader's memory."""
        if len(message) > LARGE:
            self.sandbox.received += len(message)
            if self.sandbox.received > MAX_RECEIVED:
                raise wire.WireError("too much data")
        return message

    def _answer(self, question: list[Any], message: bytes, clock: Clock, answer: Answer) -> None:
        if len(question) != 4 or not isinstance(question[2], list) or not isinstance(question[3], dict):
            raise wire.WireError("not a question")
        target, args, kwargs = question[1], tuple(question[2]), question[3]
        if isinstance(target, wire.Handle):
            target = self._lent.get(target.id)
        if target is None or not (isinstance(target, str) or callable(target)):
            raise wire.WireError("a function that was not lent")
        if not all(isinstance(name, str) for name in kwargs):
            raise wire.WireError("not a question")

        def invoke(handle: wire.Handle, values: tuple[Any, ...]) -> Any:
            """Call a function of the student's that is an argument of its question."""
            if self._nesting >= NESTING:
                raise Refusal("ValueError", "functions are nested too deeply")
            self._nesting += 1
            try:
                clock.send(wire.encode(("invoke", handle, values)))
                reply = self._awaited("invoke", clock, answer)
            finally:
                self._nesting -= 1
            if reply.error is not None:
                raise Refusal("ValueError", "the function that was passed raised an error")
            return reply.value

        began = time.monotonic()
        try:
            value = answer(target, args, kwargs, invoke)
            same = [number for number, argument in enumerate(args) if argument is value]
            result = wire.encode(("same", same[0]) if same else ("answer", value))
            lent = any(isinstance(value, wire.Handle) for value in (*args, *kwargs.values()))
            if isinstance(target, str) and not lent and len(message) + len(result) < KNOWN_BYTES:
                if len(answer.known) >= KNOWN:
                    answer.known.clear()
                answer.known[message] = result
        except Refusal as refusal:
            result = wire.encode(("refused", refusal.kind, str(refusal)))
        if len(result) > self.limits.message_mb * 2**20:
            result = wire.encode(("refused", "ValueError", "the answer is larger than anything that grading uses"))
        clock.answering += time.monotonic() - began
        clock.send(result)
class StudentProcess: ...
