"""System calls that are refused, by number and by what a student's code would see."""

import platform
import re
from pathlib import Path

import pytest

from autograder.sandbox.layers import seccomp
from autograder.sandbox.messages import Response
from autograder.tests.running import linux, loaded, sealed

HEADERS = (
    ("x86_64", 0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    ("aarch64", 1, "/usr/include/asm-generic/unistd.h"),
)


@linux
@pytest.mark.parametrize(("machine", "column", "header"), HEADERS)
def test_system_calls_have_the_numbers_of_the_kernels_headers(machine: str, column: int, header: str) -> None:
    if not Path(header).is_file():
        pytest.skip("no headers of the kernel here")
    numbers = {m[1]: int(m[2]) for m in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())}
    numbers.pop("syscalls", None)  # how many there are
    ours = {name: pair[column] for name, pair in seccomp._REFUSED.items()}
    newest = max(numbers.values())
    assert {n: (v, numbers.get(n)) for n, v in ours.items() if 0 <= v <= newest and numbers.get(n) != v} == {}
    assert [name for name, value in ours.items() if value < 0 and name in numbers] == []
    assert numbers.get("close_range", 436) == seccomp._CLOSE_RANGE[column]


@sealed
def test_a_process_may_ask_about_itself() -> None:
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
def test_it_says_what_is_not_run(attempt: str, function: str) -> None:
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
