"""Announces a message of four gigabytes and sends nothing."""

import struct
import time

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        wire.sendall(struct.pack("<I", 0xFFFFFFFF))
    time.sleep(100)
