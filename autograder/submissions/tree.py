"""An upload as a flat listing of paths, for a folder or a zip; nothing is unpacked to disk.

A folder has an entry with a slash at the end, so empty folders are visible. Deeply nested folders are not entered.
"""

import errno
import os
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from itertools import islice
from pathlib import Path

DEPTH = 20  # depth of folders
MEMBERS = 400_000  # names in the folder or zip of a class
# Files of operating systems and tools, which are skipped silently.
LITTER = frozenset(
    {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", ".pytest_cache", "Thumbs.db", "desktop.ini"}
)
JUNK = LITTER | {".venv", "venv", "checks", "tests"}
# Opening a named pipe must not block, and a terminal must not become the controlling terminal.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_NOT_THERE = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR}  # errors that an upload can cause, not the machine
_UTF8, _ENCRYPTED = 0x800, 0x1  # flags of a zip's member


class UnusableError(Exception):
    """A student's file is unusable.

    `kind` is the kind of a Note, for example "link" (anything but a regular file), "no_zip", "zip_many", or "damaged"
    for a member of a zip that does not decompress correctly.
    """

    def __init__(self, kind: str, name: object = ""):
        super().__init__(f"{name} is damaged" if kind == "damaged" else f"{name} is not a regular file")
        self.kind = kind


@dataclass(frozen=True)
class Source:
    """An unread file. `problem` is the kind of a Note if it cannot be used ("link", ...), else "".

    For a folder, `problem` is "folder", "deep", or "closed" if listing it raised `error`. For the root, it is "many" if
    the listing is incomplete.
    """

    size: int
    problem: str = ""
    read: Callable[[int], bytes] = field(default=lambda most: b"", repr=False, compare=False)
    error: OSError | None = None


@dataclass(frozen=True, eq=False)
class Tree:
    """A folder. `place` is its path on disk or, for a folder in a zip, that of the zip. In `sources`, "" is the folder itself."""

    name: str
    place: Path
    sources: Mapping[str, Source]
    zipped: bool = False

    @property
    def readable(self) -> bool:
        """Whether the folder itself could be listed."""
        return "" not in self.sources or not self.sources[""].error

    @cached_property
    def files(self) -> dict[str, Source]:
        """The files directly here, including links, devices and files whose path leads outside."""
        return {p: source for p, source in self.sources.items() if p and ("/" not in p or p.startswith(("../", "/")))}

    @cached_property
    def folders(self) -> dict[str, "Tree"]:
        """The folders directly here."""
        parts: dict[str, dict[str, Source]] = {}
        for path, source in self.sources.items():
            first, slash, rest = path.partition("/")
            if slash and first not in ("..", ""):
                parts.setdefault(first, {})[rest] = source
        places = {name: self.place if self.zipped else self.place / name for name in parts}
        return {name: Tree(name, places[name], inside, self.zipped) for name, inside in parts.items()}

    def walk(self) -> Iterator[tuple[str, Source]]:
        """Every file with its path, level by level, without junk; also folders with a problem, or named like a file."""
        for path, source in self.sources.items():
            named = path.removesuffix("/")
            usual = source.problem == "folder" and not named.lower().endswith((".py", ".zip"))
            if not usual and not any(map(is_junk, named.split("/"))):
                yield named, source


def is_junk(name: str) -> bool:
    return name in JUNK or is_litter(name)


def is_litter(name: str) -> bool:
    return name in LITTER or name.startswith("._")


# On disk. An unpacked upload may contain links to other students' files, endless devices and pipes without a writer: no link is
# followed, nothing blocks, and only regular files are read.


def of_folder(folder: Path, most: int = MEMBERS) -> Tree:
    """The tree of a folder, up to `most` names."""
    sources: dict[str, Source] = {"": Source(0, "folder")}
    waiting = [("", folder)]
    for above, place in waiting:
        try:
            with os.scandir(place) as entries:
                listed = sorted(islice(entries, most + 1), key=lambda e: (e.is_dir(follow_symlinks=False), e.name))
            for entry in listed:
                if len(sources) > most:
                    sources[""] = Source(0, "many")
                    break
                if not entry.is_dir(follow_symlinks=False):
                    sources[above + entry.name] = _on_disk(Path(entry), entry.stat(follow_symlinks=False))
                    continue
                deep = above.count("/") >= DEPTH
                sources[f"{above}{entry.name}/"] = Source(0, "deep" if deep else "folder")
                if not deep and not is_junk(entry.name):
                    waiting.append((f"{above}{entry.name}/", place / entry.name))
        except OSError as error:
            if error.errno not in _NOT_THERE:
                sources[above] = Source(0, "closed", error=error)
    return Tree(folder.absolute().name, folder, sources)


def of_file(path: Path) -> Tree:
    """A tree of one file. A link is followed if the command names it."""
    real = Path(os.path.realpath(path))
    return Tree(path.stem, path, {path.name: _on_disk(real, real.lstat())})


def _on_disk(path: Path, status: os.stat_result) -> Source:
    is_regular = stat.S_ISREG(status.st_mode)
    return Source(status.st_size, "", partial(content, path)) if is_regular else Source(0, "link")


def content(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file.

    Raises UnusableError for anything else, OSError if it cannot be read.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnusableError("link", path) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnusableError("link", path)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


# In a zip. Nothing is decompressed beyond the size that a member declares, which the limits of an upload bound.


def of_zip(place: Path, data: bytes | None = None, most: int = MEMBERS) -> Tree:
    """The tree of a zip of at most `most` members: of the `data` in memory, or else of the file, which stays open.

    Raises OSError, or UnusableError if it is not a zip or cannot be trusted.
    """
    if data is not None and data.count(b"PK\1\2") > most:  # counted before zipfile makes an object of each
        raise UnusableError("zip_many")
    try:
        archive = zipfile.ZipFile(place if data is None else BytesIO(data))
    except OSError:
        raise
    except Exception:  # a crafted zip can raise anything: struct.error, ValueError, RuntimeError ...
        raise UnusableError("no_zip") from None
    members = archive.infolist()
    if len(members) > most:
        raise UnusableError("zip_many")
    sources: dict[str, Source] = {}
    for member in members:
        path = _path(member)
        source = Source(member.file_size, _problem(member), partial(_decompressed, archive, member))
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if path.startswith("/") or ".." in parts:
            sources[path] = Source(member.file_size, "outside")
            continue
        folders = parts if path.endswith("/") else parts[:-1]
        for depth in range(1, min(len(folders), DEPTH + 1) + 1):
            sources["/".join([*folders[:depth], ""])] = Source(0, "folder" if depth <= DEPTH else "deep")
        if len(folders) < min(len(parts), DEPTH + 1):  # of members with equal names the last counts, as in unpacking
            sources["/".join(parts)] = source
    ordered = sorted(sources, key=lambda path: (path.removesuffix("/").count("/"), path.split("/")))
    return Tree(place.stem, place, {"": Source(0, "folder")} | {path: sources[path] for path in ordered}, zipped=True)


def _path(member: zipfile.ZipInfo) -> str:
    """The member's path: decoded by its flag, else as UTF-8, which many programs write without the flag, else as cp437,
    like zipfile.

    Backslashes, from some Windows programs, become slashes.
    """
    name = member.filename
    if not member.flag_bits & _UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _problem(member: zipfile.ZipInfo) -> str:
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "link"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted"
    return "" if member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) else "compression"


def _decompressed(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    """At most `most` bytes of a member.

    Raises UnusableError, or OSError if the zip cannot be read.
    """
    try:
        with archive.open(member) as stream:
            data = stream.read(most)
    except OSError:
        raise
    except Exception as error:  # zlib.error, BadZipFile, EOFError, RuntimeError: no common class
        raise UnusableError("damaged", member.filename) from error
    if len(data) != min(most, member.file_size):
        raise UnusableError("damaged", member.filename)
    return data
