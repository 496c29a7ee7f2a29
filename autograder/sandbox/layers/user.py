"""A separate user for the student processes of each sandbox, if the grader is root."""

import os
import socket
from pathlib import Path

from autograder.sandbox.layers.kernel import LINUX

FIRST, LAST = 20_000, 59_999  # user ids of students' processes
BLOCK = 2  # ids per sandbox: one for its processes, one for their group
_CAPABILITIES = (0, 1, 3, 5, 6, 7)  # CAP_CHOWN, _DAC_OVERRIDE, _FOWNER, _KILL, _SETGID, _SETUID


def missing() -> str:
    """Why this process cannot become other users; "" if it can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root can become another user: run as root (in a container) to get this layer"
    if LINUX and not _may_become_others():
        return "this root may not become another user: give the container CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID"
    return ""


def _may_become_others() -> bool:
    """Whether root has the necessary capabilities, and its user namespace has the ids."""
    needed = sum(1 << bit for bit in _CAPABILITIES)
    try:
        status, uid_map = Path("/proc/self/status").read_text(), Path("/proc/self/uid_map").read_text()
    except OSError:
        return False
    held = int(status.partition("CapEff:")[2].split()[0], 16)
    spans = [(int(first), int(count)) for first, _, count in map(str.split, uid_map.splitlines())]
    return held & needed == needed and any(first <= FIRST and first + count > LAST for first, count in spans)


def become(uid: int, group: int = 0) -> None:
    """Permanently become a user whose only supplementary group is `group`, or who has none if it is 0."""
    os.setgroups([group] if group else [])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def claimed() -> tuple[int, socket.socket]:
    """The first of BLOCK ids that no user of this machine and no other sandbox has, and a socket that marks them until it closes.

    Two sandboxes with one user could signal each other's processes, and ending one would end the other's. An abstract
    socket marks the ids as used: it needs no file, and the kernel removes it with the process.
    """
    count = (LAST + 1 - FIRST) // BLOCK
    for number in range(os.getpid(), os.getpid() + count):  # each grader starts at a different id
        first = FIRST + BLOCK * (number % count)
        mark = _marked(first)
        if mark is not None and not any(map(_exists, range(first, first + BLOCK))):
            return first, mark
    raise OSError("no free user ID is left")


def _marked(first: int) -> socket.socket | None:
    mark = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if LINUX:
            mark.bind(f"\0autograder-users-{first}")
    except OSError:
        mark.close()
        return None
    return mark


def _exists(uid: int) -> bool:
    import pwd  # POSIX systems only

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
