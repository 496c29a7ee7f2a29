"""Reads memory, environment and open files of its parents through /proc."""

import os

from forge import all_fail_with

NEEDS = ("user", "landlock", "not_dumpable")  # any one is enough
EITHER = True


def parents():
    pid = os.getppid()
    while pid > 1:
        yield pid
        try:
            pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
        except OSError:
            yield from range(max(2, pid - 200), pid)
            return


NAMES = ("mem", "environ", "maps", "auxv", "stack", "fd", "fdinfo", "cwd", "root", "exe", "map_files")
PATHS = [f"/proc/{number}/{name}" for number in parents() for name in NAMES]
all_fail_with(PATHS, os.listdir, lambda p: open(p, "rb").close(), os.readlink)
