"""Exceptions that end a command with a one-line message and an exit status; any package may raise them."""

import errno
import shutil
import traceback
from pathlib import Path

# Advice on files in a folder that the user chose, and on temporary files
NO_ROOM = (
    "free some space and run it again",
    "free some space and run it again, or set TMPDIR to a folder on another disk",
)
_CLOSED = ("use a folder that you may write to", "set TMPDIR to a folder that you may write to")
_ADVICE = {errno.ENOSPC: NO_ROOM, errno.EDQUOT: NO_ROOM, errno.EROFS: _CLOSED, errno.EACCES: _CLOSED}


class CommandError(Exception):
    """An error that a user can fix. The text names the problem and the fix."""

    status = 1


class ArgumentsError(CommandError):
    status = 2


class SandboxError(CommandError):
    """The sandbox failed because of the machine; no student can cause this."""


def of_system(error: OSError, place: Path | str = "", temporary: bool = False) -> CommandError:
    """Convert an OSError to one line: the path (`place` if the error has none), the reason and advice.

    `temporary`: it is about a temporary file, whose folder TMPDIR can change.
    """
    if isinstance(error, shutil.Error):
        # It names every file that could not be copied, thousands on a full disk. The first is enough.
        first = error.args[0][0] if isinstance(error.args[0], list) and error.args[0] else error
        where, why = place, str(first[-1] if isinstance(first, tuple) else first)[:300]
        advice = NO_ROOM[1] if temporary else ""
    else:
        # A failed copy has two paths; the second, the target, is full or read-only.
        where = error.filename2 or error.filename or place
        why = error.strerror or str(error)[:300] or type(error).__name__
        advice = _ADVICE.get(error.errno or 0, ("", ""))[temporary]
    return CommandError("; ".join(filter(None, (f"{where}: {why}" if where else why, advice))))


def in_one_line(error: BaseException, folder: Path, place: str) -> str:
    """An error in code of this folder on one line, with its file and line there; `place` if it has none."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    text = str(error) or (frames[-1].line if frames else "")  # an assertion has no text
    kind = "" if isinstance(error, CommandError) else f"{type(error).__name__}: "
    return f"{f'{frames[-1].filename}:{frames[-1].lineno}' if frames else place}: {kind}{text}"
