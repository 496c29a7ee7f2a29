"""Never reads what the grader sends, but asks for large answers for ever."""

from forge import pack, wires


def layer_norm(*_, **__):
    for wire in wires():
        while True:
            wire.sendall(pack(["ask", "causal_mask.causal_mask", [2000], {}]))
