"""Leaves files and folders in every folder of the machine in which everybody may write, /run/lock among them."""

import os

NEEDS = ("user", "landlock")  # either one is enough
EITHER = True

for top in ("/", "/run", "/var", "/dev", "/var/lib", "/var/spool", "/mnt", "/srv", "/opt", "/home", "/media"):
    try:
        inside = [top, *(os.path.join(top, name) for name in os.listdir(top))]
    except OSError:
        inside = [top, "/run/lock", "/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp"]
    for place in inside:
        try:
            os.mkdir(os.path.join(place, "hostile-folder"))
            open(os.path.join(place, "hostile-folder", "file"), "w").close()
        except OSError:
            pass
