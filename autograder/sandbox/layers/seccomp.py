"""seccomp: blocks system calls. Sources: seccomp(2), syscalls(2)."""

import ctypes
import errno
import os
import platform
import struct
from functools import cache

from autograder.sandbox.layers.kernel import LINUX, checked, libc

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2


def available() -> bool:
    """Whether the kernel accepts filters. If so, the call fails only when it reads the filter at address 0."""
    if not LINUX or platform.machine() not in _ARCHITECTURES:
        return False
    return libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0) < 0 and ctypes.get_errno() == errno.EFAULT


def install() -> None:
    """Apply the filter to this process, permanently."""
    program = filter_program().replace(struct.pack("<I", _OWN_PID), struct.pack("<I", os.getpid()))
    held = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(held))
    checked(libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_char_p(header), 0, 0))


_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED = {  # name: (x86_64, aarch64); -1 if the architecture does not have it
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117),
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "sendmsg": (46, 211), "sendmmsg": (307, 269), "recvmsg": (47, 212), "recvmmsg": (299, 243),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272), "unshare": (272, 97),
    "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "open_tree_attr": (467, 467), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "setsid": (112, 157), "setpgid": (109, 154), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188),
    "msgctl": (71, 187), "mq_open": (240, 180), "mq_unlink": (241, 181), "personality": (135, 92),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "acct": (163, 89), "syslog": (103, 116),
    "fanotify_init": (300, 262), "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1), "uselib": (134, -1),
    "mknod": (133, -1), "mknodat": (259, 33), "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145),
    "setregid": (114, 143), "setresuid": (117, 147), "setresgid": (119, 149), "setfsuid": (122, 151),
    "setfsgid": (123, 152), "setgroups": (116, 159), "capset": (126, 91), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "process_mrelease": (448, 448), "setpriority": (141, 140), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30), "vhangup": (153, 58), "sync": (162, 81), "syncfs": (306, 267), "io_setup": (206, 0),
    # changes of permissions, owners, times and attributes of the user's own files, which Landlock does not restrict
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "setxattrat": (463, 463), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
    # side channels between processes with the same open files: locks, notifications, the page cache, free blocks
    "flock": (73, 32), "inotify_init": (253, -1), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "inotify_rm_watch": (255, 28), "fadvise64": (221, 223), "readahead": (187, 213), "preadv2": (327, 286),
    "pwritev2": (328, 287), "mincore": (27, 232), "cachestat": (451, 451), "statfs": (137, 43), "fstatfs": (138, 44),
    "ustat": (136, -1), "sysinfo": (99, 179),
    # inode numbers from a counter that all processes of the machine share
    "pipe": (22, -1), "pipe2": (293, 59), "socketpair": (53, 199),
    # uncounted disk space: blocks beyond the end of a file, files held open only by a Landlock rule
    "fallocate": (285, 47), "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    # memory outside the address space limit
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    # kernel memory: each filter takes 90 kB of the machine's 500 MB
    "seccomp": (317, 277),
    # signals to other processes through shared pages, such as those of the C library: see _FUTEX
    "futex_waitv": (449, 449), "futex_wake": (454, 454), "futex_wait": (455, 455), "futex_requeue": (456, 456),
    # information about processes and mounts
    "capget": (125, 90), "statmount": (457, 457), "listmount": (458, 458), "listns": (470, 470),
    "setsockopt": (54, 208),
}  # fmt: skip
_CLONE, _CLONE3 = (56, 220), (435, 435)
_KILLS = ((62, 129), (234, 131))  # kill, tgkill
_SENDTO, _PRLIMIT = (44, 206), (302, 261)
_NEWEST_KNOWN = 470
_CLONE_FILES, _CLONE_THREAD = 0x400, 0x10000
_CLOSE_RANGE, _CLOSE_RANGE_UNSHARE = (436, 436), 2
_OWN_PID = 0x5EEDF00D
# Shared memory outlives its mapping and then counts towards no limit. A mapped file occupies disk space even after it is closed and
# unlinked.
_MMAP, _MAP_SHARED, _MAP_ANONYMOUS = (9, 222), 0x1, 0x20
# Multiplexed calls: only the operations that Python, NumPy and the C library use, since new kernels add more. prctl can allocate
# kernel memory (PR_FUTEX_HASH), fcntl and ioctl can lock, notify and send signals, getsockopt returns a handle of the grader's
# process (SO_PEERPIDFD), madvise shares pages between processes (MERGEABLE).
_SOME = (  # the call, the argument that selects the operation, the allowed operations
    # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_GET_NO_NEW_PRIVS, PR_SET_VMA
    ((157, 167), 0, (3, 15, 16, 21, 39, 0x53564D41)),
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_QUERY, F_DUPFD_CLOEXEC
    ((72, 25), 1, (0, 1, 2, 3, 4, 1027, 1030)),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, TCGETS2
    ((16, 29), 1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)),
    # getsockopt: SO_TYPE, SO_ERROR, SO_PROTOCOL, SO_DOMAIN
    ((55, 209), 2, (3, 4, 38, 39)),
    # MADV_NORMAL, _DONTNEED, _FREE, _HUGEPAGE, _NOHUGEPAGE, _DONTDUMP, _DODUMP, _WIPEONFORK, _KEEPONFORK
    ((28, 233), 2, (0, 4, 8, 14, 15, 16, 17, 18, 19)),
)
# Private futexes, and waiting for a thread to end: FUTEX_WAIT, _WAIT_BITSET, both also with FUTEX_CLOCK_REALTIME.
_FUTEX, _FUTEX_PRIVATE, _FUTEX_WAITS = (202, 98), 0x80, (0, 9, 0x109)
# Information about other processes: their processor time clocks (ids above 15), and calls whose first or second argument is a
# process id, which must be 0 or that of the caller.
_CLOCKS, _LAST_CLOCK = ((228, 113), (229, 114), (230, 115)), 15  # clock_gettime, clock_getres, clock_nanosleep
_OF_PROCESS = (  # sched_getaffinity, _getscheduler, _getparam, _getattr, _rr_get_interval, getpgid, getsid, get_robust_list
    (0, ((204, 123), (145, 120), (143, 121), (315, 275), (148, 127), (121, 155), (124, 156), (274, 100))),
    (1, ((140, 141), (252, 31))),  # getpriority, ioprio_get
)
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_LOAD, _JUMP, _JEQ, _JGT, _JGE, _JSET, _RET = 0x20, 0x05, 0x15, 0x25, 0x35, 0x45, 0x06
_NR, _ARCH, _ARG = 0, 4, 16


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def _refuse_if(comparison: int, value: int, verdict: int = _EPERM) -> bytes:
    return _op(comparison, value, 0, 1) + _op(_RET, verdict)


