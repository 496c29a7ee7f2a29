"""Sends arrays with impossible shapes, sizes and kinds."""

import os
import struct


from forge import msgpack, pack, wires

BAD = [
    (11, 16, [2**62] * 16), (11, 2, [-1, -1]), (99, 1, [0]), (11, 99, []), (0, 1, [2]), (11, 3, [2**40, 2**40, 0]), (255, 0, [])
]


def layer_norm(x, *_, **__):
    code, ndim, shape = BAD.pop() if BAD else (11, 1, [2**31])
    head = struct.pack(f"<BB{len(shape)}q", code, ndim % 256, *shape)
    for wire in wires():
        wire.sendall(pack(["returned", msgpack.ExtType(0, head + b"\7\7"), [], False]))
    os._exit(0)
