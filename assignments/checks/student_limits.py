"""Rejects what the grader's sandbox rejects: packages other than NumPy, processes, sockets, pipes, files elsewhere."""

from __future__ import annotations

import atexit
import builtins
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from student_errors import FOLDER, is_students

# Audit events of Python that are rejected: those that begin with one of these names, and those that read or change other files.
REFUSED = (
    "fcntl.",
    "mmap.",
    "os.exec",
    "os.fork",
    "os.kill",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "socket.__new__",
    "socket.getaddrinfo",
    "socket.gethostby",
    "subprocess.Popen",
)
LOOKS = ("open", "os.listdir", "os.scandir")
CHANGES = (
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "os.utime",
)
# As in the grader, code can write only to a temporary folder of its own.
TEMPORARY = tempfile.mkdtemp(prefix="homework-")
WRITTEN = (TEMPORARY, os.devnull)
READ = (
    *WRITTEN,
    str(FOLDER),
    sys.prefix,
    sys.base_prefix,
    *sys.path[1:],
    "/usr/share/zoneinfo",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
)
RUNNING: list[bool] = []  # not empty while the student's code runs


@contextmanager
def as_graded() -> Iterator[None]:
    """Run the student's code under the rules of the grader."""
    before, tempfile.tempdir = tempfile.tempdir, TEMPORARY
    RUNNING.append(True)
    try:
        yield
    finally:
        RUNNING.pop()
        tempfile.tempdir = before


def _watch(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook: an exception raised here prevents the event."""
    if not RUNNING:
        return
    if event == "import" and not _is_there(top := args[0].partition(".")[0]):
        raise ModuleNotFoundError(f"No module named {top!r}", name=top)
    if event.startswith(REFUSED):
        _refuse()
    changes = event in CHANGES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR))
    if (changes or event in LOOKS) and not _is_within(args[0], WRITTEN if changes else READ):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), args[0])


def _refuse() -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def _without_event(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function without an audit event, rejected while the student's code runs."""
    return lambda *args: _refuse() if RUNNING else function(*args)


def _is_there(module: str) -> bool:
    """True if the grader has a module; names that begin with _ belong to Python."""
    own = (FOLDER / module).is_dir() or (FOLDER / f"{module}.py").is_file()
    return own or module == "numpy" or module.startswith("_") or module in sys.stdlib_module_names


def _is_within(file: Any, places: tuple[str, ...]) -> bool:
    """True if a file or folder is in one of these places. This includes open files; None is the current folder."""
    path = Path(os.devnull if isinstance(file, int) else os.path.realpath(os.fsdecode(file or ".")))
    return any(path.is_relative_to(os.path.realpath(place)) for place in places)


def _imported(name: str, names: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """An import by the student's code; Python has no audit event for modules that are already imported."""
    top, file = name.partition(".")[0], (names or {}).get("__file__") or ""
    if RUNNING and not level and not _is_there(top) and is_students(file):
        raise ModuleNotFoundError(f"No module named {top!r}", name=top)
    return IMPORT(name, names, local, fromlist, level)


IMPORT = builtins.__import__
builtins.__import__ = _imported
sys.addaudithook(_watch)
atexit.register(shutil.rmtree, TEMPORARY, ignore_errors=True)
for name in {"pipe", "pipe2"} & vars(os).keys():
    setattr(os, name, _without_event(getattr(os, name)))
