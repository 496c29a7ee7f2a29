"""Every exception of the package. Any package may raise those that end a command: the command line prints them in one line.

    Exception
      CommandError             ends a command with status 1; batch.py makes it a grader error of one submission, and
                               `learn --accept` and the recorder add to it
        ArgumentsError         ends a command with status 2
        SandboxError           pool.py grades once more in a new sandbox
      UnusableError            caught in submissions/, which makes a note for the student
      WireError                caught in process.py, which ends the student's process, and in the recorder
        Disconnected           also ends the student's process from within
      CallTimeout              (a TimeoutError) caught in process.py, which ends the student's process
      Raised                   an exception of student code, caught in session.py and processes.py, which answer with it
        Missing, Absent        (an AttributeError, a LookupError)
    BaseException
      Endless                  raised in student code, caught in edit_runner.py, which tries the next edit

cli/main.py has the messages for OSError, BrokenExecutor and KeyboardInterrupt. All others are bugs.
"""

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
    """An error that a user can fix, for example an invalid rubric. The text names the problem, its place and the fix."""

    status = 1


class ArgumentsError(CommandError):
    status = 2


class SandboxError(CommandError):
    """The sandbox failed because of the machine; no student can cause this."""


class UnusableError(Exception):
    """A student's file is unusable.

    `kind` is the kind of a Note, for example "link" (anything but a regular file), "no_zip", "zip_many", or "damaged"
    for a member of a zip that does not decompress correctly.
    """

    def __init__(self, kind: str, name: object = ""):
        super().__init__(f"{name} is damaged" if kind == "damaged" else f"{name} cannot be used ({kind})")
        self.kind = kind


class WireError(Exception):
    """An invalid or unexpected message of a student's process."""

    why = "protocol"  # the reason for the end of a process


class Disconnected(WireError):
    """The other side closed the connection."""

    why = "crash"


class CallTimeout(TimeoutError):
    """A call has used up its "processor" time, so it may be endless, its "wall" time, or the time to be "idle".

    Any other TimeoutError means that the whole account is used up.
    """

    @property
    def why(self) -> str:
        """The reason for the end of the process."""
        return "idle" if self.args == ("idle",) else "deadline"

    def __str__(self) -> str:
        return f"{self.args[0]} time of a call"


class Raised(Exception):
    """An error of the submission, whose cause, if there is one, is the exception that its code raised."""


class Missing(Raised, AttributeError):
    """The submission has no such function."""


class Absent(Raised, LookupError):
    """An object of an earlier call that does not exist: the call raised an error, or its result has a different structure."""


class Endless(BaseException):
    """An edited call has used up its time."""


def of_system(error: OSError, default: Path | str = "", temporary: bool = False) -> CommandError:
    """Convert an OSError to one line: the path (`default` if the error has none), the reason and advice.

    `temporary`: it is about a temporary file, whose folder TMPDIR can change.
    """
    if isinstance(error, shutil.Error):
        # It names every file that could not be copied, thousands on a full disk. The first is enough.
        first = error.args[0][0] if isinstance(error.args[0], list) and error.args[0] else error
        where, why = default, str(first[-1] if isinstance(first, tuple) else first)[:300]
        advice = NO_ROOM[1] if temporary else ""
    else:
        # A failed copy has two paths; the second, the target, is full or read-only.
        where = error.filename2 or error.filename or default
        why = error.strerror or str(error)[:300] or type(error).__name__
        advice = _ADVICE.get(error.errno or 0, ("", ""))[temporary]
    return CommandError("; ".join(filter(None, (f"{where}: {why}" if where else why, advice))))


def in_one_line(error: BaseException, folder: Path, default: str) -> str:
    """Return an error in code of this folder on one line, with its file and line there; `default` if it has none."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    text = str(error) or (frames[-1].line if frames else "")  # an assertion has no text
    kind = "" if isinstance(error, CommandError) else f"{type(error).__name__}: "
    return f"{f'{frames[-1].filename}:{frames[-1].lineno}' if frames else default}: {kind}{text}"
