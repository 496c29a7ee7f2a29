"""Reads what only the administrator may: a promise that also holds where there is no Landlock."""

NEEDS = ("user",)
for path in ("/etc/shadow", "/root/.bashrc", "/root/.profile", "/proc/1/environ", "/proc/1/mem", "/dev/mem", "/dev/kmsg"):
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError:
        continue
    raise RuntimeError(f"SUCCEEDED: read {path}")
