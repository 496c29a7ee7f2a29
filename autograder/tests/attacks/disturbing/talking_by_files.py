"""Tells another process of another user something by a file that both may read: locks, leases, notices, the page cache."""

import ctypes
import fcntl
import os
import platform
import struct

from forge import all_fail

NEEDS = ("seccomp",)
BOTH_READ = __file__  # of the upload, which is there for all processes of a submission
LIBC = ctypes.CDLL(None, use_errno=True)
LOCK = struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0)


def raw(number, *arguments):
    """A system call by its number on x86_64; refused ones raise as Python's own do."""
    if platform.machine() != "x86_64":
        raise PermissionError
    if LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def attempts(file):
    mask, buffer = 0x20, ctypes.create_string_buffer(4096)
    attributes = ctypes.create_string_buffer(struct.pack("<Q", 4))
    yield "flock", lambda: fcntl.flock(file, fcntl.LOCK_SH)
    yield "a lock of POSIX", lambda: fcntl.lockf(file, fcntl.LOCK_SH)
    yield "a look at locks", lambda: fcntl.fcntl(file, fcntl.F_GETLK, LOCK)
    yield "a lock of an open file", lambda: fcntl.fcntl(file, 37, LOCK)
    yield "a look at leases", lambda: fcntl.fcntl(file, 1025)
    yield "a hint", lambda: fcntl.fcntl(file, 1036, struct.pack("Q", 2))
    yield "advice on the cache", lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    yield "a read that does not wait", lambda: os.preadv(file, [bytearray(9)], 0, 8)
    yield "inotify", lambda: raw(294, 0)
    yield "a watch", lambda: raw(254, 3, ctypes.addressof(buffer), mask)
    yield "mincore", lambda: raw(27, ctypes.addressof(buffer) & ~4095, 4096, ctypes.addressof(buffer))
    yield "readahead", lambda: raw(187, file, 0, 4096)
    yield "cachestat", lambda: raw(451, file, 0, 0, 0)
    yield "Landlock rules", lambda: raw(444, ctypes.addressof(attributes), 8, 0)
    yield "free blocks", lambda: os.statvfs("/")
    yield "the number of a pipe", lambda: os.fstat(os.pipe()[0])


file = os.open(BOTH_READ, os.O_RDONLY)
all_fail(dict(attempts(file)))
