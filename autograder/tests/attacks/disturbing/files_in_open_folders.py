"""Leaves files where everybody may write; without Landlock they must at least be gone afterwards."""

import os

NEEDS = ("user", "landlock")  # either one is enough
EITHER = True
for folder in ("/tmp", "/var/tmp", "/dev/shm"):
    for make in (
        lambda p: open(p, "w").close(),
        lambda p: os.makedirs(p + "/a/b"),
        lambda p: os.symlink("/etc", p),
    ):
        try:
            make(os.path.join(folder, f"hostile-{os.urandom(4).hex()}"))
        except OSError:
            pass
    try:
        os.chmod(os.path.join(folder, next(n for n in os.listdir(folder) if n.startswith("hostile-"))), 0)
    except (OSError, StopIteration):
        pass
