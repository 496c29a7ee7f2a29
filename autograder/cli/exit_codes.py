"""Turns exceptions into one line and an exit status.

0: success; 1: an error of the grader, the machine or the rubric, never of a student; 2: unusable arguments; 130:
Ctrl-C. Any other exception is a bug in the kit and keeps its traceback.
"""

import errno
import os
from concurrent.futures import BrokenExecutor
from typing import Any

import click

from autograder.exceptions import CommandError
from autograder.submissions.text import printable

FAILED, INTERRUPTED = 1, 130
LINES, WIDTH = 100, 400  # limits of a message: a table may have many errors, an error may quote a whole file


def explained(error: Exception) -> tuple[str, int] | None:
    """The message and the exit status for an exception; None for a bug."""
    if isinstance(error, CommandError):
        text = str(error)
        if any(os.strerror(n) in text for n in (errno.ENOSPC, errno.EROFS, errno.EDQUOT)) and "TMPDIR" not in text:
            text += "; free some space for temporary files, or use another folder: TMPDIR=... autograder ..."
        return text, error.status
    if isinstance(error, BrokenExecutor):
        return "the worker processes crash immediately, perhaps for lack of memory; `--jobs 1` needs the least", FAILED
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        what = error.strerror or str(error) or type(error).__name__
        if error.errno == errno.EROFS and str(error.filename or "/dev/shm").startswith("/dev/shm"):
            what += "; processes share their locks in /dev/shm, which must be writable"  # this error has no filename
        return f"{where}{what}. No file is half written. Fix the cause and run the same command again.", FAILED
    return None


class Commands(click.Group):
    """The top-level group. It prints an error that a user can fix as one line, without a traceback."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # `autograder compare ... | head` closes the pipe early
            context.exit(0)
        except KeyboardInterrupt:
            text, status = "interrupted", INTERRUPTED
        except Exception as error:
            ended = None if isinstance(error, click.ClickException | click.exceptions.Exit) else explained(error)
            if ended is None:
                raise
            text, status = ended
        lines = text.splitlines() or [""]
        more = [f"... and {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        for number, line in enumerate([*lines[:LINES], *more]):
            click.echo(("" if number else "autograder: ") + printable(line, most=WIDTH), err=True)
        raise click.exceptions.Exit(status)
