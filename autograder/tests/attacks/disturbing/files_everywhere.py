"""Writes files wherever a user may, and into the kit, the interpreter, NumPy, the submission and the home folder."""

import os
import sys

import numpy

NEEDS = ("landlock",)
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", "/", "/home", os.path.expanduser("~root"),
           os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__)), os.path.dirname(numpy.__file__),
           os.path.dirname(os.__file__), os.path.dirname(sys.argv[0]) or "/", sys.prefix)  # fmt: skip
for folder in FOLDERS:
    for make in (
        lambda p: open(p, "w").close(),
        os.mkdir,
        lambda p: os.symlink("/etc", p),
        lambda p: os.link(__file__, p),
        lambda p: os.rename(os.path.abspath(__file__), p),
        os.mkfifo,
    ):
        try:
            make(os.path.join(folder, f"hostile-{make.__name__.strip('<>')}"))
        except OSError:
            continue
        raise RuntimeError(f"SUCCEEDED: made something in {folder}")
