"""Uploaded beside every attack: modules that most of them use, and what several of them do."""

import builtins
import contextlib
import ctypes
import gc
import glob
import os
import signal
import socket
import struct
import sys
import time
from types import ModuleType

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
ABOVE = os.getppid()
# A file that every process may read: where the interpreter lies, it may be under another name than os.__file__.
SHARED_FILE = next((file for file in (f"{place}/abc.py" for place in sys.path) if os.path.exists(file)), os.__file__)


def must_fail(attempts, *args, errors=OSError):
    """Make attempts, given with their names, each of which the sandbox has to refuse with one of these errors."""
    for name, attempt in attempts.items():
        try:
            attempt(*args)
        except errors:
            continue
        raise RuntimeError(f"SUCCEEDED: {name} {args or ''}")


def try_all(attempts, *args):
    """Make attempts that may be refused or not."""
    for attempt in attempts:
        with contextlib.suppress(OSError, ValueError, OverflowError):
            attempt(*args)


def libc(name, *arguments):
    """Call a function of the C library that raises where it returns -1."""
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def system_call(number, *arguments):
    """Make a system call by its number on x86_64; on other machines it counts as refused."""
    if os.uname().machine != "x86_64":
        raise PermissionError
    libc("syscall", *(ctypes.c_long(one) if isinstance(one, int) else one for one in (number, *arguments)))


def nested_folders(number, mode=0o777):
    """Make folders in one another."""
    here = os.open(".", os.O_RDONLY)
    for _ in range(number):
        os.mkdir("d" * 200, mode, dir_fd=here)
        here, before = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(before)


def places():
    """Folders that processes of one submission might share."""
    own = (os.getcwd(), os.path.dirname(os.getcwd()), os.environ.get("HOME", "."), os.path.dirname(__file__))
    return (*own, "/tmp", "/dev/shm", "/var/tmp", "/run/lock")


def leave(data):
    """Leave bytes wherever a later process or another module might find them."""
    builtins.left_behind = np.left_behind = os.left_behind = sys.modules["left_behind"] = data
    for place in places():
        try_all([
            lambda: open(os.path.join(place, "hostile-note"), "wb").write(data),
            lambda: os.setxattr(place, "user.hostile", data),
            lambda: os.mkdir(os.path.join(place, f"hostile-{data.hex()}")),
        ])  # fmt: skip


def left():
    """All that somebody has left with `leave`."""
    found = [getattr(holder, "left_behind", b"") for holder in (builtins, np, os)]
    found.append(sys.modules.get("left_behind", b""))
    for place in places():
        names = (name.rpartition("-")[2] for name in glob.glob(os.path.join(place, "hostile-*")))
        try_all([
            lambda: found.append(open(os.path.join(place, "hostile-note"), "rb").read()),
            lambda: found.append(os.getxattr(place, "user.hostile")),
            lambda: found.extend(bytes.fromhex(name) for name in names if name != "note"),
        ])  # fmt: skip
    return [data for data in found if data]


def surrounding():
    """The namespaces of all the code that has called this one, and of the objects that it uses."""
    frame = sys._getframe()
    while frame is not None:
        yield frame.f_globals
        frame = frame.f_back
    for thing in gc.get_objects():
        if str(type(thing).__module__).startswith("autograder."):
            for method in vars(type(thing)).values():
                if hasattr(method, "__globals__"):
                    yield method.__globals__


def waiting_requests():
    """The messages with the calls behind the one that runs, in the frames above it."""
    frame = sys._getframe()
    while frame is not None:
        yield from frame.f_locals.get("requests", ())
        frame = frame.f_back


def kit_folder():
    """Where the kit lies: its code stands around this one, and says so."""
    frame = sys._getframe()
    while os.path.basename(frame.f_code.co_filename) != "session.py" and frame.f_back is not None:
        frame = frame.f_back
    return os.path.dirname(os.path.dirname(os.path.dirname(frame.f_code.co_filename)))


def _found_msgpack():
    """MessagePack, which cannot be imported here, from a module around this one that uses it."""
    for namespace in surrounding():
        for value in list(namespace.values()):
            if isinstance(value, ModuleType) and isinstance(vars(value).get("msgpack"), ModuleType):
                return value.msgpack
    raise RuntimeError("no MessagePack around: this attack does nothing")


msgpack = _found_msgpack()


def wires():
    """Every socket that this process has."""
    for name in range(3, 64):
        with contextlib.suppress(OSError):
            yield socket.socket(fileno=os.dup(name))


def pack(value):
    """A message; bytes are taken as they are."""
    data = value if isinstance(value, bytes) else msgpack.packb(value)
    return struct.pack("<I", len(data)) + data


def send(*messages):
    """Send messages, or bytes as they are, to the grader."""
    for wire in wires():
        for message in messages:
            wire.sendall(message if isinstance(message, bytes) else pack(message))


def response(*message):
    """Answer the grader in the worker's place, and end before the worker can."""
    send(message)
    os._exit(0)
