"""seccomp: allows only the system calls that Python and NumPy make. Sources: seccomp(2), syscalls(2)."""

import ctypes
import errno
import os
import platform
import struct
from functools import cache

from autograder.sandbox.layers.kernel import LINUX, checked, libc

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOWED = {  # name: (x86_64, aarch64); -1 if the architecture does not have it
    # files
    "access": (21, -1), "chdir": (80, 49), "close": (3, 57), "close_range": (436, 436), "copy_file_range": (326, 285),
    "creat": (85, -1), "dup": (32, 23), "dup2": (33, -1), "dup3": (292, 24), "faccessat": (269, 48),
    "faccessat2": (439, 439), "fchdir": (81, 50), "fcntl": (72, 25), "fdatasync": (75, 83), "fstat": (5, 80),
    "fsync": (74, 82), "ftruncate": (77, 46), "getcwd": (79, 17), "getdents": (78, -1), "getdents64": (217, 61),
    "ioctl": (16, 29), "link": (86, -1), "linkat": (265, 37), "lseek": (8, 62), "lstat": (6, -1), "mkdir": (83, -1),
    "mkdirat": (258, 34), "newfstatat": (262, 79), "open": (2, -1), "openat": (257, 56), "pread64": (17, 67),
    "preadv": (295, 69), "pwrite64": (18, 68), "pwritev": (296, 70), "read": (0, 63), "readlink": (89, -1),
    "readlinkat": (267, 78), "readv": (19, 65), "rename": (82, -1), "renameat": (264, 38), "renameat2": (316, 276),
    "rmdir": (84, -1), "sendfile": (40, 71), "stat": (4, -1), "statx": (332, 291), "symlink": (88, -1),
    "symlinkat": (266, 36), "truncate": (76, 45), "umask": (95, 166), "unlink": (87, -1), "unlinkat": (263, 35),
    "write": (1, 64), "writev": (20, 66),
    # the connection
    "getpeername": (52, 205), "getsockname": (51, 204), "getsockopt": (55, 209), "poll": (7, -1), "ppoll": (271, 73),
    "pselect6": (270, 72), "recvfrom": (45, 207), "select": (23, -1), "sendto": (44, 206), "shutdown": (48, 210),
    # memory
    "brk": (12, 214), "madvise": (28, 233), "membarrier": (324, 283), "mmap": (9, 222), "mprotect": (10, 226),
    "mremap": (25, 216), "msync": (26, 227), "munmap": (11, 215),
    # threads
    "arch_prctl": (158, -1), "clone": (56, 220), "exit": (60, 93), "exit_group": (231, 94), "futex": (202, 98),
    "getcpu": (309, 168), "gettid": (186, 178), "prctl": (157, 167), "rseq": (334, 293),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120), "sched_yield": (24, 124),
    "set_robust_list": (273, 99), "set_tid_address": (218, 96),
    # time and signals
    "alarm": (37, -1), "clock_getres": (229, 114), "clock_gettime": (228, 113), "clock_nanosleep": (230, 115),
    "getitimer": (36, 102), "gettimeofday": (96, 169), "kill": (62, 129), "nanosleep": (35, 101), "pause": (34, -1),
    "restart_syscall": (219, 128), "rt_sigaction": (13, 134), "rt_sigpending": (127, 136),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137), "setitimer": (38, 103), "sigaltstack": (131, 132), "tgkill": (234, 131),
    "time": (201, -1), "times": (100, 153),
    # the process
    "getegid": (108, 177), "geteuid": (107, 175), "getgid": (104, 176), "getgroups": (115, 158),
    "getpgid": (121, 155), "getpgrp": (111, -1), "getpid": (39, 172), "getppid": (110, 173),
    "getpriority": (140, 141), "getrandom": (318, 278), "getresgid": (120, 150), "getresuid": (118, 148),
    "getrlimit": (97, 163), "getrusage": (98, 165), "getsid": (124, 156), "getuid": (102, 174),
    "prlimit64": (302, 261), "uname": (63, 160), "wait4": (61, 260), "waitid": (247, 95),
}  # fmt: skip
# Other calls are refused with EPERM, which the student sees. From this number on it is ENOSYS, so that the C library uses an older
# call, as on an older kernel.
_NEW = 424
_OWN_PID = 0x5EEDF00D  # stands for the process id in the filter
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_LOAD, _JUMP, _JEQ, _JGT, _JGE, _JSET, _RET = 0x20, 0x05, 0x15, 0x25, 0x35, 0x45, 0x06
_NR, _ARCH, _ARG = 0, 4, 16


def available() -> bool:
    """Whether the kernel accepts filters. If so, the call fails only when it reads the filter at address 0."""
    if not LINUX or platform.machine() not in _ARCHITECTURES:
        return False
    return libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0) < 0 and ctypes.get_errno() == errno.EFAULT


def install() -> None:
    """Apply the filter to this process, permanently."""
    program = filter_program(platform.machine()).replace(struct.pack("<I", _OWN_PID), struct.pack("<I", os.getpid()))
    held = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(held))
    checked(libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0))


