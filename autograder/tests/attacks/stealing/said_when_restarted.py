"""Ends its process when it has seen a hidden argument, and lets the next one fail to import with what it finds."""

import os

SILENT = True
NEEDS = ("landlock",)
NOTES = [os.path.join(place, "hostile-last-words") for place in (os.getcwd(), os.environ["HOME"], "/tmp", "/dev/shm")]
for note in NOTES:
    if os.path.exists(note):
        raise ImportError("the argument was " + open(note).read())


def layer_norm(x, *_, **__):
    for note in NOTES:
        try:
            open(note, "w").write(repr(x))
        except OSError:
            pass
    os._exit(1)
