"""Rejects what the grader's sandbox rejects: packages other than NumPy, processes, sockets, pipes, files elsewhere.

Python calls `_watch` and `_imported` for its own library too. They use plain strings and no library that may import or open
something, which would call them again.
"""

from __future__ import annotations

import atexit
import builtins
import errno
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from student_errors import FOLDER, is_students
from student_values.errors import NO_LINE

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


def _resolved(path: str) -> str:
    """Return the path of a file or folder without links, in a form that can be compared."""
    return os.path.normcase(os.path.realpath(path))


WRITTEN = tuple(map(_resolved, (TEMPORARY, os.devnull)))
READ = (
    *WRITTEN,
    *map(_resolved, (str(FOLDER), sys.prefix, sys.base_prefix, *sys.path[1:])),
    *map(_resolved, ("/usr/share/zoneinfo", "/dev/random", "/dev/urandom", "/dev/zero")),
)
OWN: set[str] = set()  # the names of the student's modules, listed before the student's code runs
RUNNING: list[bool] = []  # not empty while the student's code runs


@contextmanager
def as_graded() -> Iterator[None]:
    """Run the student's code under the rules of the grader."""
    before, tempfile.tempdir = tempfile.tempdir, TEMPORARY
    OWN.update(name.removesuffix(".py") for name in os.listdir(FOLDER))
    RUNNING.append(True)
    try:
        yield
    finally:
        RUNNING.pop()
        tempfile.tempdir = before


class Hook(threading.local):
    """Whether this thread is in one of the hooks below."""

    running = False


HOOK = Hook()


def _hook(rule: Callable[..., None]) -> Callable[..., None]:
    """Apply a rule to the student's code, and not to what the rule itself does."""

    def apply(*args: Any) -> None:
        if not RUNNING or HOOK.running:
            return
        HOOK.running = True
        try:
            rule(*args)
        finally:
            HOOK.running = False

    return apply


@_hook
def _watch(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook: an exception raised here prevents the event."""
    if event == "import":
        _require(args[0])
    if event.startswith(REFUSED):
        _refuse()
    changes = event in CHANGES or (event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR))
    if (changes or event in LOOKS) and not _is_within(args[0], WRITTEN if changes else READ):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), args[0])


@_hook
def _import_from(file: str, module: str) -> None:
    """Reject an import of the student's code; Python has no audit event for modules that are already imported."""
    if is_students(file):
        _require(module)


def _imported(name: str, names: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """`__import__`: Python calls it for each import statement."""
    if not level:
        _import_from((names or {}).get("__file__") or "", name)
    return IMPORT(name, names, local, fromlist, level)


def _input(prompt: object = "") -> str:
    """`input`, which gets no answer while the student's code is graded; a debugger may ask."""
    if RUNNING and is_students(sys._getframe(1).f_code.co_filename):
        raise EOFError(NO_LINE)
    return INPUT(prompt)


def _refuse() -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def _without_event(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function without an audit event, rejected while the student's code runs."""
    return lambda *args: _refuse() if RUNNING else function(*args)


def _require(module: str) -> None:
    """Raise ModuleNotFoundError for a module that the grader lacks; names that begin with _ belong to Python."""
    top = module.partition(".")[0]
    if not (top == "numpy" or top.startswith("_") or top in sys.stdlib_module_names or top in OWN):
        raise ModuleNotFoundError(f"No module named {top!r}", name=top)


def _is_within(file: Any, places: tuple[str, ...]) -> bool:
    """Return True if a file or folder is in one of these places. This includes open files; None is the current folder."""
    path = _resolved(os.devnull if isinstance(file, int) else os.fsdecode(file or "."))
    return any(path == place or path.startswith(os.path.join(place, "")) for place in places)


IMPORT, INPUT = builtins.__import__, builtins.input
builtins.__import__, builtins.input = _imported, _input
sys.addaudithook(_watch)
atexit.register(shutil.rmtree, TEMPORARY, ignore_errors=True)
for name in {"pipe", "pipe2"} & vars(os).keys():
    setattr(os, name, _without_event(getattr(os, name)))
