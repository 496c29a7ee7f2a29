"""Calls back with what is cheap to send and dear to read: thousands of small arrays in each message, for no function at all."""

from forge import msgpack, pack, wires

SMALL = msgpack.ExtType(0, b"\x0b\x00" + bytes(8))
MESSAGE = pack(["callback", 1, [[SMALL] * 990 for _ in range(4)]])
WIRE = next(wires())


def layer_norm(x, *_, **__):
    while True:
        WIRE.sendall(MESSAGE)
        WIRE.recv(4096)
