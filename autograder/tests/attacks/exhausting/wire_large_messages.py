"""Sends lists in lists in lists, a message that is 70 times as large when decoded, and the length of a huge one."""

import struct
import time

from forge import pack, wires


def send(data):
    for wire in wires():
        wire.sendall(data)
    time.sleep(100)


def layer_norm(*_, **__):
    send(pack(b"\x91" * 10**6 + b"\xc0"))


def rms_norm(*_, **__):
    inner = b"\xdc\x0f\xa0" + b"\x80" * 4000
    send(pack(b"\xdc\x01\x00" + inner * 256))


def layer_norm_backward(*_, **__):
    send(struct.pack("<I", 0xFFFFFFFF))
