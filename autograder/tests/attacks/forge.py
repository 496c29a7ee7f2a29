"""Uploaded with every attack: the modules that most attacks use, and the functions that several of them share."""

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
# A file that every process may read. A student process may find it at another path than os.__file__.
SHARED_FILE = next((file for file in (f"{place}/abc.py" for place in sys.path) if os.path.exists(file)), os.__file__)


def must_fail(attempts, *args, errors=OSError):
    """Make attempts, given by name, each of which must fail with one of these errors."""
    for name, attempt in attempts.items():
        try:
            attempt(*args)
        except errors:
            continue
        raise RuntimeError(f"SUCCEEDED: {name} {args or ''}")


def try_all(attempts, *args):
    """Make attempts that may fail or succeed."""
    for attempt in attempts:
        with contextlib.suppress(OSError, ValueError, OverflowError):
            attempt(*args)


def nested_folders(number, mode=0o777):
    """Create nested folders."""
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
    """Everything left behind with `leave`."""
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
    """The namespaces of all callers, and of the methods of the kit's objects."""
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
    """The messages of the calls after the running one, from the frames of its callers."""
    frame = sys._getframe()
    while frame is not None:
        yield from frame.f_locals.get("requests", ())
        frame = frame.f_back


def kit_folder():
    """The kit's folder, which a student might guess. Reversed, so that it is not found in the memory of this process."""
    return "REVERSED"[::-1]


def reachable():
    """Every object, reached from the callers' frames, the modules and the garbage collector; of code, the constants and names."""
    gc.unfreeze()
    frame, waiting = sys._getframe(1), [*gc.get_objects()]
    while frame is not None:
        waiting += [frame.f_code, *frame.f_locals.values()]
        frame = frame.f_back
    seen = {id(globals()), id(waiting)}
    while waiting:
        thing = waiting.pop()
        if id(thing) not in seen:
            seen.add(id(thing))
            yield thing
            is_code = isinstance(thing, type(reachable.__code__))
            waiting += [thing.co_filename, *thing.co_consts] if is_code else gc.get_referents(thing)


def _found_msgpack():
    """MessagePack, which cannot be imported here, from a module of the kit that uses it."""
    for namespace in surrounding():
        for value in list(namespace.values()):
            if isinstance(value, ModuleType) and isinstance(vars(value).get("msgpack"), ModuleType):
                return value.msgpack
    raise RuntimeError("no MessagePack around: this attack does nothing")


msgpack = _found_msgpack()
TUPLE = msgpack.ExtType(6, b"\0")  # a list that begins with it arrives as a tuple


def wires():
    """Every socket of this process."""
    for name in range(3, 64):
        with contextlib.suppress(OSError):
            yield socket.socket(fileno=os.dup(name))


def pack(value):
    """Encode a message with its length; bytes are already encoded."""
    data = value if isinstance(value, bytes) else msgpack.packb(value)
    return struct.pack("<I", len(data)) + data


def send(*messages):
    """Send messages, or raw bytes, to the grader."""
    for wire in wires():
        for message in messages:
            wire.sendall(message if isinstance(message, bytes) else pack(message))


def response(*message):
    """Send the grader a forged response, and exit before the real one is sent."""
    send(message)
    os._exit(0)
