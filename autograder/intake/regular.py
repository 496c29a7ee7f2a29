"""The only place where a file of an upload is opened on disk.

An upload that was unpacked may hold links to other students' files, devices that never end and pipes that never
begin. So: no link is followed, nothing is waited for, and what was opened must be a regular file.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

# O_NONBLOCK: opening a named pipe must not wait for its other end. O_NOCTTY: a terminal must not become ours.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))


class NotRegularError(OSError):
    """A link, a device, a pipe or a folder stands where a file should."""


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading.

    Raises NotRegularError for anything else, OSError if it cannot be opened.
    """
    # Looked at before it is opened, because opening a device can have effects, and not every system has O_NOFOLLOW.
    if not stat.S_ISREG(path.lstat().st_mode):
        raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotRegularError(errno.EINVAL, "not a regular file", str(path)) from None
        raise
    # Looked at again, since another file may have taken the name in between.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def content(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file."""
    with opened(path) as file:
        return file.read(most)
