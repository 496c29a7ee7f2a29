"""The folder of a run: `results/<key>.json`, one per graded submission, in Gradescope's format.

A result is written completely or not at all. It includes the digests of the submission and the kit, so that a later run knows
whether it is still valid. Grader errors leave no result. `run.json` records the paths that a run was given, and the students
of each submission: tables are for people and other programs; no name is read back from them.
"""

import contextlib
import json
import os
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from sys import intern
from typing import Any

from autograder.exceptions import ArgumentsError
from autograder.feedback import results
from autograder.gradebook.class_statistics import Guess, Unexplained
from autograder.homework.rubric import INTEGRATION, TESTS
from autograder.submissions.uploads import Student, Upload

Document = dict[str, Any]
RESULTS, EARLIER, RUN = "results", "earlier", "run.json"
NO_MODULES = (f"{INTEGRATION}.", f"{TESTS}.")  # prefixes of criteria that grade no module
OLD = 3600  # seconds after which a partial file is abandoned
# Kinds of notes: on the whole upload; on its files; those that many files share, with one sentence for all.
WHOLE = {"archive", "no_zip", "notebook", "zip_large", "zip_many"}
USABLE = {"accepted", "answer", "import", "misnamed", "replaced", "second", "unwritten"}
TOGETHER = {
    "absent": "no file {} in the upload",
    "blank": "nothing in {}: blank",
    "misnamed": "not graded because of the file name: {}",
    "accepted": "graded despite the file name: {}",
}
REMARK = 500  # characters of a remark in a table


@dataclass(frozen=True)
class Mark:
    """The points of one criterion."""

    criterion: str
    name: str
    score: float
    max_score: float
    misconceptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grade:
    """A result without its messages: the input of tables and reports. `remark` is the note on the upload, `empty` why there
    was nothing to grade, `unusable` are missing modules or those that cannot be imported, `misnamed` are misnamed files,
    `accepted` those graded all the same, `unexplained` functions whose wrong results have no known cause, `guesses` the
    predictions made in the notebook.
    """

    key: str
    score: float
    marks: tuple[Mark, ...]
    layers: tuple[str, ...]
    graded_at: float
    remark: str = ""
    empty: str = ""
    unusable: tuple[str, ...] = ()
    misnamed: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    guesses: tuple[Guess, ...] = ()

    @property
    def points(self) -> dict[str, float]:
        return {mark.criterion: mark.score for mark in self.marks}

    @property
    def max_score(self) -> float:
        return sum(mark.max_score for mark in self.marks)


def grade_of(key: str, document: Mapping[str, Any], graded_at: float) -> Grade:
    """Raises KeyError, TypeError or ValueError for an invalid document."""
    marks = tuple(_mark(test) for test in document["tests"])
    if not marks:
        raise ValueError("a result without criteria")
    extra = document["extra_data"]
    layers = tuple(intern(str(layer)) for layer in extra["layers"])
    notes = [(str(note["kind"]), str(note["path"]), str(note["text"])) for note in extra.get("notes", ())]
    paths = {kind: [path for note_kind, path, _ in notes if note_kind == kind] for kind in TOGETHER}
    texts = [text for kind, _, text in notes if kind not in TOGETHER]
    texts += [TOGETHER[kind].format(", ".join(paths[kind])) for kind in TOGETHER if paths[kind]]
    misnamed, accepted = (
        tuple(path for kind, path, _ in notes if kind in kinds)
        for kinds in (("misnamed", "unwritten"), ("accepted", "replaced"))
    )
    modules = dict.fromkeys(
        mark.criterion.partition(".")[0] for mark in marks if not mark.criterion.startswith(NO_MODULES)
    )
    broken = {path.removesuffix(".py") for kind, path, _ in notes if kind == "import"}
    broken |= modules.keys() - set(extra.get("submitted", modules))
    return Grade(
        key,
        float(document["score"]),
        marks,
        layers,
        graded_at,
        remark=textwrap.shorten(" ".join(texts), REMARK, placeholder=" ..."),
        empty="" if extra.get("submitted", True) or misnamed else _nothing(notes),
        unusable=tuple(module for module in modules if module in broken),
        misnamed=misnamed,
        accepted=accepted,
        unexplained=tuple(
            Unexplained(**(lesson | {"criteria": tuple(lesson["criteria"])})) for lesson in extra.get("unexplained", ())
        ),
        guesses=tuple(Guess(**lesson) for lesson in extra.get("guesses", ())),
    )


def _nothing(notes: Sequence[tuple[str, str, str]]) -> str:
    """Why there is nothing to grade in an upload, from its notes: kind, path, text."""
    for kind, _, text in sorted(notes, key=lambda note: note[0] not in WHOLE):
        if kind not in USABLE and kind not in TOGETHER:
            return text if kind in WHOLE else f"None of its files can be used. {text}"
    blank = any(kind == "blank" for kind, _, _ in notes)
    return "Its homework files are blank." if blank else "It contains no homework files."


def _mark(test: Mapping[str, Any]) -> Mark:
    extra = test["extra_data"]
    criterion, name = intern(str(extra["criterion"])), intern(str(test["name"]))
    misconceptions = tuple(intern(str(misconception)) for misconception in extra["misconceptions"])
    return Mark(criterion, name, float(test["score"]), float(test["max_score"]), misconceptions)


