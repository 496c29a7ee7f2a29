"""The grader's side of the student's process: start, call, deadlines, end.

A `Sandbox` owns one fork server and one folder, and runs one student process at a time. Whatever the student does, a call
ends in a `Reply`: a value, an error, or the news that the process is gone (`Ended`). Only a fault of the machine raises
SandboxFault.
"""

import contextlib
import itertools
import json
import os
import shutil
import site
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import psutil

from autograder import kit
from autograder.rubric import Limits
from autograder.sandbox import confine, wire

Answer = Callable[["str | Callable[..., Any]", tuple[Any, ...], dict[str, Any], Callable[..., Any]], Any]
MAX_QUESTIONS = 10_000
NESTING = 3
LOOK = 0.2  # seconds of silence after which the deadlines are looked at
_slots = itertools.count()


class SandboxFault(Exception):
    """The machine, not the student, is to blame."""


class Refusal(Exception):
    """A question of the student's that is not answered; the text goes to the student's code."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Error:
    """An exception in the student's code. `kinds` are built-in names, the most special first."""

    kinds: tuple[str, ...]
    text: str
    file: str
    line: int
    hint: str

    @property
    def kind(self) -> str:
        return self.kinds[0]


@dataclass(frozen=True)
class Ended:
    """The student's process is gone: "deadline", "crash", "disk" or "protocol"."""

    why: str


@dataclass(frozen=True)
class Reply:
    """What a call came to: exactly one of a value (with what was observed), an error, or an end."""

    value: Any = None
    changed: tuple[int, ...] = ()
    shared: bool = False
    error: Error | None = None
    ended: Ended | None = None


def layers(without: tuple[str, ...] = ()) -> list[str]:
    """The layers that hold on this machine."""
    return [name for name, missing in confine.available().items() if not missing and name not in without]


