"""Gradescope's "Export Submissions": a folder for each submission, `submission_metadata.yml` with the names.

The yml has Ruby's symbols as keys (`:submitters:`). It is read with every scalar as text and every tag as
plain data, which is stricter than a safe load: nothing is constructed, and a name like `No` or an id like
`007` stays what it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Metadata:
    students: tuple[Student, ...]
    created_at: str


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
    records: dict[str, _Metadata] = {}
    earlier: dict[str, _Metadata] = {}
    try:
        text = tree.files[METADATA].read(LARGEST)
        document = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        records, earlier = dict(_records(document)), dict(_earlier(document))
    except (yaml.YAMLError, DamagedError) as error:
        problems = [f"{METADATA} cannot be read, so no names are known: {' '.join(str(error).split())[:200]}"]
    folders = sorted(tree.folders, key=_natural)
    found = [_entry(tree, folder, records.get(folder) or earlier.get(folder)) for folder in folders]
    unknown = [entry.key for entry in found if not entry.students and not problems]
    problems += [f"{key}: {METADATA} does not say whose it is; it was graded all the same" for key in unknown]
    return found + [_without_folder(name, records[name]) for name in records if name not in folders], problems


def _entry(tree: Tree, folder: str, record: _Metadata | None) -> Entry:
    upload = tree.folders[folder]
    if record is None:
        return Entry(folder, upload, remark=f"not in {METADATA}")
    remark = "" if record.students else f"nobody is named in {METADATA}"
    return Entry(folder, upload, record.students, created_at=record.created_at, remark=remark)


def _without_folder(name: str, record: _Metadata) -> Entry:
    problem = f"it is in {METADATA}, but the export has no folder for it"
    return Entry(name, None, record.students, created_at=record.created_at, problem=problem)


# The yml


def _records(document: Any) -> Iterator[tuple[str, _Metadata]]:
    """Every submission that counts on Gradescope, by the name of its folder."""
    for name, value in _items(document):
        yield name, _Metadata(_students(value), _time(_get(value, "created_at")))


def _earlier(document: Any) -> Iterator[tuple[str, _Metadata]]:
    """The submissions before those, which belong to the same students."""
    for _, value in _items(document):
        for old in _list(_get(value, "history")):
            yield (
                f"submission_{_plain(_get(old, 'id'))}",
                _Metadata(_students(value), _time(_get(old, "created_at"))),
            )


def _students(value: Any) -> tuple[Student, ...]:
    """The submitters; one about whom nothing is said is none."""
    found = [_student(one) for one in _list(_get(value, "submitters"))]
    return tuple(dict.fromkeys(student for student in found if student != Student()))


def _student(value: Any) -> Student:
    return Student(*(_plain(_get(value, key)) for key in ("name", "sid", "email")))


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(str(name), part) for name, part in value.items()] if isinstance(value, dict) else []


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
