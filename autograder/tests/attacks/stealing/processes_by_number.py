"""Looks for a handle on the process at the other end of its connection."""

import socket

from forge import all_fail_with, wires

NEEDS = ("seccomp",)
PEER_PIDFD = 77
all_fail_with(wires(), lambda wire: wire.getsockopt(socket.SOL_SOCKET, PEER_PIDFD))
