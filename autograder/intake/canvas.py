"""Canvas's bulk download: one flat folder, each file named after its student.

Names as Canvas's ContentZipper makes them: `<name>_<LATE_>?<user id>_<file id>_<file name>`; in an anonymous
assignment `<LATE_>?anon_<code>_<file id>_<file name>`; a text or a link instead of files ends in `_text.html`
or `_link.html`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.intake.entries import Entry, Student
from autograder.intake.tree import Source, Tree

_NAME = re.compile(
    r"(?:(?P<name>.+?)_)??(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+|\d+)_"
    r"(?:(?P<number>\d+)_(?P<file>.+)|(?P<page>text\.html|link\.html))",
    re.DOTALL,
)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>\d+)(?P<end>\.(?:py|zip))", re.IGNORECASE | re.DOTALL)


def matches(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def is_download(names: Sequence[str]) -> bool:
    """Whether the files of a folder are named as Canvas does it: most of those that could be work."""
    kept = [name for name in names if name.lower().endswith((".py", ".zip", ".html"))]
    return bool(kept) and 2 * sum(map(matches, kept)) > len(kept)


def entries(files: Mapping[str, Source], place: Path) -> tuple[list[Entry], list[str]]:
    """One entry a student, with the newest version of each file; and what Canvas cannot have named."""
    users: dict[str, list[re.Match[str]]] = {}
    problems = []
    for name in files:
        match = _NAME.fullmatch(name)
        if match is not None:
            users.setdefault(match["user"], []).append(match)
        elif name.lower().endswith((".py", ".zip")):
            problems.append(f"{name}: not named as Canvas names files, so it was not graded")
    return [_entry(user, matches, files, place) for user, matches in users.items()], problems


def _entry(user: str, matches: Sequence[re.Match[str]], files: Mapping[str, Source], place: Path) -> Entry:
    versions: list[tuple[tuple[int, int], str, Source]] = []
    for match in matches:
        file, again = match["file"] or match["page"], 0
        repeated = _AGAIN.fullmatch(file)
        if repeated is not None:
            file, again = repeated["stem"] + repeated["end"], int(repeated["number"])
        versions.append(((again, int(match["number"] or 0)), file, files[match.string]))
    newest: dict[str, tuple[str, Source]] = {}
    for _, file, source in sorted(versions, key=lambda version: version[0]):
        newest[file.lower()] = (file, source)
    name, number = matches[0]["name"], user if user.isdigit() else ""
    key = f"{name}_{user}" if name else user
    student = Student(name or user, sid="" if number else user, canvas=number)
    return Entry(key, Tree(key, place, dict(newest.values())), (student,), any(match["late"] for match in matches))
