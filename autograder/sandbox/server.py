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
import platform
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
from typing import Any

import numpy

from autograder.sandbox import layers, session, workspace
from autograder.sandbox.layers import Confinement, kernel, landlock, seccomp
from autograder.sandbox.wire import Connection, encode

# Extension modules that take much of the memory of a process or of the time to load, with a pattern for files that may need them.
RARE_EXTENSIONS = {"_asyncio": rb"asyncio", "_tkinter": rb"tkinter|turtle", "nis": rb"\bnis\b"}
WATCH_SECONDS = 0.05  # interval between checks of the process
LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # variables that an interpreter may need to start
MAX_MESSAGE = 65_536  # bytes; the system keeps a message that is sent at once in one piece
_HIDDEN = ("autograder", "msgpack")  # packages that students' code does not find
_SYSTEM_FILES = ("/usr/lib/locale", "/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types")


def main(essential: frozenset[str]) -> Callable[[], None]:
    """Serve the grader; `essential` are the built-in modules and those that NumPy needs.

    Returns only in a student's process, with its session: no frame of the server, and thus no setting, is below student code.
    """
    os.umask(0o077)
    for name in LIBRARIES:
        os.environ.pop(name, None)
    settings = Confinement(**json.loads(sys.argv[1]))
    control = socket.socket(fileno=int(sys.argv[2]))
    sys.argv[:] = sys.orig_argv[:] = [""]  # they contain the path of the kit
    _preload_extensions()
    _load(settings.preloaded if settings.has("fork") else RARE_EXTENSIONS)
    # Every student process may read the submission, the interpreter and NumPy, but no other packages.
    numpy_folder = os.path.dirname(numpy.__file__)
    readable = [Path(path) for path in (settings.submission, settings.view or numpy_folder, numpy_folder + ".libs")]
    roots = map(os.path.realpath, (*([] if settings.view else _library_paths()), *_SYSTEM_FILES))
    readable += landlock.without(roots, [Path(path) for path in settings.closed_places])
    _import_only_from(settings.view)
    if settings.has("not_dumpable"):
        kernel.prctl(kernel.DUMPABLE, 0)
    rules = landlock.rules(readable, Path(settings.writable)) if settings.has("landlock") else -1

    def confined(seconds: int, own_end: socket.socket) -> Callable[[], None]:
        """Confine this process; returns the session that serves the grader."""
        try:
            kernel.close_all_but(own_end.fileno(), rules)
            layers.apply(settings, rules, seconds)
            os.listdir(settings.submission)
        except BaseException as error:
            connection = Connection(own_end, settings.message)
            connection.send(encode(("fault", f"it cannot be confined: {type(error).__name__}: {str(error)[:1000]}")))
            connection.receive()  # the grader can still send its requests, and reads this before them
            os._exit(1)
        return partial(session.run, own_end, settings.submission, settings.message, essential)

    if not settings.has("fork"):  # this process becomes the student's
        workspace.renew(settings.temporary, settings.submission, settings.uid)
        return confined(settings.seconds, control)
    kernel.prctl(kernel.SUBREAPER, 1)  # processes that escape become children of the server
    if settings.has("seccomp"):
        seccomp.filter_program(platform.machine())
    gc.collect()
    gc.freeze()  # children then share this memory, since the collector does not write to it
    gc.set_threshold(100_000)  # few processes live long enough to need collection, which takes 5 % of their time
    return _serve(control, settings, confined)


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
                folders = getattr(module, "__path__", None)
                if isinstance(folders, list):
                    module.__path__ = [
                        new + folder[len(old) :] if f"{folder}/".startswith(f"{old}/") else folder for folder in folders
                    ]
        paths = [os.path.join(view, "stdlib")]
    sys.path[:] = paths
    # Student code finds only NumPy and the standard library, as on the student's machine.
    for name in [name for name in sys.modules if name.partition(".")[0] in _HIDDEN]:
        del sys.modules[name]
    sys.path_importer_cache.clear()
    importlib.util.find_spec("a_name_that_no_module_has")  # list the folders now, since Landlock will forbid it


def _serve(
    control: socket.socket, settings: Confinement, confined: Callable[[int, socket.socket], Callable[[], None]]
) -> Callable[[], None]:
    """Start, watch and end processes until the grader disconnects; in each of them, return its session."""
    alive, killed, counted = 0, "", time.process_time()  # the current process, why it was killed, the reported time

    def answer(fields: dict[str, Any]) -> None:
        nonlocal counted
        now = time.process_time()
        with contextlib.suppress(OSError):
            control.sendall(json.dumps(fields | {"spent": now - counted}).encode())
        counted = now

    def end() -> float:
        """End the process; returns its processor time."""
        nonlocal alive
        seconds = workspace.end(alive, settings.uid) if alive else 0.0
        alive = 0
        workspace.clear(settings.writable)
        if settings.uid and not settings.has("landlock"):
            workspace.strays(settings.uid)
        return seconds

    os.dup2(1, 2)  # the grader reads stderr only to find out why the server did not start
    while True:
        if alive and not select.select([control], [], [], WATCH_SECONDS)[0]:
            if settings.has("limits") and (excess := _excess(alive, settings)):
                killed = killed or excess
                os.kill(alive, signal.SIGKILL)
            continue
        data, descriptors = b"", list[int]()
        with contextlib.suppress(OSError):
            data, descriptors, _, _ = socket.recv_fds(control, MAX_MESSAGE, 1)
        if not data:  # the grader is gone
            break
        if not descriptors:
            answer({"seconds": end(), "why": killed})
            continue
        request, (descriptor,) = json.loads(data), descriptors
        try:
            workspace.renew(settings.temporary, settings.submission, settings.uid)
        except OSError as error:
            workspace.clear(settings.writable)
            answer({"no_room": f"its files cannot be written: {error}"})
        else:
            killed, alive = "", os.fork()
            if not alive:
                control.detach()  # closed with all other descriptors
                _load(request["extensions"])
                return confined(request["seconds"], socket.socket(fileno=descriptor))
            answer({"pid": alive})
        os.close(descriptor)
    end()
    workspace.empty(settings.folder)
    shutil.rmtree(settings.folder, ignore_errors=True)
    sys.exit()


def _excess(pid: int, settings: Confinement) -> str:
    """Return which limit that the kernel does not enforce a process exceeds, or ""."""
    memory, threads = workspace.status(pid)
    if workspace.usage(settings.writable) + workspace.unlinked(pid) > settings.disk:
        return "disk"
    return "crash" if threads > settings.threads else "memory" if memory > settings.memory else ""
