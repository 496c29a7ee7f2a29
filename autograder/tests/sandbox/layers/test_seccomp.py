"""Allowed and refused system calls: their numbers, and the errors that student code sees."""

import platform
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


def test_harmful_calls_are_not_allowed_and_every_check_is_of_an_allowed_one() -> None:
    assert set(HARMFUL.split()) <= set(KERNEL) - set(seccomp._ALLOWED)
    assert set(seccomp._checks()) <= set(seccomp._ALLOWED)


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


RAW = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
refused = []
for name, arguments in ATTEMPTS.items():
    ctypes.set_errno(0)
    if libc.syscall(*map(ctypes.c_long, arguments)) >= 0 or ctypes.get_errno() not in (1, 38):
        refused.append(name)
assert refused == [], refused
os.closerange(200, 300)
"""


@sealed
def test_system_calls_are_refused_whatever_their_arguments() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("numbers of x86_64")
    numbers = {name: number for name, (number, _) in KERNEL.items() if number >= 0 and name not in seccomp._ALLOWED}
    attempts = {name: (number, 0, 0, 0, 0, 0, 0) for name, number in numbers.items()} | {
        "later": (600, 0, 0, 0, 0, 0, 0)
    }
    own = 0x10000 | 0x100 | 0x800  # a thread with its own descriptors: CLONE_THREAD, _VM, _SIGHAND without _FILES
    attempts |= {
        "clone": (56, own, 0, 0, 0, 0, 0),
        "close_range": (436, 900, 901, 2, 0, 0, 0),
        "kill": (62, 1, 0, 0, 0, 0, 0),
    }
    assert loaded(RAW.replace("ATTEMPTS", repr(attempts))).error is None
