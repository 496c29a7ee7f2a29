"""Starts threads with the smallest stacks until something gives way."""

import threading
import time

NEEDS = ("limits",)
threading.stack_size(32768)
started = 0
try:
    for _ in range(20_000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        started += 1
        time.sleep(0.0001)
except (RuntimeError, MemoryError):
    pass
if started > 1000:
    raise RuntimeError(f"SUCCEEDED: {started} threads")
