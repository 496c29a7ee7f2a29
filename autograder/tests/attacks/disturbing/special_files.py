"""Makes pipes, devices and sockets with names, abstract ones too, on which somebody could get stuck."""

import os
import socket
import stat

from forge import all_fail, wires

NEEDS = ("seccomp",)
TRIES = {
    "pipe": lambda: os.mkfifo("pipe"),
    "device": lambda: os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 1)),
    "disk": lambda: os.mknod("disk", stat.S_IFBLK | 0o666, os.makedev(8, 0)),
    "socket node": lambda: os.mknod("node", stat.S_IFSOCK | 0o666),
    "socket": lambda: socket.socket(socket.AF_UNIX).bind("socket"),
    "pair": socket.socketpair,
    "descriptor": lambda: socket.send_fds(next(wires()), [b"x"], [0]),
    "abstract": lambda: socket.socket(socket.AF_UNIX).bind("\0hostile"),
}
all_fail(TRIES)
