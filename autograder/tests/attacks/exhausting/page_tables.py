"""Reads two pages at many places: the kernel makes page tables for each, which no limit on the address space counts."""

import ctypes
import time

NEEDS = ("limits",)
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
READ, PRIVATE_ANONYMOUS_FIXED_POPULATED, FIRST, PLACES = 1, 0x8032, 2**40, 60_000
made = [LIBC.mmap(FIRST + (n << 31) - 4096, 8192, READ, PRIVATE_ANONYMOUS_FIXED_POPULATED, -1, 0) for n in range(PLACES)]
time.sleep(1)
if len({*made}) == PLACES:
    raise RuntimeError("SUCCEEDED: a gigabyte of page tables")
