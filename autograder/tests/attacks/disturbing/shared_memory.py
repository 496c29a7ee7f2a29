"""Leaves what outlives a process in the kernel: segments, semaphores, queues, shared memory of multiprocessing."""

import _posixshmem
import ctypes
import os

import _multiprocessing

from forge import all_fail

NEEDS = ("seccomp", "landlock")
libc = ctypes.CDLL(None, use_errno=True)
TRIES = {
    "segment": lambda: 1 / (libc.shmget(0x7A7A, 4096, 0o1666) + 1),
    "semaphores": lambda: 1 / (libc.semget(0x7A7A, 4, 0o1666) + 1),
    "queue": lambda: 1 / (libc.msgget(0x7A7A, 0o1666) + 1),
    "posix queue": lambda: 1 / (libc.syscall(240, b"hostile", 0o102, 0o600, None) + 1),
    "shared memory": lambda: _posixshmem.shm_open("/hostile", os.O_CREAT | os.O_RDWR, mode=0o600),
    "semaphore": lambda: _multiprocessing.SemLock(0, 1, 1, "/hostile", False),
    "key": lambda: 1 / (libc.syscall(248, b"user", b"hostile", b"x", 1, -4) + 1),
}
all_fail(TRIES)