@cache  # the server builds it once for all its children
def filter_program(machine: str) -> bytes:
    """Return the filter as classic BPF, with _OWN_PID in place of the child's process id."""
    checks, column = _checks(), list(_ARCHITECTURES).index(machine)
    allowed = sorted((numbers[column], checks.get(name, b"")) for name, numbers in _ALLOWED.items())
    old = _search([call for call in allowed if 0 <= call[0] < _NEW], _EPERM)
    new = _search([call for call in allowed if call[0] >= _NEW], _ENOSYS)
    program = _op(_LOAD, _ARCH) + _op(_JEQ, _ARCHITECTURES[machine], 1, 0) + _op(_RET, _EPERM) + _op(_LOAD, _NR)
    return program + _op(_JGE, _NEW, 0, 1) + _op(_JUMP, len(old) // 8) + old + new


def _search(calls: list[tuple[int, bytes]], verdict: int) -> bytes:
    """Return a binary search for the system call number, because at installation the kernel runs the filter on every number."""
    if len(calls) <= 2:
        tests = [_op(_JEQ, number, 0, len(check) // 8 + 1) + check + _op(_RET, _ALLOW) for number, check in calls]
        return b"".join(tests) + _op(_RET, verdict)
    half = len(calls) // 2
    lower, upper = _search(calls[:half], verdict), _search(calls[half:], verdict)
    return _op(_JGE, calls[half][0], 0, 1) + _op(_JUMP, len(lower) // 8) + lower + upper


def _checks() -> dict[str, bytes]:
    """Return the checks of arguments, by system call; the other calls are allowed with any arguments."""
    # Information about another process: 0 and the own process id are allowed.
    first = ("sched_getaffinity", "sched_getscheduler", "sched_getparam", "getpgid", "getsid")
    clocks = ("clock_gettime", "clock_getres", "clock_nanosleep")
    return {
        **dict.fromkeys(("kill", "tgkill"), _arg(0) + _only(_OWN_PID)),
        **dict.fromkeys(first, _arg(0) + _only(0, _OWN_PID)),
        "getpriority": _arg(1) + _only(0, _OWN_PID),
        "prlimit64": _arg(0) + _only(0),
        # Ids above 15 are the processor time clocks of processes.
        **dict.fromkeys(clocks, _arg(0) + _refuse_if(_JGT, 15)),
        # No address, so that only the connection can be used.
        "sendto": _arg(4, 0) + _only(0) + _arg(4, 1) + _only(0),
        # CLONE_THREAD and CLONE_FILES: threads only, and with shared file descriptors, since others could not be counted.
        "clone": _arg(0) + _need(0x10000) + _need(0x400),
        # Not CLOSE_RANGE_UNSHARE.
        "close_range": _arg(2) + _refuse_if(_JSET, 2),
        # MAP_ANONYMOUS, not MAP_SHARED. Shared memory outlives its mapping and then counts towards no limit. A mapped file
        # occupies disk space even after it is closed and unlinked.
        "mmap": _arg(3) + _need(0x20, _ENOSYS) + _refuse_if(_JSET, 0x1),
        # Any private futex. On shared pages, such as those of the C library, a signal could reach another process, so only
        # waiting for a thread to end: FUTEX_WAIT and _WAIT_BITSET, both also with FUTEX_CLOCK_REALTIME.
        "futex": _arg(1) + _op(_JSET, 0x80, 4) + _only(0, 9, 0x109),
        # Only the operations that Python, NumPy and the C library use, since new kernels add more. prctl can allocate kernel memory
        # (PR_FUTEX_HASH), fcntl and ioctl can lock, notify and send signals, getsockopt returns a handle of the grader's process
        # (SO_PEERPIDFD), madvise shares pages between processes (MERGEABLE).
        # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, PR_SET_VMA
        "prctl": _arg(0) + _only(3, 15, 16, 21, 39, 0x53564D41),
        # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_QUERY, F_DUPFD_CLOEXEC
        "fcntl": _arg(1) + _only(0, 1, 2, 3, 4, 1027, 1030),
        # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2
        "ioctl": _arg(1) + _only(0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A),
        # SO_TYPE, SO_ERROR, SO_PROTOCOL, SO_DOMAIN
        "getsockopt": _arg(2) + _only(3, 4, 38, 39),
        # MADV_NORMAL, _DONTNEED, _FREE, _HUGEPAGE, _NOHUGEPAGE, _DONTDUMP, _DODUMP, _WIPEONFORK, _KEEPONFORK
        "madvise": _arg(2) + _only(0, 4, 8, 14, 15, 16, 17, 18, 19),
    }


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def _arg(number: int, half: int = 0) -> bytes:
    return _op(_LOAD, _ARG + 8 * number + 4 * half)


def _need(flag: int, verdict: int = _EPERM) -> bytes:
    return _op(_JSET, flag, 1, 0) + _op(_RET, verdict)


def _refuse_if(comparison: int, value: int) -> bytes:
    return _op(comparison, value, 0, 1) + _op(_RET, _EPERM)


def _only(*values: int) -> bytes:
    """Block all values except these."""
    tests = (_op(_JEQ, value, len(values) - position) for position, value in enumerate(values))
    return b"".join(tests) + _op(_RET, _EPERM)
