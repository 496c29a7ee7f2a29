"""The fork server: a small process that has imported NumPy and nothing secret, and forks the student processes.

Each request on the control socket, and each answer, is JSON. An answer includes the processor time that the server itself has
"spent" since the previous one:
    {"seconds": n, "extensions": names}, with a descriptor: start a process that imports these extension modules too
                  -> {"pid": n} or {"no_room": why files cannot be written}
    {}: end it    -> {"seconds": processor time, "why": why it was killed, or ""}
One process is alive at a time. Without fork, this process becomes the student process itself. Children cannot map files later, so
every extension module except the rare ones is loaded here.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy

from autograder.sandbox import layers, workspace
from autograder.sandbox.layers import Confinement, kernel, landlock, seccomp
from autograder.sandbox.student import session
from autograder.sandbox.wire import Connection, encode

# Extension modules that take much of the memory of a process or of the time to load, with a pattern for files that may need them.
RARE_EXTENSIONS = {"_asyncio": rb"asyncio", "_tkinter": rb"tkinter|turtle", "nis": rb"\bnis\b"}
WATCH_SECONDS = 0.05  # interval between checks of the process
LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # variables that an interpreter may need to start
MAX_MESSAGE = 65_536  # bytes; the system keeps a message that is sent at once in one piece
_HIDDEN = ("autograder", "msgpack")  # packages that students' code finds neither by import nor by path
_SYSTEM_FILES = ("/usr/lib/locale", "/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types")


def main(essential: frozenset[str]) -> Callable[[], None]:
    """Serve the grader; `essential` are the built-in modules and those that NumPy needs.

    Returns only in a student's process, with its session: no frame of the server, and thus no setting, is below student code.
    """
    server = prepared(essential)
    return server.serve() if server.settings.has("fork") else server.become_student()


def prepared(essential: frozenset[str]) -> "Server":
    """A server that has loaded everything that students' processes may need."""
    os.umask(0o077)
    for name in LIBRARIES:
        os.environ.pop(name, None)
    settings = Confinement(**json.loads(sys.argv[1]))
    control = socket.socket(fileno=int(sys.argv[2]))
    sys.argv[:] = sys.orig_argv[:] = [""]  # they contain the path of the kit
    _preload_extensions()
    # Importing numpy.testing into each process would take longer than the students' tests.
    _load(["numpy.testing"] if settings.has("fork") else RARE_EXTENSIONS)
    # Every student process may read the submission, the interpreter and NumPy, but no other packages.
    exactly, roots = _places(settings)
    readable = [*map(Path, exactly), *landlock.without(roots, [Path(place) for place in settings.closed_places])]
    _import_only_from(settings.view)
    if settings.has("not_dumpable"):
        kernel.hide_memory()
    server = Server(control, settings, essential, readable)
    if not settings.has("fork"):
        return server
    kernel.adopt_orphans()
    if settings.has("seccomp"):
        seccomp.filter_program()
    gc.collect()
    gc.freeze()  # children then share this memory, since the collector does not write to it
    gc.set_threshold(100_000)  # few processes live long enough to need collection, which takes 5 % of their time
    return server


def _preload_extensions() -> None:
    """Load modules that cannot be loaded later, when mapping files is blocked."""
    for name in ("fft", "linalg", "random"):
        importlib.import_module(f"numpy.{name}")
    thread = threading.Thread(target=int)  # the C library loads code when a thread ends
    thread.start()
    thread.join()
    names = {file.split(".")[0] for file in os.listdir(os.path.join(os.path.dirname(os.__file__), "lib-dynload"))}
    unused = ("_test", "_xx", "xx", "_ctypes_test")
    _load(name for name in sorted(names - RARE_EXTENSIONS.keys()) if not name.startswith(unused))


def _load(extensions: Iterable[str]) -> None:
    sys.path.append(os.path.join(os.path.dirname(os.__file__), "lib-dynload"))
    for name in extensions:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    sys.path.pop()


def _places(settings: Confinement) -> tuple[list[str], list[str]]:
    """The readable places: those that are readable as a whole, and those that also contain other packages."""
    numpy_folder = os.path.dirname(numpy.__file__)
    roots = _SYSTEM_FILES if settings.view else (*_library_paths(), *_SYSTEM_FILES)
    exactly = [settings.submission, settings.view or numpy_folder, numpy_folder + ".libs"]
    return exactly, [os.path.realpath(root) for root in roots]


def _library_paths() -> list[str]:
    stdlib = os.path.dirname(os.__file__)
    return [stdlib, os.path.join(stdlib, "lib-dynload"), *(path for path in sys.path if path.endswith(".zip"))]


