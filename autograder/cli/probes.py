"""Actions that a sandbox layer forbids. `autograder doctor` attempts them in a student's process.

A prevented attempt raises an error. A successful one is harmless.
"""

import ctypes
import os
import socket
from collections.abc import Callable

PR_GET_NO_NEW_PRIVS = 39


def attempts(kit: str, outside: str, grader: int) -> dict[str, dict[str, Callable[[], object]]]:
    """Return the attempts by layer, each named to complete the sentence "a student's process ..."."""
    memory = {f"read the memory of process {pid}": f"/proc/{pid}/mem" for pid in (os.getppid(), grader)}
    return {
        "fork": {},
        "session": {"stayed in the grader's session": lambda: _fail_unless(os.getsid(0) != os.getpid())},
        "limits": {
            "took 64 GB of memory": lambda: bytearray(2**36),
            "wrote a file of 1 GB": lambda: os.truncate(os.open("large", os.O_CREAT | os.O_RDWR), 2**30),
            "opened 10,000 files": lambda: [os.open(os.devnull, os.O_RDONLY) for _ in range(10_000)],
            "has endless processor time": _has_endless_time,
        },
        "user": {
            "runs as root": lambda: _fail_unless(0 in (os.getuid(), os.getgid(), *os.getgroups())),
            "became root again": lambda: os.setuid(0),
        },
        "no_new_privileges": {
            "may gain rights": lambda: _fail_unless(ctypes.CDLL(None).prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        },
        "landlock": {
            "read the kit": lambda: open(kit),
            "read /proc": lambda: os.listdir("/proc"),
            "wrote outside its folder": lambda: os.mkdir(os.path.join(outside, "mark")),
        },
        "seccomp": {
            "opened a socket": socket.socket,
            "started a process": lambda: os._exit(0) if os.fork() == 0 else os.wait(),
            "signalled the fork server": lambda: os.kill(os.getppid(), 0),
        },
        "not_dumpable": {name: lambda path=path: open(path, "rb") for name, path in memory.items()},  # type: ignore[misc]
    }


def possible(layer: str, kit: str, outside: str, grader: int) -> list[str]:
    """Run the attempts of a layer; return the names of those that succeed."""
    names = []
    for name, attempt in attempts(kit, outside, grader)[layer].items():
        try:
            attempt()
        except (OSError, MemoryError, AssertionError):
            continue
        names.append(name)
    return names


def _fail_unless(condition: bool) -> None:
    assert condition


def _has_endless_time() -> None:
    import resource

    _fail_unless(resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY)
