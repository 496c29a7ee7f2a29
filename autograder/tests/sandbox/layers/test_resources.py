"""Limits of the kernel are put on as they are given, and never above what this process has itself."""

import json
import subprocess
import sys

from autograder.tests.running import linux

CODE = """
import json, resource as r
from autograder.sandbox.layers.resources import limit
r.setrlimit(r.RLIMIT_NOFILE, (100, 100))
limit(memory=2**30, file_size=2**20, seconds=7, open_files=OPEN, threads=None)
names = ("AS", "FSIZE", "CPU", "NOFILE", "CORE")
print(json.dumps([r.getrlimit(getattr(r, f"RLIMIT_{name}")) for name in names]))
"""


@linux
def test_limits_are_put_on_for_good() -> None:
    for open_files, held in ((50, 50), (500, 100)):
        code = CODE.replace("OPEN", str(open_files))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == [[2**30] * 2, [2**20] * 2, [7, 7], [held, held], [0, 0]]