def _import_only_from(view: str) -> None:
    """Restrict imports to the standard library, NumPy and the submission, through `view` if the real place is unreachable."""
    numpy_folder, stdlib = os.path.dirname(numpy.__file__), os.path.dirname(os.__file__)
    paths = _library_paths()
    if view:
        for old, name in ((numpy_folder, "numpy"), (stdlib, "stdlib")):
            new = os.path.join(view, name)
            for module in list(sys.modules.values()):
                places = getattr(module, "__path__", None)
                if isinstance(places, list):
                    module.__path__ = [
                        new + place[len(old) :] if f"{place}/".startswith(f"{old}/") else place for place in places
                    ]
        paths = [os.path.join(view, "stdlib")]
    sys.path[:] = paths
    for name in [name for name in sys.modules if name.partition(".")[0] in _HIDDEN]:
        module = sys.modules.pop(
            name
        )  # student code finds only NumPy and the standard library, as on the student's machine
        for attribute in ("__file__", "__cached__", "__path__", "__spec__", "__loader__"):  # the path of the kit
            vars(module).pop(attribute, None)
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and str(function.__module__).partition(".")[0] in _HIDDEN:
            function.__code__ = _without_folder(function.__code__)
    sys.path_importer_cache.clear()
    importlib.util.find_spec("a_name_that_no_module_has")  # list the folders now, since Landlock will forbid it


def _without_folder(code: CodeType) -> CodeType:
    """The code, also of inner functions, with the name of its file instead of the path."""
    parts = (_without_folder(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=os.path.basename(code.co_filename), co_consts=tuple(parts))


class Server:
    """Starts, watches and ends the processes of one sandbox, one after another."""

    def __init__(self, control: socket.socket, settings: Confinement, essential: frozenset[str], readable: list[Path]):
        self.control, self.settings, self.essential = control, settings, essential
        self.alive = 0  # the current process
        self.killed = ""  # why it was killed
        self.rules = landlock.rules(readable, Path(settings.writable)) if settings.has("landlock") else -1
        self.counted = time.process_time()  # the part already reported

    def serve(self) -> Callable[[], None]:
        """Answer requests until the grader disconnects; in each student's process, return its session."""
        os.dup2(1, 2)  # the grader reads stderr only to find out why the server did not start
        while True:
            if self.alive and not select.select([self.control], [], [], WATCH_SECONDS)[0]:
                self._watch()
                continue
            request, descriptor = self._request()
            if request is None:
                break
            if descriptor < 0:
                self._answer(self._end())
                continue
            answer = self._start()
            if not answer:
                return self._child(request["seconds"], request["extensions"], descriptor)
            self._answer(answer)
            os.close(descriptor)
        self._end()
        workspace.empty(self.settings.folder)
        shutil.rmtree(self.settings.folder, ignore_errors=True)
        sys.exit()

    def become_student(self) -> Callable[[], None]:
        """Become the student process, if there is no fork; returns its session."""
        workspace.renew(self.settings.temporary, self.settings.submission, self.settings.uid)
        return self._confined(self.settings.seconds, self.control)

    def _request(self) -> tuple[dict[str, Any] | None, int]:
        """The next request and its descriptor, or -1; None if the grader is gone."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.control, MAX_MESSAGE, 1)
        except OSError:
            return None, -1
        return (json.loads(data) if data else None), (descriptors[0] if descriptors else -1)

    def _answer(self, answer: dict[str, Any]) -> None:
        now = time.process_time()
        with contextlib.suppress(OSError):
            self.control.sendall(json.dumps(answer | {"spent": now - self.counted}).encode())
        self.counted = now

    def _start(self) -> dict[str, Any]:
        """Start a student's process; the answer is empty in that process."""
        try:
            workspace.renew(self.settings.temporary, self.settings.submission, self.settings.uid)
        except OSError as error:
            workspace.clear(self.settings.writable)
            return {"no_room": f"its files cannot be written: {error}"}
        self.killed, self.alive = "", os.fork()
        return {"pid": self.alive} if self.alive else {}

    def _child(self, seconds: int, extensions: list[str], descriptor: int) -> Callable[[], None]:
        try:
            _load(extensions)
            self.control.detach()  # closed with all other descriptors
            return self._confined(seconds, socket.socket(fileno=descriptor))
        except BaseException:
            os._exit(1)  # never continue the server's code

    def _confined(self, seconds: int, own_end: socket.socket) -> Callable[[], None]:
        """Confine this process; returns the session that serves the grader."""
        try:
            kernel.close_all_but(own_end.fileno(), self.rules)
            layers.apply(self.settings, self.rules, seconds)
            os.listdir(self.settings.submission)
        except BaseException as error:
            connection = Connection(own_end, self.settings.message)
            connection.send(encode(("fault", f"it cannot be confined: {type(error).__name__}: {str(error)[:1000]}")))
            connection.receive()  # the grader can still send its requests, and reads this before them
            os._exit(1)
        return partial(session.run, own_end, self.settings.submission, self.settings.message, self.essential)

    def _end(self) -> dict[str, Any]:
        seconds = workspace.end(self.alive, self.settings.uid) if self.alive else 0.0
        self.alive = 0
        workspace.clear(self.settings.writable)
        if self.settings.uid and not self.settings.has("landlock"):
            workspace.strays(self.settings.uid)
        return {"seconds": seconds, "why": self.killed}

    def _watch(self) -> None:
        """Kill a process that exceeds a limit that the kernel does not enforce, even while no call runs."""
        if not self.settings.has("limits"):
            return
        if workspace.usage(self.settings.writable) + workspace.unlinked(self.alive) > self.settings.disk:
            self._kill("disk")
        elif workspace.threads(self.alive) > self.settings.threads:
            self._kill("crash")
        elif workspace.memory(self.alive) > self.settings.memory:
            self._kill("memory")

    def _kill(self, why: str) -> None:
        self.killed = self.killed or why
        os.kill(self.alive, signal.SIGKILL)
