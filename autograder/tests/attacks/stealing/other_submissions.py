"""Looks through the machine's temporary folders for submissions that are graded beside this one."""

import glob
import os

NEEDS = ("user", "landlock")  # either one is enough
EITHER = True
mine = os.path.realpath(os.path.dirname(__file__))
for place in ("/tmp", "/var/tmp", os.path.dirname(os.path.dirname(mine)), "/autograder"):
    for path in glob.glob(place + "/**/files/*.py", recursive=True):
        if os.path.realpath(path).startswith(mine):
            continue
        try:
            text = open(path).read()
        except OSError:
            continue
        raise RuntimeError(f"SUCCEEDED: read {path}: {text[:60]}")
