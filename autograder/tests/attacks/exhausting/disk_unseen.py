"""Fills the disk with files that no folder shows: unlinked ones, kept open or mapped after they were closed."""

import mmap
import os

NEEDS = ("limits", "seccomp")
HELD = []


def write(name):
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    os.unlink(name)
    try:
        while os.write(file, b"x" * 2**20):
            pass
    except OSError:
        return file


def layer_norm(x, *_, **__):
    try:
        while True:
            HELD.append(write("hostile"))
    except OSError:
        pass
    total = sum(os.fstat(file).st_size for file in HELD)
    for file in HELD:
        os.close(file)
    if total > 2**28:
        raise RuntimeError(f"SUCCEEDED: {total} bytes in open files")
    return x


def rms_norm(x, *_, **__):
    for _ in range(200):
        file = write("hostile")
        try:
            HELD.append(mmap.mmap(file, 4096))
        except OSError:
            return x
        finally:
            os.close(file)
    raise RuntimeError("SUCCEEDED: 200 files, closed and mapped")


def layer_norm_backward(*_, **__):
    return None
