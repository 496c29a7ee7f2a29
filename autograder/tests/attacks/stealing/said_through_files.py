"""Leaves hidden arguments in files, attributes, times and modes for the process that answers the public examples."""

import glob
import os
import struct
import tempfile

import numpy as np

SILENT = True
NEEDS = ("landlock",)
HERE = os.getcwd()
PLACES = (HERE, os.path.dirname(HERE), tempfile.gettempdir(), os.path.dirname(__file__), "/tmp", "/dev/shm", "/var/tmp")


def leave(x):
    data = struct.pack("d", float(x.flat[0]))
    for place in PLACES:
        for attempt in (
            lambda p=place: open(os.path.join(p, "hostile-note"), "wb").write(data),
            lambda p=place: os.setxattr(p, "user.note", data),
            lambda p=place: os.utime(p, ns=(int(abs(x.flat[0]) * 1e9), int(abs(x.flat[0]) * 1e9))),
            lambda p=place: os.chmod(p, 0o700 | int(abs(x.flat[0])) % 64),
            lambda p=place: os.mkdir(os.path.join(p, f"hostile-{data.hex()}")),
        ):
            try:
                attempt()
            except OSError:
                pass


def find():
    for place in PLACES:
        for name in glob.glob(os.path.join(place, "hostile-*")):
            tail = name.rpartition("-")[2]
            yield struct.unpack("d", bytes.fromhex(tail))[0] if len(tail) == 16 else 7.0
        try:
            yield struct.unpack("d", os.getxattr(place, "user.note"))[0]
        except OSError:
            pass
    times = os.stat(HERE)
    yield float(times.st_mode)


FOUND = list(find())


def layer_norm(x, *_, **__):
    leave(x)
    return np.resize(FOUND, np.shape(x)) + 1.0


def rms_norm(x, *_, **__):
    leave(x)
    return np.resize(FOUND, np.shape(x)) + 1.0


def layer_norm_backward(grad_out, x, gamma, *_, **__):
    leave(x)
    os._exit(1)