def _only(*values: int) -> bytes:
    """Block all values except these."""
    tests = (_op(_JEQ, value, len(values) - place) for place, value in enumerate(values))
    return b"".join(tests) + _op(_RET, _EPERM)


def _arg(number: int, half: int = 0) -> bytes:
    return _op(_LOAD, _ARG + 8 * number + 4 * half)


@cache  # the server builds it once for all its children
def filter_program() -> bytes:
    """The filter as classic BPF, with _OWN_PID in place of the child's process id."""
    machine = platform.machine()
    column = list(_ARCHITECTURES).index(machine)
    program = _op(_LOAD, _ARCH) + _op(_JEQ, _ARCHITECTURES[machine], 1, 0) + _op(_RET, _EPERM) + _op(_LOAD, _NR)
    return program + _refuse_if(_JGT, _NEWEST_KNOWN, _ENOSYS) + _search(sorted(_bodies(column).items()))


def _bodies(column: int) -> dict[int, bytes]:
    """The checks of each system call that is restricted, by number."""
    bodies = {numbers[column]: _op(_RET, _EPERM) for numbers in _REFUSED.values() if numbers[column] >= 0}
    bodies[_CLONE3[column]] = _op(_RET, _ENOSYS)
    # Allow only threads, and only with shared file descriptors, since others could not be counted.
    flags = (_op(_JSET, flag, 1, 0) + _op(_RET, _EPERM) for flag in (_CLONE_THREAD, _CLONE_FILES))
    bodies[_CLONE[column]] = _arg(0) + b"".join(flags)
    bodies[_CLOSE_RANGE[column]] = _arg(2) + _refuse_if(_JSET, _CLOSE_RANGE_UNSHARE)
    for call in _KILLS:
        bodies[call[column]] = _arg(0) + _only(_OWN_PID)
    for call in _CLOCKS:
        bodies[call[column]] = _arg(0) + _refuse_if(_JGT, _LAST_CLOCK)
    for number, calls in _OF_PROCESS:
        bodies |= {call[column]: _arg(number) + _only(0, _OWN_PID) for call in calls}
    bodies[_SENDTO[column]] = _arg(4, 0) + _only(0) + _arg(4, 1) + _only(0)
    bodies[_PRLIMIT[column]] = _arg(0) + _only(0)
    anonymous = _op(_JSET, _MAP_ANONYMOUS, 1, 0) + _op(_RET, _ENOSYS)
    bodies[_MMAP[column]] = _arg(3) + anonymous + _refuse_if(_JSET, _MAP_SHARED)
    private = _op(_JSET, _FUTEX_PRIVATE, len(_FUTEX_WAITS) + 1)
    bodies[_FUTEX[column]] = _arg(1) + private + _only(*_FUTEX_WAITS)
    return bodies | {call[column]: _arg(number) + _only(*values) for call, number, values in _SOME}


def _search(bodies: list[tuple[int, bytes]]) -> bytes:
    """A binary search for the system call number, because at installation the kernel runs the filter on every number."""
    if len(bodies) <= 2:
        tests = [_op(_JEQ, number, 0, len(body) // 8 + 1) + body + _op(_RET, _ALLOW) for number, body in bodies]
        return b"".join(tests) + _op(_RET, _ALLOW)
    half = len(bodies) // 2
    lower, upper = _search(bodies[:half]), _search(bodies[half:])
    return _op(_JGE, bodies[half][0], 0, 1) + _op(_JUMP, len(lower) // 8) + lower + upper
