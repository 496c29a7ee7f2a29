"""The layers that confine a process, one file each, and the order in which they are applied.

`apply` runs in each new process before any student code. A layer that the platform lacks is left out and reported; it is
never an error.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from autograder.sandbox.layers import kernel, landlock, seccomp

NAMES = ("fork", "session", "limits", "user", "no_new_privileges", "landlock", "seccomp", "not_dumpable")


@dataclass(frozen=True)
class Confinement:
    """The limits and layers of the processes of one sandbox. The grader sends them to the fork server as JSON.

    Memory, files and messages are in bytes, `seconds` in processor time. `uid` is the processes' user, 0 for the grader's.
    """

    layers: Sequence[str]
    memory: int
    threads: int
    open_files: int
    message: int
    seconds: int
    disk: int
    folder: str  # sandbox.py lists its contents
    view: str
    closed_places: Sequence[str]
    preloaded: Sequence[str]
    uid: int

    @property
    def submission(self) -> str:
        return os.path.join(self.folder, "submission")

    @property
    def writable(self) -> str:
        return os.path.join(self.folder, "tmp")

    @property
    def temporary(self) -> str:
        """The working folder of a process."""
        return os.path.join(self.writable, "own")

    def has(self, layer: str) -> bool:
        return layer in self.layers


def available() -> dict[str, str]:
    """Every layer: "" if this machine has it, else the missing requirement and advice."""
    missing = dict.fromkeys(NAMES, "")
    if not hasattr(os, "fork") or sys.platform == "darwin":
        missing["fork"] = "forking is unsafe here: each process starts a new interpreter, which is slower"
    if not hasattr(os, "setsid"):
        missing["session"] = missing["limits"] = "only POSIX systems have sessions and resource limits"
    missing["user"] = kernel.no_users()
    if not kernel.LINUX:
        for layer in ("no_new_privileges", "landlock", "seccomp", "not_dumpable"):
            missing[layer] = "only Linux has this layer: grade inside a Linux container to get it"
        return missing
    privileges = partial(kernel.prctl, kernel.NO_NEW_PRIVILEGES, 1)
    if refused := _refusal(privileges):
        missing["no_new_privileges"] = f"the kernel refuses it here: {refused}"
    if landlock.abi() < 1:
        missing["landlock"] = "the kernel has no Landlock: Linux 5.13 or newer with landlock in the lsm= boot parameter"
    elif refused := _refusal(privileges, lambda: landlock.restrict(landlock.nothing())):
        missing["landlock"] = f"the kernel has Landlock, but refuses to apply it here, as some containers do: {refused}"
    if not seccomp.available():
        missing["seccomp"] = "no seccomp filters here: a kernel with CONFIG_SECCOMP_FILTER on x86_64 or aarch64"
    return missing


def _refusal(*layers: Callable[[], None]) -> str:
    """Apply layers in a thread, which ends with them; returns why that failed, or "".

    A container may let a process ask for a layer, but not apply it.
    """
    errors: list[OSError] = []

    def attempt() -> None:
        try:
            for layer in layers:
                layer()
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return str(errors[0]) if errors else ""


def holding(without: tuple[str, ...] = ()) -> list[str]:
    """Return the layers in use; Landlock and seccomp need no_new_privileges."""
    names = [name for name, missing in available().items() if not missing and name not in without]
    needing = ("landlock", "seccomp") if "no_new_privileges" not in names else ()
    return [name for name in names if name not in needing]


def apply(confinement: Confinement, rules: int, seconds: int) -> None:
    """Apply every layer, before any student code runs. `rules` is a descriptor from landlock.py, `seconds` the time
    limit.

    Raises OSError if a layer cannot be applied.
    """
    has = confinement.has
    if has("session") and os.getsid(0) != os.getpid():
        os.setsid()  # a separate process group, to be killed as a whole
    os.umask(0o077)
    os.chdir(confinement.temporary)
    if has("limits"):  # before the change of user, which loses the necessary rights
        threads = confinement.threads if has("user") else None  # the kernel counts them by user
        # An eighth of the disk for each file, since unlinked open files cannot be counted on every system.
        kernel.limit(confinement.memory, confinement.disk // 8, seconds, confinement.open_files, threads)
    if has("user"):
        kernel.become_user(confinement.uid)
    kernel.prctl(kernel.DEATH_SIGNAL, 9)  # die with the parent; a change of user resets it
    if has("no_new_privileges"):
        kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
    if has("landlock"):
        landlock.restrict(rules)
    if has("seccomp"):
        seccomp.install()  # last: it blocks system calls that the other layers use