class Sandbox:
    """One fork server, one folder, one student process at a time."""

    def __init__(self, limits: Limits, without: tuple[str, ...] = ()):
        self.limits = limits
        self.layers = layers(without)
        self.folder = Path(tempfile.mkdtemp(prefix="autograder-"))
        self.files, self.temporary = self.folder / "files", self.folder / "tmp"
        self.spent = 0.0
        try:
            self._prepare_folder()
            self._server: subprocess.Popen[bytes] | None = None
            if "fork" in self.layers:
                self._control, theirs = socket.socketpair()
                self._server = self._launch(theirs)
                theirs.close()
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise SandboxFault(f"the sandbox cannot be set up: {error}") from error

    def _prepare_folder(self) -> None:
        self.folder.chmod(0o711)
        self.files.mkdir(mode=0o755)
        self.temporary.mkdir(mode=0o700)
        self.uid = 20_000 + (os.getpid() + 7919 * next(_slots)) % 40_000 if "user" in self.layers else 0
        if self.uid:
            os.chown(self.temporary, self.uid, self.uid)
        self.view = _open_view(self.folder) if self.uid else ""

    def _launch(self, theirs: socket.socket) -> "subprocess.Popen[bytes]":
        if os.name == "nt":
            theirs.set_inheritable(True)
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
        environment = {**threads, "HOME": str(self.temporary), "TMPDIR": str(self.temporary), "LANG": "C.UTF-8"}
        command = [sys.executable, "-I", "-B", str(kit.PACKAGE / "sandbox" / "server.py")]
        return subprocess.Popen(
            [*command, json.dumps(self._settings()), str(theirs.fileno())],
            env=environment if os.name == "posix" else {**os.environ, **environment},
            cwd=self.folder,
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
            folder=str(self.files),
            temporary=str(self.temporary),
            uid=self.uid,
            memory=min(limits.memory_mb, _container_memory() // 2) * 2**20,
            file_size=limits.disk_mb * 2**20,
            processor_seconds=int(limits.submission_seconds) + 1,
            processes=limits.processes,
            open_files=limits.open_files,
            layers=self.layers,
        )
        return {
            "plan": vars(plan),
            "view": self.view,
            "imports": [str(kit.PACKAGE.parent), *(str(Path(m.__file__).parents[1]) for m in (np, msgpack))],
            "holes": _holes(),
            "message_limit": limits.message_mb * 2**20,
        }

    def place(self, files: Mapping[str, bytes]) -> None:
        """Put a submission where its process reads it, in place of the one before."""
        self.spent = 0.0
        try:
            for entry in os.scandir(self.files):
                shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
            for name, content in files.items():
                target = self.files / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        except OSError as error:
            raise SandboxFault(f"a submission cannot be unpacked: {error}") from error

    def start(self) -> "Student":
        """A new student process."""
        ours, theirs = socket.socketpair()
        if self._server is None:
            single = self._launch(theirs)
            theirs.close()
            return Student(self, ours, single.pid, single)
        try:
            socket.send_fds(self._control, [b"+"], [theirs.fileno()])
            pid = int(self._line())
        except (OSError, ValueError) as error:
            raise SandboxFault(f"the fork server does not answer: {error}") from error
        finally:
            theirs.close()
        return Student(self, ours, pid, None)

    def end(self) -> None:
        """End the student process that runs, with everything that it has left behind."""
        if self._server is not None:
            try:
                self._control.sendall(b"-")
                self._line()
            except OSError as error:
                raise SandboxFault(f"the fork server does not answer: {error}") from error

    def _line(self) -> str:
        self._control.settimeout(60)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = self._control.recv(64)
            if not piece:
                raise OSError("it has ended")
            answer += piece
        return answer.decode()

    def disk_used(self) -> int:
        total = 0
        for place, _, names in os.walk(self.temporary):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(place, name)).st_size
        return total

    def close(self) -> None:
        """End the fork server and remove the folder."""
        if self._server is not None:
            self._control.close()
            try:
                self._server.wait(10)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Student:
    """One student process with one module (or, together, several) loaded."""

    def __init__(self, sandbox: Sandbox, connection: socket.socket, pid: int, single: "subprocess.Popen[bytes] | None"):
        self.sandbox, self.pid, self.single, self.limits = sandbox, pid, single, sandbox.limits
        self.line = wire.Line(connection, self.limits.message_mb * 2**20, LOOK)
        self.ended: Ended | None = None
        self._handles: dict[int, Callable[..., Any]] = {}
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
        return self._request(("load", context, list(modules), named, list(replaced)), answer)

    def call(
        self,
        context: str,
        module: str,
        function: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        checks: list[str],
        answer: Answer,
    ) -> Reply:
        """Call a function; functions among the arguments are called back here."""
        args = tuple(self._lend(arg) for arg in args)
        kwargs = {name: self._lend(arg) for name, arg in kwargs.items()}
        return self._request(("call", context, module, function, args, kwargs, checks), answer)

    def again(self) -> Reply:
        """Which arguments of the last call that was checked for purity have changed by now."""
        return self._request(("again",), lambda *_: None)

    def close(self) -> None:
        self.line.close()
        if self.single is not None:
            self.single.kill()
            self.single.wait()
        self.sandbox.end()

    def _lend(self, value: Any) -> Any:
        if callable(value):
            number = len(self._handles) + 1
            self._handles[number] = value
            return wire.Handle(number)
        return value

    def _request(self, message: tuple[Any, ...], answer: Answer) -> Reply:
        if self.ended is None:
            clock = _Clock(self)
            try:
                return self._exchange(message, clock, answer)
            except TimeoutError as error:
                self.ended = Ended(str(error) or "deadline")
            except wire.Gone:
                self.ended = Ended("crash")
            except wire.WireError:
                self.ended = Ended("protocol")
            finally:
                clock.stop()
                self._handles.clear()
        return Reply(ended=self.ended)

    def _exchange(self, message: tuple[Any, ...], clock: "_Clock", answer: Answer) -> Reply:
        clock.send(wire.encode(message))
        for _ in range(MAX_QUESTIONS):
            reply = wire.decode(clock.receive())
            if not isinstance(reply, list) or not reply or not isinstance(reply[0], str):
                raise wire.WireError("not a reply")
            if reply[0] != "ask":
                return _reply(reply, message[0])
            self._answer(reply, clock, answer)
        raise wire.WireError("too many questions in one call")

    def _answer(self, question: list[Any], clock: "_Clock", answer: Answer) -> None:
        if len(question) != 4 or not isinstance(question[2], list) or not isinstance(question[3], dict):
            raise wire.WireError("not a question")
        target, args, kwargs = question[1], tuple(question[2]), question[3]
        if isinstance(target, wire.Handle):
            target = self._handles.get(target.id)
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
                reply = self._exchange(("invoke", handle, values), clock, answer)
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
        except Refusal as refusal:
            result = wire.encode(("refused", refusal.kind, str(refusal)))
        clock.answering += time.monotonic() - began
        clock.send(result)