class Store:
    """The results under one folder."""

    def __init__(self, out: Path):
        """Raises ArgumentsError if nothing can be written there."""
        self.out = out
        self.results = out / RESULTS
        try:
            self.results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentsError(f"-o {out}: cannot be written ({error.strerror or error})") from error
        for path in self.results.glob(".*.json.*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > OLD:
                    path.unlink()

    def path(self, key: str) -> Path:
        return self.results / f"{key}.json"

    def keys(self) -> set[str]:
        """The submissions that have a result, of any run."""
        return {path.stem for path in self.results.glob("*.json") if not path.name.startswith(".")}

    def kept(self, key: str, stamp: Mapping[str, Any]) -> Grade | None:
        """The grade of an earlier run, if it is still valid."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            document = json.loads(self.path(key).read_bytes())
            if all(document["extra_data"][name] == value for name, value in stamp.items()):
                return grade_of(key, document, self.path(key).stat().st_mtime)
        return None

    def write(self, key: str, document: Document, stamp: Mapping[str, Any]) -> Grade:
        """Raises OSError if it cannot be written; then the old result remains."""
        marked = {**document, "extra_data": {**stamp, **document["extra_data"]}}
        results.write_atomically(self.path(key), results.dump(marked))
        return grade_of(key, marked, time.time())

    def set_aside(self, key: str) -> None:
        """Move the result of an earlier run away."""
        with contextlib.suppress(OSError):
            if self.path(key).exists():
                (self.out / EARLIER).mkdir(exist_ok=True)
                os.replace(self.path(key), self.out / EARLIER / f"{key}.json")


def documents(out: Path, keys: Iterable[str]) -> dict[str, Document]:
    """Whole results, by key. Raises OSError or ValueError for an unreadable one."""
    return {key: json.loads((out / RESULTS / f"{key}.json").read_bytes()) for key in keys}


def run_folder(folder: Path) -> Path:
    """The folder of a run, given itself or its results folder. Raises ArgumentsError for anything else."""
    run = folder.absolute().parent if folder.name == RESULTS and (folder.absolute().parent / RUN).is_file() else folder
    if not (run / RUN).is_file():
        raise ArgumentsError(f"{folder}: not a run: it has no {RUN}; give the OUT of `autograder grade ... -o OUT`")
    return run


def read_all(folder: Path) -> dict[str, Grade]:
    """Every grade of a run. Raises ArgumentsError for a folder that is not a run, or an invalid result."""
    folder = run_folder(folder)
    paths = sorted(path for path in (folder / RESULTS).glob("*.json") if not path.name.startswith("."))
    if not paths:
        raise ArgumentsError(f"{folder}: there are no results in it")
    grades = {}
    for path in paths:
        try:
            grades[path.stem] = grade_of(path.stem, json.loads(path.read_bytes()), path.stat().st_mtime)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ArgumentsError(f"{path}: not a result of this kit ({type(error).__name__}: {error})") from None
    return grades


# run.json


@dataclass(frozen=True)
class Outcome:
    """A student's total (None: no score), the submission that counts ("" for none), and the part of the total beyond criteria."""

    submission: str
    student: Student
    total: float | None
    reasons: tuple[str, ...] = ()


def write_run(out: Path, paths: Sequence[Path], entries: Sequence[Upload], outcomes: Iterable[Outcome] = ()) -> None:
    """Called before grading, and again with the outcomes. Raises OSError if it cannot be written."""
    students = {entry.key: [asdict(student) for student in entry.students] for entry in entries}
    document: Document = {"paths": [str(path.absolute()) for path in paths], "students": students}
    document["outcomes"] = [asdict(outcome) for outcome in outcomes]
    text = json.dumps(document, indent=1) + "\n"  # ASCII: a path may have bytes that are not UTF-8
    results.write_atomically(out / RUN, text)


def students(out: Path) -> dict[str, tuple[Student, ...]]:
    """The students of each submission by key; empty without a readable file."""
    try:
        document = json.loads((out / RUN).read_bytes())["students"]
        return {str(key): tuple(Student(**student) for student in who) for key, who in document.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def names(out: Path) -> dict[str, str]:
    """The student of each submission, from the roster, else from the export."""
    owners = {key: [student.name for student in who] for key, who in students(out).items()}
    counting: dict[str, list[str]] = {}
    for outcome in outcomes(out):
        counting.setdefault(outcome.submission, []).append(outcome.student.name)
    return {key: ", ".join(filter(None, counting.get(key, own))) for key, own in owners.items()}


def outcomes(out: Path) -> list[Outcome]:
    """The outcome of each student; empty for an unfinished run, and without a readable file."""
    try:
        return [
            Outcome(entry["submission"], Student(**entry["student"]), entry["total"], tuple(entry["reasons"]))
            for entry in json.loads((out / RUN).read_bytes())["outcomes"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def run_paths(out: Path) -> list[Path]:
    """The paths that the run was given. Raises ArgumentsError for a folder that is not a run."""
    out = run_folder(out)
    try:
        return [Path(path) for path in json.loads((out / RUN).read_bytes())["paths"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArgumentsError(f"{out / RUN}: not written by this kit ({error})") from None
