"""Makes files without content, with long names, folders in folders and links, until somebody minds."""

import os

NEEDS = ("limits",)


def layer_norm(x, *_, **__):
    for number in range(200_000):
        os.close(os.open(f"{number}" + "x" * 200, os.O_CREAT))
    raise RuntimeError("SUCCEEDED: 200,000 files")


def rms_norm(x, *_, **__):
    here = os.open(".", os.O_RDONLY)
    for _ in range(100_000):
        os.mkdir("d" * 200, dir_fd=here)
        here, before = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(before)
    raise RuntimeError("SUCCEEDED: 100,000 folders in each other")


def layer_norm_backward(x, *_, **__):
    for number in range(200_000):
        os.symlink("x" * 4000, f"{number}")
    raise RuntimeError("SUCCEEDED: 200,000 links")
