"""The fork server: a small process that has imported NumPy and nothing secret, and forks one student process at a time.

Started by path with `python -I`; its only argument is a JSON object (see `process.py`). Requests arrive on the control socket,
one byte each: b"+" with a descriptor forks a student process that speaks on it, b"-" ends that process and everything
it has left behind. Each is answered with a line. Without fork, the process becomes the student process itself.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    settings = json.loads(sys.argv[1])
    sys.path[:0] = settings["imports"]
    import msgpack  # noqa: F401  imported once for all children
    import numpy

    for name in ("fft", "linalg", "ma", "polynomial", "random"):
        importlib.import_module(f"numpy.{name}")

    from autograder.sandbox import child, confine

    numpy_folder = os.path.dirname(numpy.__file__)
    plan = confine.Plan(**settings["plan"])
    _only_the_interpreter(settings["view"], numpy_folder)
    exactly = [settings["view"] or numpy_folder, numpy_folder + ".libs"]
    roots = _SYSTEM if settings["view"] else (*_interpreter(), *_SYSTEM)
    confine.prepare(plan, exactly, roots, settings["holes"])
    if plan.has("not_dumpable"):
        confine.hide_memory()
    control = socket.socket(fileno=int(sys.argv[2]))
    if "fork" not in plan.layers:
        _become_student(control, plan, settings["message_limit"], child, confine)
        return
    confine.adopt_orphans()
    gc.collect()
    gc.freeze()
    _serve(control, plan, settings["message_limit"], child, confine)


_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/etc/mime.types")


def _interpreter() -> list[str]:
    return [*sys.path, os.path.join(sys.base_prefix, "lib")]


def _only_the_interpreter(view: str, numpy_folder: str) -> None:
    """Let imports find the standard library, NumPy and the submission, through `view` where the real place is closed."""
    stdlib = os.path.dirname(os.__file__)
    paths = [stdlib, os.path.join(stdlib, "lib-dynload")] + [p for p in sys.path if p.endswith(".zip")]
    if view:
        _preload_extensions(os.path.join(stdlib, "lib-dynload"))
        moved = {numpy_folder: os.path.join(view, "numpy"), stdlib: os.path.join(view, "stdlib")}
        for module in list(sys.modules.values()):
            places = getattr(module, "__path__", None)
            if isinstance(places, list):
                module.__path__ = [_moved(place, moved) for place in places]
        paths = [moved[stdlib]]
    sys.path[:] = paths
    for name in [name for name in sys.modules if name.split(".")[0] in ("autograder", "__main__") and name != "__main__"]:
        del sys.modules[name]
    sys.path_importer_cache.clear()
    importlib.util.find_spec("a_name_that_no_module_has")  # list the folders now: behind Landlock they cannot be listed


def _moved(place: str, moved: dict[str, str]) -> str:
    for old, new in moved.items():
        if place == old or place.startswith(old + os.sep):
            return new + place[len(old) :]
    return place


def _preload_extensions(folder: str) -> None:
    for file in sorted(os.listdir(folder)):
        name = file.split(".")[0]
        if not name.startswith(("_test", "_xx", "xx", "_tkinter", "_ctypes_test")):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _serve(control: socket.socket, plan: Any, limit: int, child: Any, confine: Any) -> None:
    running = 0
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if request == b"+":
            running = os.fork()
            if running == 0:
                control.close()
                _start(descriptors[0], plan, limit, child, confine)
            os.close(descriptors[0])
            control.sendall(f"{running}\n".encode())
        elif running:
            status = _end(running)
            running = 0
            _empty(plan.temporary)
            if request == b"-":
                control.sendall(f"{status}\n".encode())
        elif request == b"-":
            control.sendall(b"0\n")
        if request == b"":
            shutil.rmtree(os.path.dirname(plan.folder), ignore_errors=True)
            return


def _start(descriptor: int, plan: Any, limit: int, child: Any, confine: Any) -> None:
    status = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
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


def _end(pid: int) -> int:
    """Kill the student's process, its group, and whatever it has started; returns its wait status."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    while True:
        try:
            found = os.waitpid(-1, os.WNOHANG)[0]
        except ChildProcessError:
            return status
        if not found:
            for orphan in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(orphan, signal.SIGKILL)


def _children() -> list[int]:
    me, found = str(os.getpid()), []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                if fields[1] == me:
                    found.append(int(entry))
    return found


def _empty(folder: str) -> None:
    """Remove what the student has left in the temporary folder, whatever its permissions; links are not followed."""
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                for place, folders, _ in os.walk(entry.path):
                    for name in folders:
                        inner = os.path.join(place, name)
                        if not stat.S_ISLNK(os.lstat(inner).st_mode):
                            os.chmod(inner, 0o700)
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


if __name__ == "__main__":
    main()
