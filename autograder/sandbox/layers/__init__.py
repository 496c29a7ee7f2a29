"""Every layer that confines a process, a file each, and the order in which they are put on.

`apply` runs in each new process before any student code. A layer that the platform lacks is left out and reported, never an
error.
"""

import os
import sys
from dataclasses import dataclass

from autograder.sandbox.layers import kernel, landlock, mounts, resources, seccomp, user
from autograder.sandbox.layers.resources import Resources

NAMES = ("fork", "session", "limits", "user", "mounts", "no_new_privileges", "landlock", "seccomp", "not_dumpable")


@dataclass(frozen=True)
class Confinement:
    """What one process is held to; `folder` is where it begins, `group` the one group of its user, 0 for none."""

    layers: tuple[str, ...]
    folder: str
    uid: int
    resources: Resources
    ends_with_parent: bool = True
    group: int = 0


def available() -> dict[str, str]:
    """Every layer of this machine: "" when it is there, else what is missing and how to get it."""
    missing = dict.fromkeys(NAMES, "")
    if not hasattr(os, "fork") or sys.platform == "darwin":
        missing["fork"] = "forking is unsafe here: each process starts a new interpreter, which is slower"
    if not hasattr(os, "setsid"):
        missing["session"] = missing["limits"] = "only POSIX systems have sessions and resource limits"
    missing["user"] = user.missing()
    if not kernel.LINUX:
        for layer in ("mounts", "no_new_privileges", "landlock", "seccomp", "not_dumpable"):
            missing[layer] = "only Linux has this layer: grade inside a Linux container to get it"
        return missing
    missing["mounts"] = mounts.missing()
    if landlock.abi() < 1:
        missing["landlock"] = "the kernel has no Landlock: Linux 5.13 or newer with landlock in the lsm= boot parameter"
    if not seccomp.available():
        missing["seccomp"] = "no seccomp filters here: a kernel with CONFIG_SECCOMP_FILTER on x86_64 or aarch64"
    return missing


def holding(without: tuple[str, ...] = ()) -> list[str]:
    """The layers that hold on this machine; Landlock and seccomp need no_new_privileges below them."""
    found = [name for name, missing in available().items() if not missing and name not in without]
    needing = ("landlock", "seccomp") if "no_new_privileges" not in found else ()
    return [name for name in found if name not in needing]


def apply(confinement: Confinement, rules: int) -> None:
    """Put on every layer; `rules` is a descriptor from landlock.py.

    Nothing of the student's has run yet. Raises OSError where a layer cannot be put on.
    """
    layers = confinement.layers
    if "session" in layers and os.getsid(0) != os.getpid():
        os.setsid()  # a group of its own, to be killed as a whole
    os.umask(0o077)
    os.chdir(confinement.folder)
    if "limits" in layers:
        resources.limit(
            confinement.resources, "user" in layers
        )  # before the change of user, which gives the right away
    if "user" in layers:
        user.become(confinement.uid, confinement.group)
    if confinement.ends_with_parent:
        kernel.end_with_parent()
    if "no_new_privileges" in layers:
        kernel.forbid_new_privileges()
    if "landlock" in layers:
        landlock.restrict(rules)
        os.close(rules)  # nobody shall add to them
    if "seccomp" in layers:
        seccomp.install()  # last: it refuses system calls that the other layers are made of
