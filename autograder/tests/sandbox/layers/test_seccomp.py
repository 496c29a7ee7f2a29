"""Refused system calls: their numbers, and the errors that student code sees."""

import platform
from pathlib import Path

import pytest

from autograder.sandbox.layers import seccomp
from autograder.sandbox.protocol import Response
from autograder.tests.running import loaded, sealed

TABLE = Path(__file__).with_name("system_calls.txt").read_text().splitlines()[1:]
KERNEL = {name: tuple(-1 if n == "-" else int(n) for n in numbers) for name, *numbers in map(str.split, TABLE)}
SOME = ("prctl", "fcntl", "ioctl", "getsockopt", "madvise")
CLOCKS = ("clock_gettime", "clock_getres", "clock_nanosleep")
OF_PROCESS = (
    "sched_getaffinity", "sched_getscheduler", "sched_getparam", "sched_getattr", "sched_rr_get_interval", "getpgid", "getsid",
    "get_robust_list", "getpriority", "ioprio_get",
)  # fmt: skip
RESTRICTED = {
    **seccomp._REFUSED,
    "clone": seccomp._CLONE,
    "clone3": seccomp._CLONE3,
    "close_range": seccomp._CLOSE_RANGE,
    "mmap": seccomp._MMAP,
    "sendto": seccomp._SENDTO,
    "prlimit64": seccomp._PRLIMIT,
    "futex": seccomp._FUTEX,
    **dict(zip(("kill", "tgkill"), seccomp._KILLS, strict=True)),
    **dict(zip(SOME, (call for call, _, _ in seccomp._SOME), strict=True)),
    **dict(zip(CLOCKS, seccomp._CLOCKS, strict=True)),
    **dict(zip(OF_PROCESS, (call for _, calls in seccomp._OF_PROCESS for call in calls), strict=True)),
}


def test_system_call_numbers_are_the_kernels() -> None:
    assert {name: (ours, KERNEL.get(name)) for name, ours in RESTRICTED.items() if ours != KERNEL.get(name)} == {}


@pytest.mark.parametrize("column", range(2), ids=seccomp._ARCHITECTURES)
def test_every_restricted_number_has_a_name(column: int) -> None:
    assert set(seccomp._bodies(column)) == {ours[column] for ours in RESTRICTED.values()} - {-1}


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
    if libc.syscall(*map(ctypes.c_long, arguments)) >= 0 or ctypes.get_errno() != 1:
        refused.append(name)
assert refused == [], refused
os.closerange(200, 300)
"""


@sealed
def test_system_calls_are_refused_whatever_their_arguments() -> None:
    if platform.machine() != "x86_64":
        pytest.skip("numbers of x86_64")
    attempts = {name: (pair[0], 0, 0, 0, 0, 0, 0) for name, pair in seccomp._REFUSED.items() if pair[0] >= 0}
    own = 0x10000 | 0x100 | 0x800  # a thread with its own descriptors: CLONE_THREAD, _VM, _SIGHAND without _FILES
    attempts |= {
        "clone": (56, own, 0, 0, 0, 0, 0),
        "close_range": (436, 900, 901, 2, 0, 0, 0),
        "kill": (62, 1, 0, 0, 0, 0, 0),
    }
    assert loaded(RAW.replace("ATTEMPTS", repr(attempts))).error is None
