"""Makes the kernel send signals to others: the owner of a descriptor, leases, timers, notices of changed folders."""

import fcntl
import os
import signal
import struct

from forge import all_fail_with, wires

NEEDS = ("seccomp",)
above = os.getppid()
folder = os.open(".", os.O_RDONLY)
all_fail_with(
    [folder, *wires()],
    lambda n: fcntl.fcntl(n, fcntl.F_SETOWN, above),
    lambda n: fcntl.fcntl(n, fcntl.F_SETSIG, signal.SIGKILL),
    lambda n: fcntl.fcntl(n, 15, struct.pack("ii", 1, above)),
    lambda n: fcntl.ioctl(n, 0x8901, struct.pack("i", above)),
    lambda n: fcntl.ioctl(n, 0x8902, struct.pack("i", above)),
    lambda n: fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_CREATE | fcntl.DN_MULTISHOT),
)