def _reply(message: list[Any], request: str) -> Reply:
    """A final reply, held to the form that the request allows."""
    match message:
        case ["loaded"] if request == "load":
            return Reply()
        case ["failed", list() as error] if request == "load":
            return Reply(error=_error(error))
        case ["raised", list() as error] if request in ("call", "invoke"):
            return Reply(error=_error(error))
        case ["returned", value, list() as changed, bool() as shared] if request in ("call", "invoke"):
            return Reply(value=value, changed=_indices(changed), shared=shared)
        case ["changed", list() as changed] if request == "again":
            return Reply(changed=_indices(changed))
    raise wire.WireError("a reply of another form")


def _indices(values: list[Any]) -> tuple[int, ...]:
    if not all(type(value) is int and 0 <= value < 32 for value in values):
        raise wire.WireError("an impossible argument number")
    return tuple(values)


def _error(parts: list[Any]) -> Error:
    match parts:
        case [list() as kinds, str() as text, str() as file, int() as line, str() as hint] if kinds and len(kinds) < 32:
            names = tuple(kind for kind in kinds if isinstance(kind, str) and _is_exception(kind))
            return Error(names or ("Exception",), text[:300], file[:200], max(0, min(line, 10**6)), hint[:20])
    raise wire.WireError("an error of another form")


def _is_exception(name: str) -> bool:
    import builtins

    cls = getattr(builtins, name, None)
    return isinstance(cls, type) and issubclass(cls, BaseException)


class _Clock:
    """The deadlines of one request: processor time of the student's process, and wall-clock time as a backstop."""

    def __init__(self, student: Student):
        self.student, self.limits = student, student.limits
        self.started = self.looked = time.monotonic()
        self.processor: float | None = None
        self.answering = 0.0

    def receive(self) -> bytes:
        self.check()
        return self.student.line.receive(self.check)

    def send(self, payload: bytes) -> None:
        self.student.line.send(payload, self.limits.call_seconds * self.limits.wall_factor)

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
        if used - self.processor + self.answering > limits.call_seconds or elapsed > limits.call_seconds * limits.wall_factor:
            raise TimeoutError("deadline")
        if sandbox.spent + elapsed > limits.submission_seconds * limits.wall_factor:
            raise TimeoutError("deadline")
        if sandbox.disk_used() > limits.disk_mb * 2**20:
            raise TimeoutError("disk")

    def _processor_time(self) -> float:
        try:
            times = psutil.Process(self.student.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def stop(self) -> None:
        self.student.sandbox.spent += time.monotonic() - self.started


def _container_memory() -> int:
    """Megabytes that this machine or container has."""
    found = psutil.virtual_memory().total
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            found = min(found, int(Path(place).read_text()))
    return found // 2**20


def _holes() -> list[str]:
    """What no student process may read although it may lie among things that it may: the kit and other packages."""
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    schemes = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return sorted({str(Path(path).resolve()) for path in (*packages, *schemes, str(kit.PACKAGE), str(kit.home()))})


def _open_view(folder: Path) -> str:
    """A readable copy of the interpreter's Python files, where another user cannot reach the real ones; else ""."""
    numpy_folder, stdlib = Path(np.__file__).parent, Path(os.__file__).parent
    if all(_reachable(path.resolve()) for path in (numpy_folder, stdlib)):
        return ""
    view = folder / "view"
    view.mkdir(mode=0o755)
    for source, name in ((stdlib, "stdlib"), (numpy_folder, "numpy")):
        shutil.copytree(source, view / name, ignore=_not_needed, copy_function=_link, symlinks=False)
    for place, folders, _ in os.walk(view):
        for inner in folders:
            os.chmod(os.path.join(place, inner), 0o755)
    return str(view)


def _reachable(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (path, *path.parents))


def _not_needed(_: str, names: list[str]) -> list[str]:
    skipped = {"site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip", "tkinter", "turtledemo"}
    return [n for n in names if n in skipped or n.endswith((".so", ".a", ".opt-1.pyc", ".opt-2.pyc", ".pyd"))]


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
