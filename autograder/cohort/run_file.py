"""OUT/run.json: what a run was asked to grade, and whose each submission is, as data.

Tables are made for people and for other programs; no name is ever read back out of them.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from autograder.faults import ArgumentsError
from autograder.feedback.results import write_atomically
from autograder.intake.entries import Entry, Student

NAME = "run.json"


def write(out: Path, paths: Sequence[Path], entries: Sequence[Entry]) -> None:
    """Raises OSError if it cannot be written."""
    students = {entry.key: [asdict(student) for student in entry.students] for entry in entries}
    document = {"paths": [str(path.absolute()) for path in paths], "students": students}
    text = json.dumps(document, indent=1) + "\n"  # ASCII: a path may hold bytes that are no UTF-8
    write_atomically(out / NAME, text)


def students(out: Path) -> dict[str, tuple[Student, ...]]:
    """The students of each submission by key; empty without a readable file."""
    try:
        found = json.loads((out / NAME).read_bytes())["students"]
        return {str(key): tuple(Student(**one) for one in who) for key, who in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def paths(out: Path) -> list[Path]:
    """What the run was given. Raises ArgumentsError for a folder that is no run's."""
    try:
        return [Path(path) for path in json.loads((out / NAME).read_bytes())["paths"]]
    except OSError as error:
        raise ArgumentsError(str(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ArgumentsError(f"{out / NAME}: not written by this kit ({error})") from None
