"""One submission of a class: its student, its location, and the key of its result."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.exceptions import CommandError
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Submission, read_tree
from autograder.submissions.tree import Tree

# Names that Windows reserves for devices: a result of that name could not be written there.
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
Identity = tuple[str, str]  # a kind, and a value


@dataclass(frozen=True)
class Student:
    """A person as the export names them; unknown parts are ""."""

    name: str = ""
    sid: str = ""
    email: str = ""
    canvas: str = ""
    moodle: str = ""
    brightspace: str = ""

    @property
    def identities(self) -> list[Identity]:
        """The ids of a student, the most reliable first. Names are not ids, since two people may share one."""
        ids = [("email", self.email.lower()), ("sid", self.sid)]
        ids += [("canvas", self.canvas), ("moodle", self.moodle), ("brightspace", self.brightspace)]
        return [identity for identity in ids if identity[1]]


@dataclass(frozen=True)
class Upload:
    """A submission to grade. `remark` is a note.

    `upload` is None if there is nothing to read, and `problem` is the reason. `section` is the path of the upload if a
    command was given several paths.
    """

    key: str
    upload: Tree | None = None
    students: tuple[Student, ...] = ()
    late: bool = False
    created_at: str = ""
    problem: str = ""
    remark: str = ""
    section: str = ""


def load(entry: Upload, limits: Limits, accept_names: bool = False) -> Submission:
    """Read the submission of an upload; with misnamed files, if `accept_names`.

    Raises CommandError if the grader cannot read it.
    """
    if entry.upload is None:
        raise CommandError(entry.problem or f"{entry.key}: there is nothing to read")
    submission = read_tree(entry.upload, limits, entry.key)
    if accept_names:
        submission = submission.accepting_names()
    notebooks = [replace(note, kind="notebook") for note in submission.refused if note.kind == "beside"]
    if any(name.lower().endswith(".py") for name in submission.files):
        return submission
    return replace(submission, refused=(*notebooks[:1], *submission.refused))


# Keys: names for result files


def keyed(entries: Iterable[Upload]) -> list[Upload]:
    """The uploads with unique keys that are safe file names, even on case-insensitive file systems."""
    entries = list(entries)
    keys = [safe_key(entry.key) for entry in entries]
    counts, taken = Counter(map(str.lower, keys)), set[str]()
    for number, (entry, key) in enumerate(zip(entries, keys, strict=True)):
        unique = key
        if counts[key.lower()] > 1:
            place = entry.upload.place.absolute() if entry.upload else Path()
            unique += f"-{_digest(f'{place.parent.name}/{place.name}/{entry.key}')}"
        while unique.lower() in taken:
            unique += "x"
        taken.add(unique.lower())
        entries[number] = replace(entry, key=unique)
    return entries


def safe_key(name: str) -> str:
    """A name that every file system accepts; a digest is added if the name had to change."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", plain).strip("._-")[:90].rstrip("._-")
    if slug.lower().split(".")[0] in RESERVED:
        slug = slug.replace(".", "_")  # con.txt-1a2b3c4d would still be the device
    elif slug and slug == name:
        return slug
    return f"{slug or 'submission'}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
