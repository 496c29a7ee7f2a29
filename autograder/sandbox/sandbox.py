"""One place where submissions run, one after another, each in several processes.

A `Sandbox` owns one fork server and one folder. Whatever a student does, a request ends in a `Reply`; only a fault of the
machine raises SandboxFault.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from autograder.faults import SandboxFault
from autograder.sandbox import box, layers
from autograder.sandbox.answerer import MEMORY_SHARE, Answerer
from autograder.sandbox.box import Slot
from autograder.sandbox.budget import Budget, Limits, container_memory
from autograder.sandbox.conversation import Answers
from autograder.sandbox.folders import PACKAGE, Folder, closed_places, readable_by_others
from autograder.sandbox.layers import Confinement, kernel, user
from autograder.sandbox.process import StudentProcess

MAX_PROCESSES = user.BLOCK - 1  # student processes alive at once; the last user is the answering process's
_START = """
import json, sys
sys.path[:0] = json.loads(sys.argv[3])
import numpy
essential = frozenset(sys.modules)  # before anything that only the server needs
from autograder.sandbox.server import main
main(essential)
"""
_THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
_SERVER_SECONDS = 60  # until the fork server must have answered
_FAREWELL_SECONDS = 10
ROOM_ATTEMPTS, ROOM_SECONDS = 20, 0.25  # until there is room for the files of a process


def nothing_to_ask() -> Answers:
    """No function may be asked for."""
    return {}


class Sandbox:
    """Runs the code of one submission at a time.

    `answers` is called in the answering process. `without` names layers to leave out; `secret` are places that no student
    process may read, besides this package.
    """

    def __init__(
        self,
        limits: Limits,
        answers: Callable[[], Answers] = nothing_to_ask,
        without: tuple[str, ...] = (),
        secret: Iterable[Path] = (),
    ):
        self.limits = limits
        self.layers = layers.holding(without)
        self.secret = tuple(secret)
        self.budget = Budget(limits)
        self.answerer = Answerer(answers, self.budget, self._confinement)
        self.processes: dict[int, StudentProcess] = {}  # those alive, by slot
        self._single: dict[int, subprocess.Popen[bytes]] = {}  # those without a fork server, by slot
        self._files: Mapping[str, bytes] = {}
        self._server: subprocess.Popen[bytes] | None = None
        if "not_dumpable" in self.layers:
            kernel.hide_memory()
        self._check_secrets()
        try:
            self.folder = Folder("user" in self.layers)
            if "fork" in self.layers:
                self._start_server()
        except OSError as error:
            raise SandboxFault(f"the sandbox cannot be set up: {error}") from error
        # Later, while the interpreter shuts down, nothing can be imported any more, which `os.wait4` needs.
        atexit.register(self.close)

    def _check_secrets(self) -> None:
        """Refuse to begin where a student's user could read what is secret: neither Landlock nor mounts would hide it."""
        if "user" not in self.layers or "landlock" in self.layers or "mounts" in self.layers:
            return
        for place in self.secret:
            if place.exists() and readable_by_others(place.resolve()):
                raise SandboxFault(
                    f"every user of this machine can read {place}, also a student's code, and this kernel has no Landlock to"
                    f" forbid it. Close it with: chmod o-rwx {place}"
                )

    @property
    def processor_seconds(self) -> float:
        """Processor time that the present submission has used, in all processes."""
        return self.budget.processor_seconds

    def charge(self, seconds: float) -> None:
        """Count processor time of the caller's as that of the present submission."""
        self.budget.own_seconds += seconds

    def place(self, files: Mapping[str, bytes]) -> None:
        """Make this the present submission: every process of the one before ends, and a new budget begins."""
        self._end_all()
        self.budget = Budget(self.limits)
        self.answerer.renew(self.budget)
        self._files = files
        try:
            self.folder.place(files)
        except OSError as error:
            raise SandboxFault(f"a submission cannot be unpacked: {error}") from error

    def start(self, share: float = 1) -> StudentProcess:
        """A new student process, with files, a temporary folder and a user of its own; raises SandboxFault.

        The calls of one message to it may take this share of the submission's time.
        """
        slot = next((number for number in range(MAX_PROCESSES) if number not in self.processes), None)
        if slot is None:
            raise SandboxFault(f"more than {MAX_PROCESSES} processes at once")
        ours, theirs = socket.socketpair()
        with theirs:
            if self._server is None:
                self._single[slot] = self._launch(theirs, slot)
            pid = self._single[slot].pid if self._server is None else self._fork(slot, theirs)
        self.budget.run(pid)
        end, is_full = partial(self._end, slot), partial(self._is_full, slot)
        self.processes[slot] = StudentProcess(ours, pid, self.answerer, self.folder.lines, end, is_full, share)
        return self.processes[slot]

    def _fork(self, slot: int, theirs: socket.socket) -> int:
        seconds = max(1, round(self.limits.submission_seconds - self.budget.processor_seconds) + 1)
        for _ in range(ROOM_ATTEMPTS):
            answer = self._ask({"start": slot, "seconds": seconds}, theirs.fileno())
            if "no_room" not in answer:
                break
            self._end_all("disk")  # what this submission's own processes hold is no lack of the machine
            time.sleep(ROOM_SECONDS)  # another submission's process may have filled the disk, and is killed for it soon
        if "pid" not in answer:
            raise SandboxFault(f"a student's process cannot be started: {answer['no_room']}")
        return int(answer["pid"])

    def _end(self, slot: int) -> str:
        """End the process of a slot, with everything that it has left behind; why the fork server has killed it, if it has."""
        process = self.processes.pop(slot)
        if slot in self._single:
            self.budget.end(process.pid)  # while it can be seen what it has used
            box.end_family(self._single.pop(slot), self._slot(slot).temporary)
            self._slot(slot).remove()
            return ""
        answer = self._ask({"end": slot})
        self.budget.end(process.pid, answer.get("seconds"))
        return str(answer.get("why", ""))

    def _is_full(self, slot: int) -> bool:
        """Whether a process has written more than it may, where there is no fork server to look at that."""
        return slot in self._single and box.usage(self._slot(slot).writable) > self.limits.disk_mb * 2**20

    def _slot(self, number: int) -> Slot:
        return Slot(str(self.folder.slots), number, self.folder.first_uid + number if self.folder.first_uid else 0)

    def _end_all(self, why: str = "crash") -> None:
        for process in list(self.processes.values()):
            process.close(why)

    def close(self) -> None:
        """End everything and remove the folder."""
        atexit.unregister(self.close)
        self._end_all()
        self.answerer.close()
        self._stop_server(_FAREWELL_SECONDS)
        self.folder.remove()

    # the fork server

    def _start_server(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            self._server = self._launch(theirs)

    def _launch(self, theirs: socket.socket, slot: int = 0) -> "subprocess.Popen[bytes]":
        """The fork server or, without fork, the student process of a slot."""
        if os.name == "nt":
            theirs.set_inheritable(True)
        # By its temporary folder a process without a fork server is found, with whatever it has started: see box.py.
        temporary = str(self.folder.path) if "fork" in self.layers else self._slot(slot).temporary
        environment = {**_THREADS, "HOME": "/", "TMPDIR": temporary, "LANG": "C.UTF-8"}
        imports = [str(PACKAGE.parent), *(str(Path(str(module.__file__)).parents[1]) for module in (np, msgpack))]
        arguments = [json.dumps(asdict(self._confinement())), str(theirs.fileno()), json.dumps(imports), str(slot)]
        return subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", _START, *arguments],
            env=environment if os.name == "posix" else {**os.environ, **environment},
            cwd=self.folder.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()] if os.name == "posix" else (),
            close_fds=os.name == "posix",
            start_new_session=os.name == "posix",
        )

    def _confinement(self) -> Confinement:
        limits, folder = self.limits, self.folder
        memory = min(limits.memory_mb, container_memory() // 2) * 2**20
        return Confinement(
            layers=self.layers,
            memory=memory,
            # Another eighth is for what the grader keeps of the replies: see budget.py.
            memory_together=memory - memory // MEMORY_SHARE - memory // 8,
            file_size=limits.disk_mb * 2**17,  # an eighth: open files without a name are not seen everywhere
            disk=limits.disk_mb * 2**20,
            threads=limits.processes,
            open_files=limits.open_files,
            message=limits.message_mb * 2**20,
            seconds=int(limits.submission_seconds) + 1,
            folder=str(folder.path),
            slots=str(folder.slots),
            view=folder.view,
            closed_places=closed_places(self.secret),
            covered=[str(place) for place in (PACKAGE, *self.secret)],
            group=folder.group,
            first_uid=folder.first_uid,
        )

    def _ask(self, request: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        """A request to the fork server, and its answer; a server that a student has brought down is started again elsewhere."""
        for _ in range(2):
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], list(descriptors))
                answer = self._answer()
                self.budget.own_seconds += answer["spent"]
                return answer
            except OSError as error:
                fault = error
                self._stop_server(0)
                for process in list(self.processes.values()):  # they have ended with their server
                    self.budget.end(process.pid)
                    process.alive = False
                self.processes.clear()
                self.folder.remove()
                self.folder = Folder("user" in self.layers)
                self.folder.place(self._files)
                self._start_server()
        raise SandboxFault(f"the fork server does not answer: {fault}")

    def _answer(self) -> dict[str, Any]:
        self._control.settimeout(_SERVER_SECONDS)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = self._control.recv(1024)
            if not piece:
                raise OSError("it has ended")
            answer += piece
        return dict(json.loads(answer))

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
