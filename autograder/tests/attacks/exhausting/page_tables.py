"""Reads one page in each of many gigabytes: the kernel makes page tables for each, which no limit on the address space counts."""

import ctypes
import time

NEEDS = ("limits",)
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
READ, PRIVATE_ANONYMOUS_FIXED_POPULATED, FIRST, GIGABYTES = 1, 0x8032, 2**40, 60_000
made = [LIBC.mmap(FIRST + (n << 30), 4096, READ, PRIVATE_ANONYMOUS_FIXED_POPULATED, -1, 0) for n in range(GIGABYTES)]
time.sleep(1)
if len({*made}) == GIGABYTES:
    raise RuntimeError("SUCCEEDED: half a gigabyte of page tables")
