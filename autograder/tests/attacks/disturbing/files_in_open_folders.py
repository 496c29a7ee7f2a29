"""Leaves files and folders wherever everybody may write; without Landlock they must be gone afterwards."""

import os

NEEDS = ("user", "landlock")  # either one is enough
EITHER = True

for top in ("/", "/run", "/var", "/dev", "/var/lib", "/var/spool", "/mnt", "/srv", "/opt", "/home", "/media"):
    try:
        inside = [top, *(os.path.join(top, name) for name in os.listdir(top))]
    except OSError:
        inside = [top, "/run/lock", "/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp"]
    for place in inside:
        for number, make in enumerate((
            lambda p: open(p, "w").close(),
            lambda p: os.makedirs(p + "/a/b"),
            lambda p: os.symlink("/etc", p),
            lambda p: os.mkdir(p, 0),
        )):
            try:
                make(os.path.join(place, f"hostile-{number}-{os.urandom(4).hex()}"))
            except OSError:
                pass
