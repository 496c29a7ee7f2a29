"""One submission of a class: whose it is, where it lies, and a key under which its result is kept."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from autograder.exceptions import CommandError
from autograder.homework import rubric
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Note, Submission, read_tree
from autograder.submissions.tree import Tree, UnusableError

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
    moodle: str = ""
    brightspace: str = ""

    @property
    def identities(self) -> list[Identity]:
        """The ids of a student, the most reliable first. A name is none, since two people may share it."""
        ids = [("email", self.email.lower()), ("sid", self.sid)]
        ids += [("canvas", self.canvas), ("moodle", self.moodle), ("brightspace", self.brightspace)]
        return [identity for identity in ids if identity[1]]


@dataclass(frozen=True)
class Upload:
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


def load(entry: Upload, limits: Limits, accept_names: bool = False) -> Submission:
    """The submission of an entry, read now; with files under names that are nearly right, if these are accepted.

    Raises CommandError where the grader cannot read it.
    """
    if entry.upload is None:
        raise CommandError(entry.problem or f"{entry.key}: there is nothing to read")
    submission = read_tree(entry.upload, limits, entry.key)
    if accept_names:
        submission = submission.accepting_names(rubric.current().modules)
    if any(name.lower().endswith(".py") for name in submission.files):
        return submission
    zipped = (replace(note, kind="notebook") for note in submission.refused if note.kind == "beside")
    return replace(
        submission, refused=(*islice(chain(_notebooks(entry.upload, limits), zipped), 1), *submission.refused)
    )


def _notebooks(upload: Tree, limits: Limits) -> Iterator[Note]:
    """A note on the first notebook, with the functions of the homework that its code cells define; nothing of it is run."""
    contract = {name for module in rubric.current().modules.values() for name in module.functions}
    for path, source in islice(upload.walk(), limits.upload_files):
        if path.lower().endswith(".ipynb") and not source.problem:
            try:
                text = source.read(limits.upload_mb * 2**20).decode("utf-8", "replace")
            except (UnusableError, OSError):  # it would not have been graded
                text = ""
            defined = dict.fromkeys(re.findall(r"(?:^|\\n|\")def (\w+)\(", text))
            yield Note("notebook", path, wanted=", ".join(name for name in defined if name in contract))
            return


# Keys: names for result files


def keyed(entries: Iterable[Upload]) -> list[Upload]:
    """The entries with keys that are safe file names and differ even where upper and lower case do not."""
    entries = list(entries)
    safe = [safe_key(entry.key) for entry in entries]
    counts = Counter(map(str.lower, safe))
    taken: set[str] = set()
    keyed_entries = []
    for entry, key in zip(entries, safe, strict=True):
        place = entry.upload.place.absolute() if entry.upload else Path()
        origin = _digest(f"{place.parent.name}/{place.name}/{entry.key}")
        wanted = key if counts[key.lower()] == 1 else f"{key}-{origin}"
        while wanted.lower() in taken:
            wanted += "x"
        taken.add(wanted.lower())
        keyed_entries.append(replace(entry, key=wanted))
    return keyed_entries


def safe_key(name: str) -> str:
    """A name that every file system takes; where that changes the name, a digest keeps different names apart."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", plain).strip("._-")[:90].rstrip("._-")
    if slug and slug == name and slug.lower().split(".")[0] not in RESERVED:
        return slug
    return f"{slug or 'submission'}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
