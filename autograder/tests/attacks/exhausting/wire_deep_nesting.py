"""Sends lists in lists in lists."""

import time

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        wire.sendall(pack(b"\x91" * 10**6 + b"\xc0"))
    time.sleep(100)
