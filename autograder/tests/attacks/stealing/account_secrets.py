"""Reads what only the administrator may: a promise that also holds where there is no Landlock."""

from forge import all_fail_with

NEEDS = ("user",)
WANTED = ("/etc/shadow", "/root/.bashrc", "/root/.profile", "/proc/1/environ", "/proc/1/mem", "/dev/mem", "/dev/kmsg")
all_fail_with(WANTED, lambda p: open(p, "rb").read(1))
