"""The fork server: a small process that has imported NumPy and nothing secret, and forks one student process at a time.

Started by path with `python -I`; its only argument is a JSON object (see `process.py`). Requests arrive on the control socket,
one byte each: b"+" with a descriptor forks a student process that speaks on it, b"-" ends that process and everything
it has left behind. Each is answered with a line. Without fork, the process becomes the student process itself.
What children must not load later, since files can then no longer be mapped, is loaded here: every extension module.
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
from typing import Any

WATCH = 0.05  # seconds between two looks at what the student's process uses up


def main() -> None:
    os.umask(0o077)
    settings = json.loads(sys.argv[1])
    sys.path[:0] = settings["imports"]
    import numpy

    essential = frozenset(sys.modules)
    import msgpack  # noqa: F401  imported once for all children

    for name in ("fft", "linalg", "ma", "polynomial", "random"):
        importlib.import_module(f"numpy.{name}")

    from autograder.sandbox import child, confine, sweep

    child.ESSENTIAL = essential
    numpy_folder = os.path.dirname(numpy.__file__)
    plan = confine.Plan(**settings["plan"])
    _only_the_interpreter(settings["view"], numpy_folder)
    exactly = [settings["view"] or numpy_folder, numpy_folder + ".libs"]
    roots = _SYSTEM if settings["view"] else (*sys.path, *_SYSTEM)
    confine.prepare(plan, exactly, roots, settings["holes"])
    if plan.has("not_dumpable"):
        confine.hide_memory()
    control = socket.socket(fileno=int(sys.argv[2]))
    if "fork" not in plan.layers:
        _become_student(control, plan, settings["message_limit"], child, confine)
        return
    confine.adopt_orphans()
    child.warm_up()
    gc.collect()
    gc.freeze()
    _serve(control, plan, settings["message_limit"], child, confine, sweep)


_SYSTEM = ("/usr/lib/locale", "/usr/share/zoneinfo", "/etc/localtime", "/etc/mime.types")


def _only_the_interpreter(view: str, numpy_folder: str) -> None:
    """Let imports find the standard library, NumPy and the submission, through `view` where the real place is closed."""
    stdlib = os.path.dirname(os.__file__)
    paths = [stdlib, os.path.join(stdlib, "lib-dynload")] + [p for p in sys.path if p.endswith(".zip")]
    _preload_extensions(os.path.join(stdlib, "lib-dynload"))
    if view:
        moved = {numpy_folder: os.path.join(view, "numpy"), stdlib: os.path.join(view, "stdlib")}
        for module in list(sys.modules.values()):
            places = getattr(module, "__path__", None)
            if isinstance(places, list):
                module.__path__ = [_moved(place, moved) for place in places]
        paths = [moved[stdlib]]
    sys.path[:] = paths
    for name in [
        name for name in sys.modules if name.split(".")[0] in ("autograder", "__main__") and name != "__main__"
    ]:
        del sys.modules[name]
    sys.path_importer_cache.clear()
    importlib.util.find_spec("a_name_that_no_module_has")  # list the folders now: behind Landlock they cannot be listed


def _moved(place: str, moved: dict[str, str]) -> str:
    for old, new in moved.items():
        if place == old or place.startswith(old + os.sep):
            return new + place[len(old) :]
    return place


def _preload_extensions(folder: str) -> None:
    thread = threading.Thread(target=int)  # its end makes the C library load what it needs to end threads
    thread.start()
    thread.join()
    for file in sorted(os.listdir(folder)):
        name = file.split(".")[0]
        if not name.startswith(("_test", "_xx", "xx", "_ctypes_test")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _serve(control: socket.socket, plan: Any, limit: int, child: Any, confine: Any, sweep: Any) -> None:
    _cleared(plan, sweep)
    trouble = _trouble(plan, confine)
    running = 0
    while True:
        if running and not select.select([control], [], [], WATCH)[0]:
            _watch(running, plan, sweep)
            continue
        request, descriptor = _request(control)
        status = 0
        if running:
            status = sweep.end(running, plan.uid)
            running = 0
            _cleared(plan, sweep)
        if request == b"":
            _vanish(plan, sweep)
            return
        if request == b"-":
            _answer(control, status)
            continue
        if not trouble:
            _fresh_folder(plan)
            running = os.fork()
            if running == 0:
                control.close()
                _start(descriptor, plan, limit, child, confine)
        os.close(descriptor)
        _answer(control, trouble or running)


def _request(control: socket.socket) -> tuple[bytes, int]:
    """The next request and the descriptor that comes with it; b"" when the grader has gone, with or without a farewell."""
    try:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    except OSError:
        return b"", -1
    return request, descriptors[0] if descriptors else -1


def _answer(control: socket.socket, said: object) -> None:
    with contextlib.suppress(OSError):  # the next request will say that the grader has gone
        control.sendall(f"{said}\n".encode())


def _trouble(plan: Any, confine: Any) -> str:
    """Why a child cannot be confined, "" if it can: found out once, so that no student is blamed for it."""
    reader, writer = os.pipe()
    _fresh_folder(plan)
    trial = os.fork()
    if trial == 0:
        try:
            confine.apply(plan)
            os.listdir(plan.folder)
        except BaseException as error:
            os.write(writer, " ".join(f"{type(error).__name__}: {error}".split()).encode()[:1000])
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(trial, 0)
    return said.decode("utf-8", "replace")


def _watch(pid: int, plan: Any, sweep: Any) -> None:
    """Kill a student's process that fills the disk or starts too many threads, also while nobody calls it."""
    if not plan.has("limits"):
        return
    if sweep.usage(os.path.dirname(plan.temporary)) > plan.disk or sweep.threads(pid) > plan.processes:
        os.kill(pid, signal.SIGKILL)


def _fresh_folder(plan: Any) -> None:
    """A new temporary folder, so that not even its times tell a process anything about the one before."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(plan.temporary, 0o700)
        if plan.uid:
            os.chown(plan.temporary, plan.uid, plan.uid)
        for entry in os.scandir(plan.folder):  # data that code opens by its bare name
            if entry.is_file() and not entry.name.endswith(".py"):
                os.symlink(entry.path, os.path.join(plan.temporary, entry.name))


def _cleared(plan: Any, sweep: Any) -> None:
    """Leave nothing of the process before."""
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(plan.temporary), 0o711)  # the student's user may be ours, and have closed it
    sweep.empty(os.path.dirname(plan.temporary))
    if plan.uid and not plan.has("landlock"):
        sweep.strays(plan.uid)


def _vanish(plan: Any, sweep: Any) -> None:
    """Remove the sandbox's folder: the grader has gone, perhaps without a farewell."""
    sweep.empty(os.path.dirname(plan.temporary))
    shutil.rmtree(os.path.dirname(plan.folder), ignore_errors=True)


def _start(descriptor: int, plan: Any, limit: int, child: Any, confine: Any) -> None:
    status = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        if null > 2:
            os.close(null)
        confine.apply(plan)
        child.Worker(socket.socket(fileno=descriptor), plan.folder, limit).serve()
        status = 0
    finally:
        os._exit(status)


def _become_student(control: socket.socket, plan: Any, limit: int, child: Any, confine: Any) -> None:
    confine.apply(plan)
    child.Worker(control, plan.folder, limit).serve()
    os._exit(0)


if __name__ == "__main__":
    main()
