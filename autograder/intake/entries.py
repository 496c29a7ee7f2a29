"""One submission of a class: whose it is, where it lies, and a key under which its result is kept."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.intake.reading import read_tree
from autograder.intake.submission import Submission, UnreadableError
from autograder.intake.tree import Tree
from autograder.sandbox.limits import Limits

# Names that Windows keeps for devices: a result of that name could not be written there.
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
Identity = tuple[str, str]  # a kind, and a value


@dataclass(frozen=True)
class Student:
    """A person as the export names them; a missing part is ""."""

    name: str = ""
    sid: str = ""
    email: str = ""
    canvas: str = ""

    @property
    def identities(self) -> list[Identity]:
        """What a student is known by, the surest first. A name alone is none: two people may share it."""
        found = [("email", self.email.lower()), ("sid", self.sid), ("canvas", self.canvas)]
        return [one for one in found if one[1]]


@dataclass(frozen=True)
class Entry:
    """A submission to be graded. `problem` says why it cannot be, `remark` what else is to be known.

    `upload` is None where there is nothing to read; then `problem` says why. `section` is the path that it came from,
    where a command was given several.
    """

    key: str
    upload: Tree | None = None
    students: tuple[Student, ...] = ()
    late: bool = False
    created_at: str = ""
    problem: str = ""
    remark: str = ""
    section: str = ""


def load(entry: Entry, limits: Limits) -> Submission:
    """The submission of an entry, read now.

    Raises UnreadableError where the grader cannot read it.
    """
    if entry.upload is None:
        raise UnreadableError(entry.problem or f"{entry.key}: there is nothing to read")
    return read_tree(entry.upload, limits, entry.key)


# Keys: names for result files


def keyed(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with keys that are safe file names and differ even where upper and lower case do not."""
    entries = list(entries)
    safe = [safe_key(entry.key) for entry in entries]
    counts: dict[str, int] = {}
    for key in safe:
        counts[key.lower()] = counts.get(key.lower(), 0) + 1
    taken: set[str] = set()
    found = []
    for entry, key in zip(entries, safe, strict=True):
        wanted = key if counts[key.lower()] == 1 else f"{key}-{_digest(_origin(entry))}"
        while wanted.lower() in taken:
            wanted += "x"
        taken.add(wanted.lower())
        found.append(replace(entry, key=wanted))
    return found


def safe_key(name: str) -> str:
    """A name that every file system takes; where that changes the name, a digest keeps different names apart."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", plain).strip("._-")[:60].rstrip("._-")
    if slug and slug == name and slug.lower().split(".")[0] not in RESERVED:
        return slug
    return f"{slug or 'submission'}-{_digest(name)}"


def _origin(entry: Entry) -> str:
    place = entry.upload.place.absolute() if entry.upload else Path()
    return f"{place.parent.name}/{place.name}/{entry.key}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
