"""Attaches to the processes above and beside it with ptrace, process_vm_readv and pidfd_getfd."""

import ctypes
import os

NEEDS = ("user", "landlock", "seccomp", "not_dumpable")  # any one is enough
EITHER = True
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(64)
local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
remote = (ctypes.c_size_t * 2)(0x400000, 64)
above = os.getppid()
for pid in (above, *range(max(2, above - 100), above)):
    probe_results = {
        "PTRACE_ATTACH": libc.ptrace(16, pid, 0, 0),
        "PTRACE_SEIZE": libc.ptrace(0x4206, pid, 0, 0),
        "process_vm_readv": libc.syscall(310, pid, local, 1, remote, 1, 0) > 0 and 0 or -1,
    }
    watched = libc.syscall(434, pid, 0)
    if watched >= 0:
        probe_results.update({f"pidfd_getfd {fd}": -1 if libc.syscall(438, watched, fd, 0) < 0 else 0 for fd in range(9)})
    for name, result in probe_results.items():
        if result == 0:
            raise RuntimeError(f"SUCCEEDED: {name} of {pid}")
