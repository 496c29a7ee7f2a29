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


@linux
def test_jumps_of_the_filter_are_short_enough_and_stay_within() -> None:
    program = seccomp.filter_program()
    assert len(program) % 8 == 0 and len(program) // 8 < 4096
    assert program[-8:] == seccomp._op(seccomp._RET, seccomp._ALLOW)


ATTEMPTS = [
    "import subprocess; subprocess.run(['true'])", "import os; os.fork()", "import os; os.system('true') and 1 / 0",
    "import socket; socket.socket()", "import urllib.request; urllib.request.urlopen('http://127.0.0.1')",
    "import multiprocessing as m; m.get_context('fork').Process(target=print).start()", "import os; os.chmod('.', 0)",
    "import os; os.kill(os.getppid(), 9)", "import os; os.mkfifo('x')", "import os; os.setpriority(0, 0, 5)",
    "import os; os.memfd_create('x')", "import os; os.statvfs('.')",
    "import fcntl; fcntl.flock(open('x', 'w'), fcntl.LOCK_EX)", "import fcntl; fcntl.lockf(open('x', 'w'), fcntl.LOCK_EX)",
    "import fcntl, os; fcntl.fcntl(open(os.__file__), 5, bytes(32))", "import fcntl; fcntl.fcntl(open('x', 'w'), 37, bytes(32))",
    "import fcntl; fcntl.fcntl(open('x', 'w'), 1025)", "import os; os.posix_fallocate(os.open('x', 66), 0, 9)",
    "import os; os.posix_fadvise(os.open(os.__file__, 0), 0, 0, 4)",
    "import os, time; time.clock_gettime(~os.getppid() << 3 | 2)", "import os; os.sched_getaffinity(os.getppid())",
    "import os; os.getsid(1)", "import os; os.getpgid(1)", "import os; os.getpriority(os.PRIO_PROCESS, 1)",
    "import os; os.pipe()", "import socket; socket.socketpair()",
    "import os; os.preadv(os.open(os.__file__, 0), [bytearray(9)], 0, 8)",
]  # fmt: skip


@sealed
def test_a_process_may_ask_about_itself() -> None:
    own = "import os, time; time.thread_time(), os.getsid(0), os.getpriority(0, 0), os.sched_getaffinity(os.getpid())"
    assert loaded(own) == Response()


@sealed
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_is_refused_says_so(attempt: str) -> None:
    response = loaded(attempt)
    assert response.error is not None
    assert {"PermissionError", "ZeroDivisionError", "URLError", "OSError"} & set(response.error.kinds)


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
