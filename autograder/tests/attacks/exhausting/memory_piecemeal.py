"""Doubles a list until it is stopped, and swallows MemoryError."""

NEEDS = ("limits",)
HELD = [0]


def layer_norm(*_, **__):
    while True:
        try:
            HELD.extend(HELD)
        except MemoryError:
            HELD.append(0)
