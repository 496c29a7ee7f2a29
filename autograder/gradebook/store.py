"""The folder of a run: `results/<key>.json`, one per graded submission, in Gradescope's format.

A result is written completely or not at all. It includes the digests of the submission and the kit, so that a later run
knows whether it is still valid. Grader errors leave no result. `run.json` records the input paths of a run and the
students of each submission; no name is read back from the tables.
"""

import contextlib
import json
import os
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.exceptions import ArgumentsError, of_system
from autograder.files import write_atomically
from autograder.gradebook.class_statistics import Guess, Unexplained
from autograder.homework.rubric import INTEGRATION, TESTS
from autograder.submissions.submission import Student, Upload

Document = dict[str, Any]
RESULTS, EARLIER, RUN = "results", "earlier", "run.json"
OLD = 3600  # seconds after which a partial file is abandoned
# Kinds of notes: on the whole upload; on usable files; notes that are merged into one sentence for all files.
WHOLE = {"archive", "no_zip", "notebook", "zip_large", "zip_many"}
USABLE = {"accepted", "answer", "dependency", "import", "misnamed", "replaced", "second", "unwritten"}
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
    """A result without its messages: the input of tables and reports.

    `remark` is the note on the upload, `empty` the reason if there is nothing to grade. `unusable` modules are missing
    or cannot be imported. `misnamed` files were not graded, `accepted` ones were graded despite their names.
    `unexplained` functions have wrong results without a known cause. `guesses` are the predictions made in the
    notebook.
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
    def missed(self) -> list[Mark]:
        """The lost criteria."""
        return [mark for mark in self.marks if mark.score < mark.max_score]

    @property
    def max_score(self) -> float:
        return sum(mark.max_score for mark in self.marks)

    @cached_property
    def subtotals(self) -> dict[str, tuple[float, float]]:
        """Points and maximum of each module."""
        subtotals: dict[str, tuple[float, float]] = {}
        for mark in self.marks:
            score, most = subtotals.get(module_of(mark.criterion), (0.0, 0.0))
            subtotals[module_of(mark.criterion)] = (score + mark.score, most + mark.max_score)
        return subtotals


def module_of(criterion: str) -> str:
    return criterion.partition(".")[0]


def grade_of(key: str, document: Mapping[str, Any], graded_at: float) -> Grade:
    """Raises KeyError, TypeError or ValueError for an invalid document."""
    marks = tuple(
        Mark(data["criterion"], test["name"], test["score"], test["max_score"], tuple(data["misconceptions"]))
        for test in document["tests"]
        for data in [test["extra_data"]]
    )
    if not marks:
        raise ValueError("a result without criteria")
    extra = document["extra_data"]
    notes = extra.get("notes", ())

    def paths(*kinds: str) -> tuple[str, ...]:
        return tuple(note["path"] for note in notes if note["kind"] in kinds)

    texts = [note["text"] for note in notes if note["kind"] not in TOGETHER]
    texts += [text.format(", ".join(paths(kind))) for kind, text in TOGETHER.items() if paths(kind)]
    groups = dict.fromkeys(module_of(mark.criterion) for mark in marks)
    modules = [group for group in groups if group not in (INTEGRATION, TESTS)]
    submitted, misnamed = extra.get("submitted", modules), paths("misnamed", "unwritten")
    return Grade(
        key,
        float(document["score"]),
        marks,
        tuple(extra["layers"]),
        graded_at,
        remark=textwrap.shorten(" ".join(texts), REMARK, placeholder=" ..."),
        empty="" if submitted or misnamed else _nothing(notes),
        unusable=tuple(name for name in modules if name not in submitted or f"{name}.py" in paths("import")),
        misnamed=misnamed,
        accepted=paths("accepted", "replaced"),
        unexplained=tuple(Unexplained(**function) for function in extra.get("unexplained", ())),
        guesses=tuple(extra.get("guesses", ())),
    )


def _nothing(notes: Sequence[Mapping[str, str]]) -> str:
    """Why an upload has nothing to grade. Notes on the whole upload come first."""
    for note in sorted(notes, key=lambda note: note["kind"] not in WHOLE):
        if note["kind"] not in USABLE and note["kind"] not in TOGETHER:
            return note["text"] if note["kind"] in WHOLE else f"None of its files can be used. {note['text']}"
    blank = any(note["kind"] == "blank" for note in notes)
    return "Its homework files are blank." if blank else "It contains no homework files."


@dataclass(frozen=True)
class Outcome:
    """A student's total (None: no score), the submission that counts ("": none), and reasons that no criterion explains."""

    submission: str
    student: Student
    total: float | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Store:
    """The folder of a run. If `read_run` made it: the input paths, the students of each submission, and the outcomes.

    Raises ArgumentsError if nothing can be written there.
    """

    folder: Path
    paths: tuple[Path, ...] = ()
    students: Mapping[str, tuple[Student, ...]] = field(default_factory=dict)
    outcomes: tuple[Outcome, ...] = ()

    def __post_init__(self) -> None:
        try:
            self.results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentsError(f"-o {of_system(error, self.folder)}") from error
        for path in self.results.glob(".*.json.*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > OLD:
                    path.unlink()

    @property
    def results(self) -> Path:
        return self.folder / RESULTS

    def path(self, key: str) -> Path:
        return self.results / f"{key}.json"

    def keys(self) -> set[str]:
        """The submissions that have a result, from any run."""
        return {path.stem for path in self.results.glob("[!.]*.json")}

    def kept(self, key: str, stamp: Mapping[str, Any]) -> Grade | None:
        """The grade of an earlier run, if it is still valid."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            document = json.loads(self.path(key).read_bytes())
            if all(document["extra_data"][name] == value for name, value in stamp.items()):
                return grade_of(key, document, self.path(key).stat().st_mtime)
        return None

    def write(self, key: str, document: Document, stamp: Mapping[str, Any]) -> Grade:
        """Raises OSError if it cannot be written, and keeps the old result."""
        marked = {**document, "extra_data": {**stamp, **document["extra_data"]}}
        # ASCII, so the file contains no bidirectional control characters.
        write_atomically(self.path(key), json.dumps(marked, indent=2) + "\n")
        return grade_of(key, marked, time.time())

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
        return {key: ", ".join(filter(None, own)) for key, own in names.items()}

    def grades(self) -> dict[str, Grade]:
        """Every grade in the folder. Raises ArgumentsError for an invalid result, or if there is none."""
        grades = {}
        for key in sorted(self.keys()):
            path = self.path(key)
            try:
                grades[key] = grade_of(key, json.loads(path.read_bytes()), path.stat().st_mtime)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise ArgumentsError(f"{path}: not a result of this kit ({type(error).__name__}: {error})") from None
        if not grades:
            raise ArgumentsError(f"{self.folder}: there are no results in it")
        return grades


def write_run(out: Path, paths: Sequence[Path], entries: Sequence[Upload], outcomes: Iterable[Outcome] = ()) -> None:
    """Write run.json, before grading and again with the outcomes. Raises OSError."""
    document = {
        "paths": [str(path.absolute()) for path in paths],
        "students": {entry.key: [asdict(student) for student in entry.students] for entry in entries},
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
    text = json.dumps(document, indent=1) + "\n"  # ASCII: a path may have bytes that are not UTF-8
    write_atomically(out / RUN, text)


def read_run(folder: Path) -> Store:
    """The run in a folder, or in the parent of its results folder. Raises ArgumentsError for anything else."""
    if folder.name == RESULTS and not (folder / RUN).is_file():
        folder = folder.absolute().parent
    if not (folder / RUN).is_file():
        raise ArgumentsError(f"{folder}: not a run: it has no {RUN}; give the OUT of `autograder grade ... -o OUT`")
    try:
        document = json.loads((folder / RUN).read_bytes())
        return Store(
            folder,
            tuple(map(Path, document["paths"])),
            {key: tuple(Student(**student) for student in own) for key, own in document["students"].items()},
            tuple(
                Outcome(entry["submission"], Student(**entry["student"]), entry["total"], tuple(entry["reasons"]))
                for entry in document["outcomes"]
            ),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArgumentsError(f"{folder / RUN}: not written by this kit ({error})") from None
