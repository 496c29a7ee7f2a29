"""Closes every descriptor, shuts the wire down, and goes on."""

import os
import socket
import time

from forge import wires


def layer_norm(*_, **__):
    for wire in wires():
        wire.shutdown(socket.SHUT_RDWR)
    os.closerange(0, 64)
    while True:
        time.sleep(100)
