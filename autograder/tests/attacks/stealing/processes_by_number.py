"""Looks for a handle on the process at the other end of its connection."""

import socket

from forge import wires

NEEDS = ("seccomp",)
PEER_PIDFD = 77
for wire in wires():
    try:
        wire.getsockopt(socket.SOL_SOCKET, PEER_PIDFD)
    except OSError:
        continue
    raise RuntimeError("SUCCEEDED: a handle on the grader")
