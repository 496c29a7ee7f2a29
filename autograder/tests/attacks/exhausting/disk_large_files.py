"""Fills the disk with large files, a sparse one among them, from a thread that goes on between calls."""

import os
import threading
import time

NEEDS = ("limits",)


def fill():
    for number in range(10_000):
        try:
            with open(f"hostile-{number}", "wb", buffering=0) as file:
                while file.write(b"x" * 2**20):
                    pass
        except OSError:
            time.sleep(0.001)


for size in (2**40, 2**26):
    try:
        with open("hostile-sparse", "wb") as sparse:
            os.posix_fallocate(sparse.fileno(), 0, size)
    except OSError:
        continue
    raise RuntimeError(f"SUCCEEDED: a file of {size} bytes")
threading.Thread(target=fill, daemon=True).start()


def layer_norm(x, *_, **__):
    time.sleep(0.3)
    if sum(os.stat(name).st_size for name in os.listdir()) > 2**28:
        raise RuntimeError("SUCCEEDED: a quarter of a gigabyte")
    return x
