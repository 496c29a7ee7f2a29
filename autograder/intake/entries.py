"""One submission of a class: whose it is, where it lies, how it is read.

A submission may be a folder, a zip, a few files, or part of a large zip. Whatever the form, `load` gives a
Submission; what a student did wrong becomes a note in it, what the grader cannot read an UnreadableError.
"""

import errno
import hashlib
import re
import stat
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from autograder.homework.rubric import Limits
from autograder.intake.submission import KEPT, Submission, UnreadableError, read, shown

RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
BAD_NAME = {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR, errno.EEXIST}


@dataclass(frozen=True)
class Student:
    """A person as the export names them; a missing part is ""."""

    name: str = ""
    sid: str = ""
    email: str = ""
    canvas: str = ""


@dataclass(frozen=True)
class Source:
    """A folder or a file of a submission. `name` is its name there, `member` its name in the zip at `place`."""

    place: Path
    name: str = ""
    member: str = ""


@dataclass(frozen=True)
class Entry:
    """A submission to be graded. `problem` says why it cannot be, `remark` what else is to be known."""

    key: str
    sources: tuple[Source, ...]
    students: tuple[Student, ...] = ()
    late: bool = False
    created_at: str = ""
    problem: str = ""
    remark: str = ""


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
    place = entry.sources[0].place.absolute() if entry.sources else Path()
    return f"{place.parent.name}/{place.name}/{entry.key}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


# Reading


def load(entry: Entry, limits: Limits) -> Submission:
    """The submission of an entry.

    Raises UnreadableError where the grader cannot read it.
    """
    if entry.problem:
        raise UnreadableError(entry.problem)
    if len(entry.sources) == 1 and not entry.sources[0].member and not entry.sources[0].name:
        return read(entry.sources[0].place, limits, entry.key)
    try:
        with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
            return _staged(entry, Path(folder), limits)
    except OSError as error:
        raise UnreadableError(f"{entry.key}: cannot be read ({error.strerror or error})") from error


def _staged(entry: Entry, folder: Path, limits: Limits) -> Submission:
    """The sources copied under the names that they have in the submission and read; loose files beat zips."""
    wanted = [source for source in entry.sources if PurePosixPath(source.name).suffix.lower() in (*KEPT, ".zip")]
    notes = tuple(filter(None, (_stage(s, folder, limits) for s in wanted[: 20 * limits.upload_files])))
    zips = [folder / s.name for s in wanted if s.name.lower().endswith(".zip") and (folder / s.name).is_file()]
    parts = [read(place, limits, entry.key) for place in zips if place.parent == folder]
    return merged([*parts, read(folder, limits, entry.key)], entry.key, notes)


def merged(parts: list[Submission], name: str, notes: tuple[str, ...]) -> Submission:
    """Several parts as one submission; of files with the same name the last counts."""
    files = {path: content for part in parts for path, content in part.files.items()}
    refused = {path: why for part in parts for path, why in part.refused.items()}
    return Submission(name, files, (*notes, *(note for part in parts for note in part.notes)), refused)


def _stage(source: Source, folder: Path, limits: Limits) -> str:
    """Copy one file, no more of it than shows that it is too large; a note if it cannot be used."""
    path = PurePosixPath(source.name)
    if path.is_absolute() or ".." in path.parts or "\0" in source.name:
        return f"{shown(source.name)} was not used: its path leads out of the upload."
    if not source.member and not stat.S_ISREG(source.place.lstat().st_mode):
        return f"{shown(source.name)} was not used: it is a link or a device, not a file."
    most = limits.upload_mb * 2**20
    content = content_of(source, most + 1)
    if len(content) > most and path.suffix.lower() == ".zip":
        return f"{shown(source.name)} was not used: it is too large."
    try:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except OSError as error:
        if error.errno not in BAD_NAME:
            raise
        return f"{shown(source.name)} was not used: a file cannot have this name here."
    return ""


def content_of(source: Source, most: int) -> bytes:
    """The first `most` bytes of a file.

    Raises OSError, or UnreadableError for a damaged zip.
    """
    if not source.member:
        with source.place.open("rb") as file:
            return file.read(most)
    try:
        with archive(source.place).open(source.member) as stream:
            return stream.read(most)
    except OSError:
        raise
    except Exception as error:  # zlib.error, BadZipFile, EOFError, RuntimeError: no common class
        raise _damaged(source) from error


def _damaged(source: Source) -> UnreadableError:
    return UnreadableError(f"{source.place}: {shown(source.member)} in it is damaged; download it again")


def archive(place: Path) -> zipfile.ZipFile:
    """A zip, opened once for all that is read from it.

    Raises OSError, or BadZipFile and its like for what is no zip.
    """
    found = place.stat()
    return _archive(place, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _archive(place: Path, *_: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(place)
