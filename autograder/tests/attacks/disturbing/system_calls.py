"""Asks the kernel for what a homework never needs: namespaces, mounts, modules, clocks, tracing, reboot."""

import ctypes
import os
import platform

NEEDS = ("seccomp",)
libc = ctypes.CDLL(None, use_errno=True)
CALLS = {
    "unshare": (272, 0x10000000), "setns": (308, 0, 0), "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "umount2": (166, b"/", 2), "pivot_root": (155, b"/", b"/"), "chroot": (161, b"/"), "fsopen": (430, b"tmpfs", 0),
    "open_tree": (428, -100, b"/", 1), "init_module": (175, 0, 0, b""), "kexec_load": (246, 0, 0, 0, 0),
    "reboot": (169, 0, 0, 0, 0), "swapon": (167, b"x", 0), "settimeofday": (164, 0, 0), "sethostname": (170, b"x", 1),
    "acct": (163, 0), "syslog": (103, 10, 0, 0), "bpf": (321, 0, 0, 0), "perf": (298, 0, 0, 0, 0, 0),
    "userfaultfd": (323, 0), "io_uring": (425, 1, 0), "personality": (135, 0x0040000), "ptrace": (101, 0, 0, 0, 0),
    "setsid": (112,), "setpgid": (109, 0, 0), "setuid": (105, 0), "setresuid": (117, 0, 0, 0), "setgroups": (116, 0, 0),
    "capset": (126, 0, 0), "sync": (162,), "iopl": (172, 3), "vhangup": (153,), "kcmp": (312, 1, 1, 0, 0, 0),
    "dumpable": (157, 4, 1), "death signal": (157, 1, 0), "tracer": (157, 0x59616D61, -1), "memory map": (157, 35, 1, 0),
    "futex on shared pages": (202, id(None), 1, 1), "futex_waitv": (449, 0, 0, 0, 0, 0), "futex_wake": (454, 0, 0, 0, 0),
    "capget": (125, 0, 0), "listmount": (458, 0, 0, 0, 0), "pages in common": (157, 67, 1, 0, 0, 0), "merge": (28, 0, 0, 12),
    "fanotify": (300, 0, 0), "name_to_handle": (303, -100, b"/", 0, 0, 0), "modify_ldt": (154, 0, 0, 0),
}  # fmt: skip
for name, (number, *args) in CALLS.items() if platform.machine() == "x86_64" else ():
    ctypes.set_errno(0)
    if libc.syscall(number, *args) >= 0 or ctypes.get_errno() not in (1, 38):
        raise RuntimeError(f"SUCCEEDED: {name}: {os.strerror(ctypes.get_errno())}")
# the same through the door for 32-bit programs, and under numbers that do not exist
if platform.machine() == "x86_64" and any(libc.syscall(0x40000000 + n, 0, 0, 0) >= 0 for n in (41, 57, 101, 62)):
    raise RuntimeError("SUCCEEDED: x32")
