"""Fills the disk with blocks beyond the end of files, which no file's size tells, and with files without a name that a rule of
Landlock or a table of open files of its own holds."""

import ctypes
import os
import platform
import struct

NEEDS = ("limits", "seccomp")
LIBC = ctypes.CDLL(None, use_errno=True)


def raw(number, *arguments):
    return platform.machine() == "x86_64" and LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) >= 0


def layer_norm(x, *_, **__):
    for number in range(40):
        file = os.open(f"hostile-{number}", os.O_RDWR | os.O_CREAT)
        if LIBC.fallocate(file, 1, ctypes.c_long(0), ctypes.c_long(2**26)) == 0:
            raise RuntimeError("SUCCEEDED: blocks beyond the end of a file")
        os.close(file)
    return x


def rms_norm(x, *_, **__):
    attributes = ctypes.create_string_buffer(struct.pack("<Q", 4))
    if raw(444, ctypes.addressof(attributes), 8, 0):
        raise RuntimeError("SUCCEEDED: a rule that may hold files")
    return x


def layer_norm_backward(x, *_, **__):
    if raw(436, 4000, 4001, 2) or raw(272, 0x400):
        raise RuntimeError("SUCCEEDED: open files that nobody counts")
    return x
