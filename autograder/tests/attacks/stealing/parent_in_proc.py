"""Reads memory, environment and open files of its parents through /proc."""

import os

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


for number in parents():
    for name in ("mem", "environ", "maps", "auxv", "stack", "fd", "fdinfo", "cwd", "root", "exe", "map_files"):
        path = f"/proc/{number}/{name}"
        for read in (os.listdir, lambda p: open(p, "rb").close(), os.readlink):
            try:
                read(path)
            except OSError:
                continue
            raise RuntimeError(f"SUCCEEDED: opened {path} by {read}")
