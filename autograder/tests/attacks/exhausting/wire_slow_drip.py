"""Sends a large message one byte at a time, never silent for long."""

import struct
import time

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        wire.sendall(struct.pack("<I", 900_000))
        while True:
            wire.sendall(b"x")
            time.sleep(0.001)
