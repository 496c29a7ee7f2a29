"""Which files stay open in a new process."""

import os
import subprocess
import sys

from autograder.tests.running import linux

CODE = """
import os
from autograder.sandbox.layers import resources
opened = [os.open("/", os.O_RDONLY) for _ in range(50)]
high = os.dup2(opened[0], 900)
resources.close_all_but(opened[3], opened[7], -1)
found = []
for number in range(1024):
    try:
        os.fstat(number)
        found.append(number)
    except OSError:
        pass
kept = os.open("/dev/shm/kept-of-a-test", os.O_CREAT | os.O_WRONLY)
os.write(kept, repr(found == [0, 1, 2, opened[3], opened[7]]).encode())
os._exit(0 if os.fstat(0).st_rdev == os.stat("/dev/null").st_rdev else 1)
"""


@linux
def test_only_what_is_kept_stays_open() -> None:
    try:
        assert subprocess.run([sys.executable, "-c", CODE]).returncode == 0
        with open("/dev/shm/kept-of-a-test") as file:
            assert file.read() == "True"
    finally:
        os.unlink("/dev/shm/kept-of-a-test")
