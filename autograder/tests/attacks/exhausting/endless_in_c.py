"""Computes a number of ten million digits: C code that looks at no signal and holds the interpreter's lock."""


def layer_norm(*_, **__):
    return 3 ** (3**17)
