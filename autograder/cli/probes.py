"""Actions that a sandbox layer forbids. `autograder doctor` attempts them in a student's process.

A prevented attempt raises an error. A successful one is harmless.
"""

import ctypes
import os
import socket
from collections.abc import Callable

PR_GET_NO_NEW_PRIVS = 39


def attempts(kit: str, outside: str, grader: int) -> dict[str, dict[str, Callable[[], object]]]:
    """The attempts by layer, each named to complete the sentence "a student's process ..."."""
    others = {"the fork server": os.getppid(), "the grader": grader}
    return {
        "fork": {},
        "session": {"stayed in the grader's session": lambda: _found(os.getsid(0) != os.getpid())},
        "limits": {
            "took 64 GB of memory": lambda: bytearray(2**36),
            "wrote a file of 1 GB": lambda: os.truncate(os.open("large", os.O_CREAT | os.O_RDWR), 2**30),
            "opened 10,000 files": lambda: [os.open(os.devnull, os.O_RDONLY) for _ in range(10_000)],
            "has endless processor time": _has_endless_time,
        },
        "user": {
            "runs as root": lambda: _found(0 in (os.getuid(), os.getgid(), *os.getgroups())),
            "read /etc/shadow": lambda: open("/etc/shadow"),
            "became root again": lambda: os.setuid(0),
        },
        "no_new_privileges": {
            "may gain rights": lambda: _found(ctypes.CDLL(None).prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        },
        "landlock": {
            "read the kit": lambda: open(kit),
            "read /etc/passwd": lambda: open("/etc/passwd"),
            "listed /tmp": lambda: os.listdir("/tmp"),
            "read /proc": lambda: os.listdir("/proc"),
            "wrote outside its folder": lambda: os.mkdir(os.path.join(outside, "mark")),
        },
        "seccomp": {
            "opened a socket": socket.socket,
            "started a process": lambda: os._exit(0) if os.fork() == 0 else os.wait(),
            "signalled the fork server": lambda: os.kill(os.getppid(), 0),
            "traced the fork server": _trace_the_fork_server,
            "changed permissions": lambda: os.chmod(".", 0o700),
            "made memory that no limit counts": lambda: os.memfd_create("probe"),
        },
        "not_dumpable": {
            f"read {file} of {name}": lambda path=f"/proc/{pid}/{file}": open(path, "rb")  # type: ignore[misc]
            for name, pid in others.items()
            for file in ("mem", "environ", "maps")
        },
    }


def possible(layer: str, kit: str, outside: str, grader: int) -> list[str]:
    """Run the attempts of a layer; returns the names of those that succeed."""
    names = []
    for name, attempt in attempts(kit, outside, grader)[layer].items():
        try:
            attempt()
        except (OSError, MemoryError, AssertionError):
            continue
        names.append(name)
    return names


def _found(condition: bool) -> None:
    """Fail the attempt unless `condition` is true."""
    assert condition


def _has_endless_time() -> None:
    import resource

    _found(resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY)


def _trace_the_fork_server() -> None:
    """Attach to the fork server and detach again: a traced process stops at its next signal."""
    pid, seize, interrupt, detach = os.getppid(), 0x4206, 0x4207, 17
    libc = ctypes.CDLL(None)
    _found(libc.ptrace(seize, pid, 0, 0) == 0)
    libc.ptrace(interrupt, pid, 0, 0)
    os.waitpid(pid, 0)
    libc.ptrace(detach, pid, 0, 0)
