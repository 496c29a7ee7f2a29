"""Prints without end, to both streams and to every descriptor that takes it."""

import os
import sys


def layer_norm(x, *_, **__):
    for _ in range(3000):
        print("x" * 10_000)
        print("x" * 10_000, file=sys.stderr)
        os.write(1, b"x" * 100_000)
        os.write(2, b"x" * 100_000)
    return x
