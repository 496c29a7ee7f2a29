"""Takes memory that no limit on the address space counts: memory files, shared pages, pipes, System V segments, tables of the kernel."""

import ctypes
import mmap
import os

NEEDS = ("seccomp", "limits")
libc = ctypes.CDLL(None, use_errno=True)
for name, attempt in {
    "memfd_create": lambda: os.memfd_create("hostile"),
    "memfd_secret": lambda: libc.syscall(447, 0),
    "shmget": lambda: libc.shmget(0, 2**26, 0o1600),
    "semget": lambda: libc.semget(0, 100, 0o1600),
    "msgget": lambda: libc.msgget(0, 0o1600),
    "mq_open": lambda: ctypes.CDLL("librt.so.1", use_errno=True).mq_open(b"/hostile", 0o102, 0o600, None),
    "io_uring": lambda: libc.syscall(425, 64, ctypes.create_string_buffer(256)),
    "io_setup": lambda: libc.syscall(206, 65536, ctypes.byref(ctypes.c_ulong())),
    "shared pages": lambda: len(mmap.mmap(-1, 2**26)),
    "futex hash": lambda: libc.prctl(78, 1, ctypes.c_ulong(2**23), 0, 0),
    "keyctl": lambda: libc.syscall(248, b"user", b"hostile", b"x" * 100, 100, -4),
}.items():
    try:
        if attempt() >= 0:
            raise RuntimeError(f"SUCCEEDED: {name}")
    except OSError:
        pass
PIPES = []
try:
    while True:
        PIPES.append(os.pipe2(os.O_NONBLOCK))
        os.write(PIPES[-1][1], b"x" * 2**20)
except OSError:
    pass
if len(PIPES) > 40:
    raise RuntimeError(f"SUCCEEDED: {len(PIPES)} pipes")
