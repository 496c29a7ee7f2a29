"""The folder of a run: `results/<key>.json`, one per graded submission, in Gradescope's format.

A result is written completely or not at all. It includes the digests of the submission and the kit, so that a later run
knows whether it is still valid. Grader errors leave no result. `run.json` records the input paths of a run and the
students of each submission; no name is read back from the tables.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.exceptions import ArgumentsError, of_system
from autograder.feedback.results import Grade
from autograder.files import write_atomically
from autograder.submissions.submission import Student, Upload

RESULTS, EARLIER, RUN = "results", "earlier", "run.json"


@dataclass(frozen=True)
class Outcome:
    """A student's total (None: no score), the submission that counts ("": none), and reasons that no criterion explains.

    `manual` has the points that a person set, by criterion or "total".
    """

    submission: str
    student: Student
    total: float | None
    reasons: tuple[str, ...] = ()
    manual: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Store:
    """The folder of a run. If `read_run` made it: its input paths, whether each was one submission, students and outcomes.

    Raises ArgumentsError if nothing can be written there.
    """

    folder: Path
    paths: tuple[Path, ...] = ()
    one_submission: bool = False
    students: Mapping[str, tuple[Student, ...]] = field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()

    def __post_init__(self) -> None:
        try:
            self.results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentsError(f"-o {of_system(error, self.folder)}") from error

    @property
    def results(self) -> Path:
        return self.folder / RESULTS

    def path(self, key: str) -> Path:
        return self.results / f"{key}.json"

    def keys(self) -> set[str]:
        """Return the submissions that have a result, from any run."""
        return {path.stem for path in self.results.glob("[!.]*.json")}

    def valid(self, key: str, stamp: Mapping[str, Any]) -> Grade | None:
        """Return the grade of an earlier run, if it is still valid."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            document = json.loads(self.path(key).read_bytes())
            if all(document["extra_data"][name] == value for name, value in stamp.items()):
                return Grade.from_gradescope(key, document, self.path(key).stat().st_mtime)
        return None

    def write(self, grade: Grade, stamp: Mapping[str, Any]) -> Grade:
        """Write a result. Raises OSError if it cannot be written, and keeps the old result."""
        # ASCII, so the file contains no bidirectional control characters.
        write_atomically(self.path(grade.key), json.dumps(grade.to_gradescope(**stamp), indent=2) + "\n")
        return replace(grade, graded_at=time.time())

    def set_aside(self, key: str) -> None:
        """Move the result of an earlier run to another folder."""
        with contextlib.suppress(OSError):
            if self.path(key).exists():
                (self.folder / EARLIER).mkdir(exist_ok=True)
                os.replace(self.path(key), self.folder / EARLIER / f"{key}.json")

    @property
    def names(self) -> dict[str, str]:
        """The students of each submission, from the roster, else from the export."""
        names = {key: [student.name for student in students] for key, students in self.students.items()}
        for key in {outcome.submission for outcome in self.outcomes} & names.keys():
            names[key] = [outcome.student.name for outcome in self.outcomes if outcome.submission == key]
        return {key: ", ".join(filter(None, who)) for key, who in names.items()}

    def grades(self) -> dict[str, Grade]:
        """Every grade in the folder. Raises ArgumentsError for an invalid result, or if there is none."""
        grades = {}
        for key in sorted(self.keys()):
            path = self.path(key)
            try:
                grades[key] = Grade.from_gradescope(key, json.loads(path.read_bytes()), path.stat().st_mtime)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise ArgumentsError(f"{path}: not a result of this kit ({type(error).__name__}: {error})") from None
        if not grades:
            raise ArgumentsError(f"{self.folder}: there are no results in it")
        return grades


def write_run(
    out: Path,
    paths: Sequence[Path],
    entries: Sequence[Upload],
    outcomes: Iterable[Outcome] = (),
    one_submission: bool = False,
) -> None:
    """Write run.json, before grading and again with the outcomes. Raises OSError."""
    document = {
        "paths": [str(path.absolute()) for path in paths],
        "one_submission": one_submission,
        "students": {entry.key: [asdict(student) for student in entry.students] for entry in entries},
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    text = json.dumps(document, indent=1) + "\n"  # ASCII: a path may have bytes that are not UTF-8
    write_atomically(out / RUN, text)


def read_run(folder: Path) -> Store:
    """Return the run in a folder, or in the parent of its results folder. Raises ArgumentsError for anything else."""
    if folder.name == RESULTS and not (folder / RUN).is_file():
        folder = folder.absolute().parent
    if not (folder / RUN).is_file():
        raise ArgumentsError(f"{folder}: not a run: it has no {RUN}; give the OUT of `autograder grade ... -o OUT`")
    try:
        document = json.loads((folder / RUN).read_bytes())
        students = {key: tuple(Student(**student) for student in who) for key, who in document["students"].items()}
        outcomes = tuple(
            Outcome(
                o["submission"],
                Student(**o["student"]),
                o["total"],
                tuple(o["reasons"]),
                tuple(map(tuple, o["manual"])),
            )
            for o in document["outcomes"]
        )
        return Store(folder, tuple(map(Path, document["paths"])), document["one_submission"], students, outcomes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArgumentsError(f"{folder / RUN}: not written by this kit ({error})") from None
