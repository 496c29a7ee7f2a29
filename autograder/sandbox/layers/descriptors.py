"""Which files are open in a new process: its connection, and standard streams that lead nowhere."""

import os

MAX_DESCRIPTORS = 65_536


def close_all_but(*kept: int) -> None:
    """Close every descriptor but these; what is open is not held back by any later layer."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    first = 3
    for number in sorted(number for number in kept if number > 2):
        os.closerange(first, number)
        first = number + 1
    os.closerange(first, MAX_DESCRIPTORS)
