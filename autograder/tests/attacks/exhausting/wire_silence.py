"""Sends half a message and waits, sends a large message byte by byte, and shuts the wire down and goes on."""

import os
import socket
import struct
import time

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        wire.sendall(pack(["returned", 1.0, [], False])[:9])
    time.sleep(100)


def rms_norm(*_, **__):
    for wire in wires():
        wire.sendall(struct.pack("<I", 900_000))
        while True:
            wire.sendall(b"x")
            time.sleep(0.001)


def layer_norm_backward(*_, **__):
    for wire in wires():
        wire.shutdown(socket.SHUT_RDWR)
    os.closerange(0, 64)
    while True:
        time.sleep(100)
