"""Duplicates the wire over its standard streams and prints to it, from several threads."""

import os
import time

from forge import wires


def layer_norm(x, *_, **__):
    import threading

    for wire in wires():
        for name in (0, 1, 2, 40, 50):
            os.dup2(wire.fileno(), name)

    def chatter():
        for number in range(10_000):
            print(f"line {number}", flush=True)

    for _ in range(4):
        threading.Thread(target=chatter, daemon=True).start()
    time.sleep(0.05)
    return x
