"""Sends half a message and waits."""

import time

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        wire.sendall(pack(["returned", 1.0, [], False])[:9])
    time.sleep(100)
