"""Moodle's "Download all submissions": a folder for each student, or one flat folder, both named after their students.

Names as Moodle makes them (moodle/moodle, mod/assign/locallib.php, download_submissions): `<name>_<participant id>_
assignsubmission_file/`, in older versions with a `_` at the end, or the same in front of each file's name;
`..._assignsubmission_onlinetext` for text instead of files.
"""

import re
from collections.abc import Mapping

from autograder.intake.entries import Entry, Student
from autograder.intake.tree import Source, Tree

_NAME = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL)


def is_download(tree: Tree) -> bool:
    """Whether most of what lies directly here is named as Moodle does it."""
    names = [name for name in (*tree.folders, *tree.files) if not name.startswith((".", "__"))]
    return 2 * sum(_NAME.fullmatch(name) is not None for name in names) > len(names)


def entries(tree: Tree) -> tuple[list[Entry], list[str]]:
    """One entry a student, and what Moodle cannot have named."""
    names: dict[str, str] = {}
    uploads: dict[str, dict[str, Source]] = {}
    problems = []
    parts: list[tuple[str, Mapping[str, Source]]] = [(name, folder.sources) for name, folder in tree.folders.items()]
    parts += [(name, {name: source}) for name, source in tree.files.items()]
    for name, sources in parts:
        match = _NAME.fullmatch(name)
        if match is None:
            if not name.startswith((".", "__")):
                problems.append(f"{name}: not named as Moodle names submissions, so it was not graded")
            continue
        names.setdefault(match["id"], match["name"])
        file = match["file"] if name in sources else ""
        uploads.setdefault(match["id"], {}).update({file: sources[name]} if file else sources)
    return [_entry(number, names[number], found, tree) for number, found in uploads.items()], problems


def _entry(number: str, name: str, sources: dict[str, Source], tree: Tree) -> Entry:
    key = f"{name}_{number}"
    return Entry(key, Tree(key, tree.place, sources, tree.zipped), (Student(name, moodle=number),))
