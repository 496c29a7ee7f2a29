"""Where processes can be started: a chain of them, each of which starts the next and ends, in sessions of their own."""

import os
import time

try:
    child = os.fork()
except OSError:
    child = 1
if child == 0:
    while True:
        try:
            os.setsid()
        except OSError:
            pass
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            pass
        time.sleep(0.002)
