"""Canvas's bulk download: one flat folder, each file named after its student.

Names as Canvas's ContentZipper makes them: `<name>_<LATE_>?<user id>_<file id>_<file name>`; in an anonymous
assignment `<LATE_>?anon_<code>_<file id>_<file name>`; a text or a link instead of files ends in `_text.html`
or `_link.html`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.intake.entries import Entry, Student
from autograder.intake.tree import Source, Tree

_NAME = re.compile(
    r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+|\d+)_"
    r"(?:(?P<number>\d+)_(?P<file>.+)|(?P<page>text\.html|link\.html))",
    re.DOTALL,
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>\d+)(?P<end>\.(?:py|zip))", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class _File:
    user: str
    student: str
    late: bool
    name: str
    order: tuple[int, int]
    source: Source


def matches(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def is_download(names: Sequence[str]) -> bool:
    """Whether the files of a folder are named as Canvas does it: most of those that could be work."""
    kept = [name for name in names if name.lower().endswith((".py", ".zip", ".html"))]
    return bool(kept) and 2 * sum(map(matches, kept)) > len(kept)


def entries(files: Mapping[str, Source], place: Path) -> tuple[list[Entry], list[str]]:
    """One entry a student, with the newest version of each file; and what Canvas cannot have named."""
    users: dict[str, list[_File]] = {}
    problems = []
    for name, source in files.items():
        file = _parsed(name, source)
        if file is None:
            if name.lower().endswith((".py", ".zip")):
                problems.append(f"{name}: not named as Canvas names files, so it was not graded")
        else:
            users.setdefault(file.user, []).append(file)
    return [_entry(found, place) for found in users.values()], problems


def _parsed(name: str, source: Source) -> _File | None:
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    part = match.groupdict()
    file, again = part["file"] or part["page"], 0
    repeated = _AGAIN.fullmatch(file)
    if repeated is not None:
        file, again = repeated["stem"] + repeated["end"], int(repeated["number"])
    order = (again, int(part["number"] or 0))
    return _File(part["user"], part["name"] or "", bool(part["late"]), file, order, source)


def _entry(files: list[_File], place: Path) -> Entry:
    newest: dict[str, _File] = {}
    for file in sorted(files, key=lambda file: file.order):
        newest[file.name.lower()] = file
    first = files[0]
    number = first.user if first.user.isdigit() else ""
    student = Student(first.student or first.user, sid="" if number else first.user, canvas=number)
    key = f"{first.student}_{first.user}" if first.student else first.user
    upload = Tree(key, place, {file.name: file.source for file in newest.values()})
    return Entry(key, upload, (student,), any(file.late for file in files))
