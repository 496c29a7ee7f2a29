"""The attempts of `autograder doctor` in a student's process: one function per layer, which tries what the layer forbids.

Each returns what was possible, in words that follow "a student's process". All are harmless if they succeed.
"""

import ctypes
import os
import socket
from collections.abc import Callable

Attempts = dict[str, Callable[[], object]]


def probe_results(attempts: Attempts) -> list[str]:
    """The names of the attempts that succeeded."""
    possible = []
    for name, attempt in attempts.items():
        try:
            attempt()
        except (OSError, MemoryError, AssertionError):
            continue
        possible.append(name)
    return possible


def found(condition: bool) -> None:
    """An attempt that only looks."""
    assert condition


def fork(*_: object) -> list[str]:
    return []


def session(*_: object) -> list[str]:
    return probe_results({"stayed in the grader's session": lambda: found(os.getsid(0) != os.getpid())})


def limits(*_: object) -> list[str]:
    import resource

    endless = resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY
    return probe_results(
        {
            "took 64 GB of memory": lambda: bytearray(2**36),
            "wrote a file of 1 GB": lambda: os.truncate(os.open("large", os.O_CREAT | os.O_RDWR), 2**30),
            "opened 10,000 files": lambda: [os.open(os.devnull, os.O_RDONLY) for _ in range(10_000)],
            "has endless processor time": lambda: found(endless),
        }
    )


def user(*_: object) -> list[str]:
    return probe_results(
        {
            "runs as root": lambda: found(0 in (os.getuid(), os.getgid(), *os.getgroups())),
            "read /etc/shadow": lambda: open("/etc/shadow"),
            "became root again": lambda: os.setuid(0),
        }
    )


def no_new_privileges(*_: object) -> list[str]:
    get_no_new_privs = 39
    return probe_results({"may gain rights": lambda: found(ctypes.CDLL(None).prctl(get_no_new_privs, 0, 0, 0, 0) != 1)})


def landlock(kit: str, outside: str, _: int) -> list[str]:
    return probe_results(
        {
            "read the kit": lambda: open(kit),
            "read /etc/passwd": lambda: open("/etc/passwd"),
            "listed /tmp": lambda: os.listdir("/tmp"),
            "read /proc": lambda: os.listdir("/proc"),
            "wrote outside its folder": lambda: os.mkdir(os.path.join(outside, "mark")),
        }
    )


def seccomp(*_: object) -> list[str]:
    return probe_results(
        {
            "opened a socket": socket.socket,
            "started a process": lambda: os._exit(0) if os.fork() == 0 else os.wait(),
            "signalled the fork server": lambda: os.kill(os.getppid(), 0),
            "traced the fork server": lambda: _trace(os.getppid()),
            "changed permissions": lambda: os.chmod(".", 0o700),
            "made memory that no limit counts": lambda: os.memfd_create("probe"),
        }
    )


def not_dumpable(_: str, __: str, grader: int) -> list[str]:
    above = {"the fork server": os.getppid(), "the grader": grader}
    return probe_results(
        {
            f"read {file} of {name}": lambda path=f"/proc/{pid}/{file}": open(path, "rb")  # type: ignore[misc]
            for name, pid in above.items()
            for file in ("mem", "environ", "maps")
        }
    )


def _trace(pid: int) -> None:
    """Trace a process, and release it: a traced process would stop at its next signal."""
    seize, interrupt, detach = 0x4206, 0x4207, 17
    libc = ctypes.CDLL(None)
    found(libc.ptrace(seize, pid, 0, 0) == 0)
    libc.ptrace(interrupt, pid, 0, 0)
    os.waitpid(pid, 0)
    libc.ptrace(detach, pid, 0, 0)
