"""Start a command as in a container whose seccomp filter refuses some system calls."""

import ctypes
import errno
import platform
import struct
from collections.abc import Callable

import pytest

from autograder.sandbox.layers import kernel

ANY = -1  # first argument
ARM = platform.machine() == "aarch64"
Refused = tuple[tuple[int, int, int], ...]  # the number of the call, its first argument, and the error
NO_LANDLOCK: Refused = tuple((number, ANY, errno.ENOSYS) for number in (444, 445, 446))
LANDLOCK_REFUSED: Refused = ((446, ANY, errno.EPERM),)  # landlock_restrict_self
_PRCTL, _SECCOMP, _SET_SECCOMP = (167 if ARM else 157), (277 if ARM else 317), 22
NO_SECCOMP: Refused = ((_PRCTL, _SET_SECCOMP, errno.EINVAL), (_SECCOMP, ANY, errno.ENOSYS))
filters = pytest.mark.skipif(
    not kernel.LINUX or platform.machine() not in ("x86_64", "aarch64"), reason="needs seccomp"
)


def refusing(*calls: tuple[int, int, int]) -> Callable[[], None]:
    """A `preexec_fn` for subprocess that refuses these system calls, in the command and all that it starts."""
    program = b""
    for number, argument, error in calls:
        program += struct.pack("<HBBI", 0x20, 0, 0, 0)  # load the number
        program += struct.pack("<HBBI", 0x15, 0, 3 if argument != ANY else 1, number)
        if argument != ANY:
            program += struct.pack("<HBBI", 0x20, 0, 0, 16) + struct.pack("<HBBI", 0x15, 0, 1, argument)
        program += struct.pack("<HBBI", 0x06, 0, 0, 0x00050000 | error)
    program += struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000)
    held = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(held))

    def install() -> None:
        assert held  # the header has its address
        kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
        kernel.checked(kernel.libc().prctl(_SET_SECCOMP, 2, ctypes.c_char_p(header), 0, 0))

    return install
