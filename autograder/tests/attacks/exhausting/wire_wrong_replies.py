"""Sends replies of other kinds than the call asks for, half of a reply's parts, and names that are no text."""

import os

from forge import msgpack, pack, wires


def send(*messages):
    for wire in wires():
        for message in messages:
            wire.sendall(pack(message))
    os._exit(0)


def layer_norm(*_, **__):
    send(["ask", msgpack.ExtType(3, b"1234567!"), [], {}], ["loaded"], ["changed", [0]])


def rms_norm(*_, **__):
    send(["ask", "layernorm.layer_norm", [], {1: 2}], [], [[]], {}, None, 7)


def layer_norm_backward(*_, **__):
    send(["returned", 1, [99], 0], ["raised", [[], "", "", 0, ""]], ["raised", [[7], 1, 2, "3", 4]], ["invoke", 1, []])
