"""Looks which processes there are: by their names in /proc, and by a handle on the process at the other end of its connection."""

import os
import socket

from forge import wires

NEEDS = ("user", "mounts", "seccomp")
PEER_PIDFD = 77
seen = [number for number in range(1, 50_000) if number != os.getpid() and os.path.exists(f"/proc/{number}")]
if len(seen) > 1:  # its own only; a number may be that of a thread
    raise RuntimeError(f"SUCCEEDED: {len(seen)} processes")
for wire in wires():
    try:
        wire.getsockopt(socket.SOL_SOCKET, PEER_PIDFD)
    except OSError:
        continue
    raise RuntimeError("SUCCEEDED: a handle on the grader")


def layer_norm(x, *_, **__):
    return x


rms_norm = layer_norm_backward = layer_norm
