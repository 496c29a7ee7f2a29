"""Leaves a process behind: forks twice, becomes the leader of a session, closes everything, ignores every signal."""

import os
import signal
import time

try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            os.closerange(0, 64)
            while True:
                time.sleep(1)
        os._exit(0)
except OSError:
    pass
