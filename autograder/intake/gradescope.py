"""Gradescope's "Export Submissions": a folder for each submission, `submission_metadata.yml` with the names.

The yml has Ruby's symbols as keys (`:submitters:`). It is read with every scalar as text and every tag as
plain data, which is stricter than a safe load: nothing is constructed, and a name like `No` or an id like
`007` stays what it is.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import yaml

from autograder.intake.entries import Entry, Student
from autograder.intake.tree import Tree
from autograder.intake.zips import DamagedError

METADATA = "submission_metadata.yml"
LARGEST = 2**28  # bytes of the yml that are read; it holds all results of a class
_FOLDER = re.compile(r"submission_\d+")
_WRAPPER = re.compile(r"assignment_\d+_export.*", re.DOTALL)
_MISSING = {"", "~", "null"}


def is_export(tree: Tree, inside: bool = False) -> bool:
    """Whether this is an export: the yml, and beside it nothing but folders that Gradescope has named.

    A student can hand in such a yml, and it would say whose other submissions are. So it is believed only at the top
    of what the command was given, or (`inside`) in a folder there that bears Gradescope's own name or that of its zip.
    """
    named = _WRAPPER.fullmatch(tree.name) or (tree.zipped and tree.name == tree.place.stem)
    if METADATA not in tree.files or (inside and not named):
        return False
    return all(_FOLDER.fullmatch(name) for name in tree.folders)


def entries(tree: Tree) -> tuple[list[Entry], list[str]]:
    """One entry a folder, one with a problem for each submission without a folder; and what is odd."""
    problems = []
    counting: dict[str, Entry] = {}
    earlier: dict[str, Entry] = {}  # the submissions before those, which belong to the same students
    try:
        text = tree.files[METADATA].read(LARGEST)
        document = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        for name, value in document.items() if isinstance(document, dict) else ():
            students = _students(value)
            counting[str(name)] = Entry(str(name), None, students, created_at=_time(_get(value, "created_at")))
            for old in _list(_get(value, "history")):
                folder = f"submission_{_plain(_get(old, 'id'))}"
                earlier[folder] = Entry(folder, None, students, created_at=_time(_get(old, "created_at")))
    except (yaml.YAMLError, DamagedError) as error:
        problems = [f"{METADATA} cannot be read, so no names are known: {' '.join(str(error).split())[:200]}"]
    folders = sorted(tree.folders, key=_natural)
    found = [_with_upload(tree.folders[name], name, counting.get(name) or earlier.get(name)) for name in folders]
    unknown = [entry.key for entry in found if not entry.students and not problems]
    problems += [f"{key}: {METADATA} does not say whose it is; it was graded all the same" for key in unknown]
    problem = f"it is in {METADATA}, but the export has no folder for it"
    return found + [
        replace(entry, problem=problem) for name, entry in counting.items() if name not in folders
    ], problems


def _with_upload(upload: Tree, name: str, known: Entry | None) -> Entry:
    if known is None:
        return Entry(name, upload, remark=f"not in {METADATA}")
    return replace(known, upload=upload, remark="" if known.students else f"nobody is named in {METADATA}")


# The yml


def _students(value: Any) -> tuple[Student, ...]:
    """The submitters; one about whom nothing is said is none."""
    submitters = _list(_get(value, "submitters"))
    found = [Student(*(_plain(_get(one, key)) for key in ("name", "sid", "email"))) for one in submitters]
    return tuple(dict.fromkeys(student for student in found if student != Student()))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _get(value: Any, key: str) -> Any:
    """A Ruby symbol or a plain key."""
    return value.get(f":{key}", value.get(key)) if isinstance(value, dict) else None


def _plain(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return "" if text in _MISSING else text


def _time(value: Any) -> str:
    """A time in UTC, of fixed width, so that the order of the texts is that of the times; "" if it is none."""
    text = re.sub(r"(\.\d{6})\d+", r"\1", _plain(value))
    text = re.sub(r"\s+(Z|UTC|[+-]\d\d:?\d\d)$", r"\1", text).replace("UTC", "+00:00")
    try:
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return ""
    return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _natural(name: str) -> list[tuple[int, str]]:
    """submission_9 before submission_10."""
    return [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]
