"""Makes hard and symbolic links to what it may not read, and reads through them; opens the parent folder by descriptor."""

import os
import sys

NEEDS = ("landlock",)
KIT = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
for number, wanted in enumerate((KIT + "/reference.py", KIT + "/suites", "/etc/passwd", "/etc", "/", "/proc/1")):
    for link in (os.link, os.symlink):
        name = f"{link.__name__}{number}"
        try:
            link(wanted, name)
            os.listdir(name) if os.path.isdir(name) else open(name).read()
        except OSError:
            continue
        raise RuntimeError(f"SUCCEEDED: read {wanted} through a {link.__name__}")
try:
    folder = os.open("../../..", os.O_RDONLY)
    print(os.listdir(folder))
except OSError:
    pass
else:
    raise RuntimeError("SUCCEEDED: listed the folder of all temporary folders")
