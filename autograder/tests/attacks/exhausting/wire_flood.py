"""Floods the wire with well-formed replies that nobody has asked for."""

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        while True:
            wire.sendall(pack(["returned", 1.0, [], False]) * 1000)
