"""Allowed and refused system calls: their numbers, and the errors that student code sees."""

import struct
from pathlib import Path

import pytest

from autograder.sandbox.layers import seccomp
from autograder.sandbox.protocol import Response
from autograder.tests.running import loaded, sealed

TABLE = Path(__file__).with_name("system_calls.txt").read_text().splitlines()[1:]
KERNEL = {name: tuple(-1 if n == "-" else int(n) for n in numbers) for name, *numbers in map(str.split, TABLE)}


def test_system_call_numbers_are_the_kernels() -> None:
    assert {name: (ours, KERNEL.get(name)) for name, ours in seccomp._ALLOWED.items() if ours != KERNEL.get(name)} == {}


HARMFUL = """
    acct unshare setns mount umount2 pivot_root chroot fsopen open_tree init_module kexec_load reboot swapon settimeofday
    sethostname syslog bpf perf_event_open userfaultfd io_uring_setup personality ptrace setsid setpgid setuid setresuid
    setgroups capset capget sync iopl vhangup kcmp futex_waitv futex_wake listmount fanotify_init name_to_handle_at
    modify_ldt fork vfork clone3 execve execveat pipe pipe2 mknod mknodat sendmsg socket socketpair chmod fchmod fchmodat
    chown fchown lchown utimensat setxattr flock fadvise64 preadv2 inotify_init1 inotify_add_watch mincore readahead
    cachestat landlock_create_ruleset statfs memfd_create memfd_secret shmget semget msgget mq_open io_setup seccomp
    fallocate add_key setpriority sched_setaffinity sched_setscheduler ioprio_set setrlimit process_vm_readv
    process_vm_writev pidfd_open pidfd_getfd pidfd_send_signal rt_sigqueueinfo tkill
"""


ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x50001, 0x50000 | 38
OWN = 0x5EEDF00D  # stands for the process id


def verdict(column: int, number: int, *arguments: int, architecture: int | None = None) -> int:
    """The filter's verdict on a system call, as the kernel computes it: bpf(4)."""
    machine = ("x86_64", "aarch64")[column]
    architecture = architecture or (0xC000003E, 0xC00000B7)[column]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    program, at, loaded = list(struct.iter_unpack("<HBBI", seccomp.filter_program(machine))), 0, 0
    while True:
        code, yes, no, value = program[at]
        at += 1
        match code:
            case 0x20:
                (loaded,) = struct.unpack_from("<I", data, value)
            case 0x05:
                at += value
            case 0x06:
                return int(value)
            case _:
                tests = {0x15: loaded == value, 0x25: loaded > value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
                at += yes if tests[code] else no


# Arguments by system call: those that are allowed, and those that are refused.
CHECKS: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    **dict.fromkeys(("kill", "tgkill"), ([(OWN,)], [(0,), (1,), (OWN + 1,)])),
    **dict.fromkeys(
        ("sched_getaffinity", "sched_getscheduler", "sched_getparam", "getpgid", "getsid"), ([(0,), (OWN,)], [(1,), (OWN + 1,)])
    ),
    "getpriority": ([(0, 0), (0, OWN)], [(0, 1)]),
    "prlimit64": ([(0,)], [(1,), (OWN,)]),
    **dict.fromkeys(("clock_gettime", "clock_getres", "clock_nanosleep"), ([(0,), (15,)], [(16,), (0xFFFFFFFA,)])),
    "sendto": ([(3, 0, 9, 0, 0)], [(3, 0, 9, 0, 1), (3, 0, 9, 0, 1 << 32)]),
    "clone": ([(0x10400,), (0x3D0F00,)], [(0x10000,), (0x400,), (17,)]),
    "close_range": ([(3, 9, 0), (3, 9, 4)], [(3, 9, 2), (3, 9, 6)]),
    "mmap": ([(0, 9, 3, 0x22), (0, 9, 3, 0x20)], [(0, 9, 3, 0x21)]),
    "futex": ([(0, 0), (0, 9), (0, 0x109), (0, 0x80), (0, 0x81), (0, 0x189)], [(0, 1), (0, 3), (0, 0x101), (0, 5)]),
    "prctl": ([(n,) for n in (3, 15, 16, 21, 39, 0x53564D41)], [(1,), (4,), (22,), (38,), (79,)]),
    "fcntl": ([(3, n) for n in (0, 1, 2, 3, 4, 1027, 1030)], [(3, n) for n in (5, 6, 8, 10, 1024, 1026, 1031)]),
    "ioctl": ([(1, n) for n in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x802C542A)], [(1, 0x5412), (1, 0x541C), (1, 0)]),
    "getsockopt": ([(3, 1, n) for n in (3, 4, 38, 39)], [(3, 1, 17), (3, 1, 77), (3, 1, 2), (3, 1, 5)]),
    "madvise": ([(0, 9, n) for n in (0, 4, 8, 14, 15, 16, 17, 18, 19)], [(0, 9, 12), (0, 9, 13), (0, 9, 9), (0, 9, 20)]),
}  # fmt: skip


@pytest.mark.parametrize("column", [0, 1], ids=["x86_64", "aarch64"])
def test_filter_allows_exactly_the_calls_of_the_table_with_their_arguments(column: int) -> None:
    assert set(CHECKS) == set(seccomp._checks())
    expected = dict.fromkeys(range(424), EPERM) | dict.fromkeys((*range(424, 480), 600), ENOSYS)
    for name, numbers in seccomp._ALLOWED.items():
        allowed, refused = CHECKS.get(name, ([(7, 7, 7, 7, 7, 7)], []))
        if numbers[column] >= 0:
            assert {verdict(column, numbers[column], *arguments) for arguments in allowed} == {ALLOW}, name
            assert {verdict(column, numbers[column], *arguments) for arguments in refused} <= {EPERM}, name
            expected.pop(numbers[column])
    assert {number: verdict(column, number) for number in expected} == expected
    assert (
        verdict(column, seccomp._ALLOWED["mmap"][column], 0, 9, 3, 0x2) == ENOSYS
    )  # a file: the C library reads it instead
    assert verdict(column, seccomp._ALLOWED["read"][column], architecture=0x40000003) == EPERM
    assert set(HARMFUL.split()) <= set(KERNEL) - set(seccomp._ALLOWED)


@sealed
def test_process_may_query_itself() -> None:
    own = "import os, time; time.thread_time(), os.getsid(0), os.getpriority(0, 0), os.sched_getaffinity(os.getpid())"
    assert loaded(own) == Response()


@sealed
@pytest.mark.parametrize(
    ("attempt", "function"),
    [
        ("import asyncio; asyncio.run(asyncio.sleep(0))", "asyncio.runners.run"),
        ("import os; os.popen('ls')", "os.popen"),
    ],
)
def test_error_names_the_refused_function(attempt: str, function: str) -> None:
    response = loaded(attempt)
    assert response.error is not None and response.error.text == f"it uses {function}, which the grader does not run"
