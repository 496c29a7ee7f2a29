"""Has a timer of the kernel, or itself, wake it whenever the grader stops it, and so works while it is another process's turn."""

import contextlib
import ctypes
import os
import platform
import signal
import struct

NEEDS = ("seccomp",)
LIBC = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGCONT, lambda *_: None)
event, timer = ctypes.create_string_buffer(struct.pack("<qii", 0, signal.SIGCONT, 0), 64), ctypes.c_int()
if platform.machine() == "x86_64" and LIBC.syscall(222, 1, event, ctypes.byref(timer)) == 0:
    raise RuntimeError("SUCCEEDED: a timer that sends signals")
with contextlib.suppress(PermissionError):
    os.kill(os.getpid(), signal.SIGCONT)  # in a loop it undoes a SIGSTOP that comes in the midst of it
    raise RuntimeError("SUCCEEDED: a signal to go on")


def layer_norm(x, *_, **__):
    return x


rms_norm = layer_norm_backward = layer_norm
