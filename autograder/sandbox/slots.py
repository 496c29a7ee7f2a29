"""Where one student process lives: its own temporary folder, its own user.

    <slots>/<number>/tmp/own    the temporary folder, where the process begins; on a file system of its own where that is possible

A slot is used again by later processes, but nothing in it: the folder is made anew for each, so that neither its content nor
its times tell a process anything about the one before. Runs in the fork server.
"""

import contextlib
import os
from dataclasses import dataclass

from autograder.sandbox import sweep
from autograder.sandbox.layers import mounts
from autograder.sandbox.layers.kernel import LINUX


@dataclass(frozen=True)
class Slot:
    """One of the places of a sandbox; `uid` 0 means the grader's own user."""

    slots: str
    number: int
    uid: int

    @property
    def path(self) -> str:
        return os.path.join(self.slots, str(self.number))

    @property
    def writable(self) -> str:
        """The folder above the temporary one, to which Landlock's rules can be bound once for all processes of the slot."""
        return os.path.join(self.path, "tmp")

    @property
    def temporary(self) -> str:
        return os.path.join(self.writable, "own")

    def make(self, size: int) -> None:
        """Make the slot's own folders; `size` bytes bound what is written, 0 where mounts cannot bound it."""
        _folder(self.path, 0o710 if self.uid else 0o700)
        if self.uid:
            os.chown(self.path, -1, self.uid)  # other users could follow how its temporary folder grows and shrinks
        _folder(self.writable, 0o711)
        if size:
            mounts.bounded(self.writable, size, 0o711)

    def renew(self, submission: str) -> None:
        """A fresh temporary folder for the next process, with links to the data of the submission; raises OSError."""
        _folder(self.temporary, 0o700)
        if self.uid:
            os.chown(self.temporary, self.uid, self.uid)
        else:
            with contextlib.suppress(OSError):
                os.chmod(submission, 0o750)  # the student's user may be ours, and have closed it
        for entry in os.scandir(submission):  # data that code opens by its bare name
            if entry.is_file(follow_symlinks=False) and not entry.name.endswith(".py"):
                os.symlink(entry.path, os.path.join(self.temporary, entry.name))

    def unmount(self) -> None:
        """A folder on which something is mounted cannot be removed."""
        if LINUX:
            mounts.uncovered(self.writable)

    def clear(self) -> None:
        """Leave nothing of the process before."""
        with contextlib.suppress(OSError):
            os.chmod(self.writable, 0o711)  # the student's user may be ours, and have closed it
        sweep.empty(self.writable)

    def remove(self) -> None:
        """Leave nothing of the slot at all."""
        self.unmount()
        sweep.empty(self.path)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


def _folder(path: str, mode: int) -> None:
    os.mkdir(path, mode)
    os.chmod(path, mode)  # whatever the umask is
