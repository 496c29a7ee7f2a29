"""Forks as fast as it can, in every way that there is."""

import ctypes
import multiprocessing
import os
import subprocess

from forge import all_fail

NEEDS = ("seccomp",)
libc = ctypes.CDLL(None, use_errno=True)
TRIES = {
    "fork": os.fork,
    "subprocess": lambda: subprocess.Popen(["true"]),
    "system": lambda: 1 / (os.system("true") == 0 and 1 or 0),
    "posix_spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "multiprocessing": lambda: multiprocessing.Process(target=print).start(),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "vfork": lambda: 1 / (libc.vfork() + 1),
    "clone": lambda: 1 / (libc.syscall(56, 17, 0, 0, 0, 0) + 1),
    "clone3": lambda: 1 / (libc.syscall(435, (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17), 88) + 1),
}
all_fail(TRIES)
