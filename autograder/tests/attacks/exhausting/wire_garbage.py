"""Floods the wire with garbage."""

import os

from forge import wires


def layer_norm(*_, **__):
    for wire in wires():
        while True:
            wire.sendall(os.urandom(2**16))
