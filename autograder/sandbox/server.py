"""The fork server: a small process that has imported NumPy and nothing secret, and forks the student processes.

Requests arrive on the control socket, each a line of JSON, and are answered with one, which also says how much processor time
the server itself has "spent" since the answer before:
    {"start": slot, "seconds": n}, with a descriptor   -> {"pid": n} or {"no_room": why files cannot be written}
    {"end": slot}                                      -> {"seconds": processor time, "why": what it was killed for, or ""}
The first message of a student's process is its own: empty once it is confined, else why it cannot be. What happens before
that is no fault of the student's. Without fork, this process becomes the student process itself. What children must not load
later, since files can then no longer be mapped, is loaded here: every extension module.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

from autograder.sandbox import box, layers
from autograder.sandbox.box import Slot
from autograder.sandbox.connection import Connection
from autograder.sandbox.layers import Confinement, kernel, landlock, mounts, resources, seccomp
from autograder.sandbox.student import session
from autograder.sandbox.student.loading import Baseline

WATCH_SECONDS = 0.05  # between two looks at what the processes use up
MAX_REQUEST = 4096  # bytes
_SYSTEM_FILES = ("/usr/lib/locale", "/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types")


def main(essential: frozenset[str]) -> None:
    """Serve the grader; `essential` are the modules that NumPy needs."""
    os.umask(0o077)
    settings, alone = Confinement(**json.loads(sys.argv[1])), int(sys.argv[4])
    control = socket.socket(fileno=int(sys.argv[2]))
    sys.argv[:] = sys.orig_argv[:] = [""]  # they say where the kit lies
    _preload_extensions()
    # What every student process may read: the submission, the interpreter and NumPy, without other packages.
    exactly, roots = _places(settings)
    readable = [*map(Path, exactly), *landlock.without(roots, [Path(place) for place in settings.closed_places])]
    _import_only_from(settings.view)
    if settings.has("mounts"):
        _mount(settings)
    if settings.has("not_dumpable"):
        kernel.hide_memory()
    baseline = Baseline(essential)
    server = Server(control, settings, baseline, readable)
    if not settings.has("fork"):
        server.become_student(alone)
    kernel.adopt_orphans()
    session.warm_up(baseline)
    if settings.has("seccomp"):
        seccomp.filter_program()
    gc.collect()
    gc.freeze()  # children then share this memory for good, since the collector does not write to it
    server.serve()


def _preload_extensions() -> None:
    """Load what could not be loaded later: extension modules are mapped, and mapping files is refused."""
    for name in ("fft", "linalg", "ma", "polynomial", "random"):
        importlib.import_module(f"numpy.{name}")
    thread = threading.Thread(target=int)  # its end makes the C library load what it needs to end threads
    thread.start()
    thread.join()
    for file in sorted(os.listdir(os.path.join(os.path.dirname(os.__file__), "lib-dynload"))):
        name = file.split(".")[0]
        if not name.startswith(("_test", "_xx", "xx", "_ctypes_test")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _places(settings: Confinement) -> tuple[list[str], list[str]]:
    """Where lies what may be read: places that are readable as a whole, and those with other packages among them."""
    numpy_folder = os.path.dirname(numpy.__file__)
    roots = _SYSTEM_FILES if settings.view else (*_library_paths(), *_SYSTEM_FILES)
    exactly = [settings.submission, settings.view or numpy_folder, numpy_folder + ".libs"]
    return exactly, [os.path.realpath(root) for root in roots]


def _mount(settings: Confinement) -> None:
    """Cover what no student may read, apart from what the interpreter needs that lies within."""
    mounts.separate()
    mounts.hide_processes()
    mounts.without_times(place for places in _places(settings) for place in places)
    needed = [Path(path).resolve() for path in (os.path.dirname(numpy.__file__), *_library_paths(), settings.folder)]
    mounts.cover(landlock.without(settings.covered, needed))


def _library_paths() -> list[str]:
    stdlib = os.path.dirname(os.__file__)
    return [stdlib, os.path.join(stdlib, "lib-dynload"), *(path for path in sys.path if path.endswith(".zip"))]


def _import_only_from(view: str) -> None:
    """Let imports find the standard library, NumPy and the submission, through `view` where the real place is closed."""
    numpy_folder, stdlib = os.path.dirname(numpy.__file__), os.path.dirname(os.__file__)
    paths = _library_paths()
    if view:
        moved = {numpy_folder: os.path.join(view, "numpy"), stdlib: os.path.join(view, "stdlib")}
        for module in list(sys.modules.values()):
            places = getattr(module, "__path__", None)
            if isinstance(places, list):
                module.__path__ = [_moved(place, moved) for place in places]
        paths = [moved[stdlib]]
    sys.path[:] = paths
    for name in [name for name in sys.modules if name.split(".")[0] in ("autograder", "msgpack")]:
        del sys.modules[name]  # student code finds what it would find at home: the standard library and NumPy
    sys.path_importer_cache.clear()
    importlib.util.find_spec("a_name_that_no_module_has")  # list the folders now: behind Landlock they cannot be listed


def _moved(place: str, moved: dict[str, str]) -> str:
    for old, new in moved.items():
        if place == old or place.startswith(old + os.sep):
            return new + place[len(old) :]
    return place


class Server:
    """Starts, watches and ends the processes of one sandbox."""

    def __init__(self, control: socket.socket, settings: Confinement, baseline: Baseline, readable: list[Path]):
        self.control, self.settings, self.baseline, self.readable = control, settings, baseline, readable
        self.alive: dict[int, int] = {}  # process by slot
        self.killed: dict[int, str] = {}  # why the process of a slot was killed
        self.rules: dict[int, int] = {}  # Landlock's rules by slot
        self.counted = time.process_time()  # what has been told of it

    def serve(self) -> None:
        """Answer requests until the grader has gone, with or without a farewell."""
        while True:
            if self.alive and not select.select([self.control], [], [], WATCH_SECONDS)[0]:
                self._watch()
                continue
            request, descriptor = self._request()
            if not request:
                break
            if "end" in request:
                self._answer(self._end(request["end"]))
            else:
                self._answer(self._start(request, descriptor))
                os.close(descriptor)
        for slot in list(self.alive):
            self._end(slot)
        for number in self.rules:
            self._slot(number).unmount()
        if self.settings.has("mounts"):
            for place in (self.settings.submission, self.settings.view):
                mounts.uncovered(place)
        for folder in (self.settings.slots, self.settings.folder):
            box.empty(folder)
            shutil.rmtree(folder, ignore_errors=True)

    def become_student(self, number: int) -> None:
        """Be the student process of a slot instead."""
        slot = self._slot(number)
        self._renewed(slot)
        self._confined(slot, self.settings.seconds, self.control)

    def _request(self) -> tuple[dict[str, Any], int]:
        """The next request and the descriptor that comes with it; {} when the grader has gone."""
        try:
            line, descriptors, _, _ = socket.recv_fds(self.control, MAX_REQUEST, 1)
        except OSError:
            return {}, -1
        return (json.loads(line) if line else {}), descriptors[0] if descriptors else -1

    def _answer(self, said: dict[str, Any]) -> None:
        before, self.counted = self.counted, time.process_time()
        said["spent"] = self.counted - before
        with contextlib.suppress(OSError):  # the next request will say that the grader has gone
            self.control.sendall(json.dumps(said).encode() + b"\n")

    def _start(self, request: dict[str, Any], descriptor: int) -> dict[str, Any]:
        slot = self._slot(request["start"])
        try:
            self._renewed(slot)
        except OSError as error:
            slot.clear()
            return {"no_room": f"its files cannot be written: {error}"}
        process = os.fork()
        if process == 0:
            self._be_student(slot, request["seconds"], descriptor)
        self.alive[slot.number] = process
        return {"pid": process}

    def _be_student(self, slot: Slot, seconds: int, descriptor: int) -> None:
        """In the child: confine this process, then serve the grader. Never returns."""
        try:
            resources.close_all_but(descriptor, self.rules[slot.number])
            self._confined(slot, seconds, socket.socket(fileno=descriptor))
        finally:
            os._exit(1)  # whatever happens, the server's own code is not run twice

    def _confined(self, slot: Slot, seconds: int, own_end: socket.socket) -> None:
        """Confine this process, say that it is, and serve the grader. Never returns."""
        connection = Connection(own_end, self.settings.message)
        try:
            own = replace(self.settings, uid=slot.uid, begins=slot.temporary, seconds=seconds)
            layers.apply(own, self.rules[slot.number])
            os.listdir(self.settings.submission)
        except BaseException as error:
            connection.send(f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
            os._exit(1)
        connection.send(b"")
        session.run(own_end, self.settings.submission, self.settings.message, self.baseline)
        os._exit(0)

    def _end(self, number: int) -> dict[str, Any]:
        slot, seconds = self._slot(number), 0.0
        process = self.alive.pop(number, None)
        if process is not None:
            seconds = box.end(process, slot.uid, set(self.alive.values()))
        slot.clear()
        if slot.uid and not self.settings.has("landlock"):
            box.strays(slot.uid)
        return {"seconds": seconds, "why": self.killed.pop(number, "")}

    def _watch(self) -> None:
        """Kill a process that takes too much of what no limit of the kernel bounds, also while nobody calls it."""
        if not self.settings.has("limits"):
            return
        for number, process in self.alive.items():
            written = self._slot(number).writable
            if not self.settings.has("mounts") and box.usage(written) + box.unlinked(process) > self.settings.disk:
                self._kill(number, "disk")
            elif box.threads(process) > self.settings.threads:
                self._kill(number, "crash")
        if sum(map(self._memory_held, self.alive)) > self.settings.memory_together:
            for number, process in self.alive.items():
                if not box.stopped(process):  # its turn: the others have not asked for more since theirs
                    self._kill(number, "memory")

    def _memory_held(self, number: int) -> float:
        in_memory = mounts.filled(self._slot(number).writable) if self.settings.has("mounts") else 0
        return box.memory(self.alive[number]) + in_memory

    def _kill(self, number: int, why: str) -> None:
        self.killed.setdefault(number, why)
        os.kill(self.alive[number], signal.SIGKILL)

    def _renewed(self, slot: Slot) -> None:
        """Make the slot ready for its next process."""
        if slot.number not in self.rules:
            slot.make(self.settings.disk if self.settings.has("mounts") else 0)
            own = [*self.readable, Path(slot.path)]
            self.rules[slot.number] = landlock.rules(own, Path(slot.writable)) if self.settings.has("landlock") else -1
        slot.renew(self.settings.submission)

    def _slot(self, number: int) -> Slot:
        return Slot(self.settings.slots, number, self.settings.first_uid + number if self.settings.first_uid else 0)
