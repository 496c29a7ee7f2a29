"""Floods the wire with well-formed replies, with questions whose answers it never reads, and with garbage."""

import os

from forge import pack, wires


def flood(data):
    for wire in wires():
        while True:
            wire.sendall(data)


def layer_norm(*_, **__):
    flood(pack(["returned", 1.0, [], False]) * 1000)


def rms_norm(*_, **__):
    flood(pack(["ask", "causal_mask.causal_mask", [2000], {}]))


def layer_norm_backward(*_, **__):
    flood(os.urandom(2**16))
