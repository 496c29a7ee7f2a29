"""Reads accounts, keys, logs and homes of the machine."""

import glob
import os

from forge import all_fail_with

NEEDS = ("landlock",)
WANTED = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var/log", "/run/secrets", "/proc/cpuinfo",
          "/root/.ssh/id_rsa", "/root/.bash_history", "/proc/self/mounts", "/sys/class", "/dev/mem", "/dev/sda")  # fmt: skip
all_fail_with((*WANTED, *glob.glob("/home/*/*")), os.listdir, lambda p: open(p, "rb").read(1))
