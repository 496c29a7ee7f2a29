"""Closes its own folders, removes the temporary one, or puts something else in its place, for the process after it."""

import os

here = os.getcwd()
above = os.path.dirname(here)
for attempt in (
    lambda: os.chmod(here, 0),
    lambda: os.rename(here, here + "-hostile"),
    lambda: os.symlink("/etc", here),
    lambda: os.rmdir(here),
    lambda: open(here, "w").close(),
    lambda: os.mkdir(here, 0),
    lambda: open(os.path.join(above, "hostile-above"), "w").close(),
    lambda: os.mkdir(os.path.join(above, "hostile-folder"), 0),
    lambda: os.chmod(above, 0),
    lambda: os.chmod(os.path.dirname(__file__), 0),
):
    try:
        attempt()
    except OSError:
        pass
