"""Blocks every signal that can be blocked, and sleeps."""

import signal
import time

signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
for number in range(1, 64):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def layer_norm(*_, **__):
    while True:
        time.sleep(100)
