"""Grade one upload in a tree of Gradescope's shape with the zip's own run_otter.py, and take what it leaves.

Not as on Gradescope are the machine, its user and its limits, and that neither setup.sh nor conda is run.
"""

import contextlib
import errno
import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from autograder.faults import CommandError
from autograder.release.prerequisites import temporary_folder
from autograder.release.rehearsal import environment, tree
from autograder.release.rehearsal.environment import Environment

SECONDS = 600  # Gradescope's time limit, unless set otherwise
REASON_LENGTH = 600  # characters


@dataclass(frozen=True)
class Rehearsal:
    """What a run left: results.json, what was printed, and how it was made."""

    document: Any
    printed: str
    seconds: float
    how: str


def rehearse(zipped: Path, upload: Path, here: bool = False) -> Rehearsal:
    """Rehearse one upload, in a fresh environment or, if `here`, with what is installed; nothing is left behind.

    Raises ArgumentsError for the arguments, CommandError if there is no result or the machine lacks something.
    """
    with temporary_folder("autograder-rehearsal-") as root:
        root.chmod(0o711)  # the user that student code runs as must get through
        place = root / "autograder"
        tree.lay_out(place, zipped, upload)
        return grade(place, environment.installed(place, root) if here else environment.fresh(place, root))


def grade(place: Path, used: Environment) -> Rehearsal:
    """Run the zip's run_otter.py in the tree.

    Raises CommandError if there is no result, as Gradescope would then say that the autograder failed.
    """
    (python, variables, how), start = used, time.monotonic()
    status, printed, errors = _call([python, str(place / "source" / "run_otter.py")], place, variables)
    seconds = time.monotonic() - start
    reason = _reason(errors)
    try:
        text = (place / "results" / "results.json").read_text(encoding="utf-8")
        document = json.loads(text, parse_constant=_refuse)
    except FileNotFoundError:
        raise CommandError(f"there is no results.json; the submission would stay ungraded: {reason}") from None
    except ValueError as error:
        raise CommandError(f"results.json is not JSON: {error}") from error
    if status:
        raise CommandError(f"run_otter.py failed after results.json was written: {reason}")
    return Rehearsal(document, printed, seconds, how)


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    """Exit status, output and errors of a command; whatever it has started is ended with it."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # a group of its own, to be ended as a whole
    )
    try:
        printed, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise CommandError(f"grading took more than {SECONDS} seconds, Gradescope's limit") from None
    finally:
        # The group, and also where all went well or Ctrl-C was pressed: a grader may have left processes behind.
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.wait()
    return process.returncode, printed, errors


def _reason(errors: str) -> str:
    """Why a run failed: the last line of its traceback that is not indented."""
    if os.strerror(errno.ENOSPC) in errors:
        return (
            f"no space left on the disk of {tempfile.gettempdir()}; make room, or set TMPDIR to a folder on another one"
        )
    lines = [line for line in errors.splitlines() if line.strip() and not line.startswith(" ")]
    return lines[-1][:REASON_LENGTH] if lines else "no reason given"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")
