"""Reads accounts, keys, logs and homes of the machine."""

import glob
import os

NEEDS = ("landlock",)
WANTED = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var/log", "/run/secrets", "/proc/cpuinfo",
          "/root/.ssh/id_rsa", "/root/.bash_history", "/proc/self/mounts", "/sys/class", "/dev/mem", "/dev/sda")  # fmt: skip
for path in (*WANTED, *glob.glob("/home/*/*")):
    for read in (os.listdir, lambda p: open(p, "rb").read(1)):
        try:
            read(path)
        except OSError:
            continue
        raise RuntimeError(f"SUCCEEDED: read {path}")
