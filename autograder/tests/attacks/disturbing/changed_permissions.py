"""Changes modes, owners, times and attributes: of its own folders, the submission, the interpreter, the kit, the system."""

import os
import sys

from forge import all_fail_with

NEEDS = ("seccomp",)
here = os.getcwd()
PLACES = (here, os.path.dirname(here), os.path.dirname(__file__), __file__, os.__file__, sys.argv[0], sys.executable,
          os.path.dirname(sys.argv[0]), "/tmp", "/etc/passwd", "/dev/shm", os.path.dirname(os.path.dirname(here)))  # fmt: skip
all_fail_with(
    PLACES,
    lambda p: os.chmod(p, 0),
    lambda p: os.chmod(p, 0o777),
    lambda p: os.fchmod(os.open(p, os.O_RDONLY), 0),
    lambda p: os.chown(p, os.getuid(), os.getgid()),
    lambda p: os.utime(p, (0, 0)),
    lambda p: os.setxattr(p, "user.hostile", b"x"),
)
