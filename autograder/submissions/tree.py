"""An upload as a flat listing, path by path, for a folder or a zip.

A folder has its own entry, with a slash at the end, so empty folders are visible. Deeply nested folders are not entered.
"""

import errno
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO


@dataclass(frozen=True)
class Source:
    """An unread file. `problem` is the kind of a Note if it cannot be used ("link", ...), else "".

    For a folder it is "folder", "deep", or "closed": then `read` raises the OSError of listing it. For the root it is "many" if the
    listing is incomplete.
    """

    size: int
    problem: str = ""
    read: Callable[[int], bytes] = field(default=lambda most: b"", repr=False, compare=False)


# `opened` is the only function that opens a file of an upload on disk.
#
# An unpacked upload may contain links to other students' files, endless devices and pipes without a writer. So no link is
# followed, nothing blocks, and only regular files are read.

# O_NONBLOCK: opening a named pipe must not wait for its other end. O_NOCTTY: a terminal must not become ours.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))


class UnusableError(Exception):
    """Something a student sent is invalid. `kind`, that of a Note, is "link" (anything but a regular file), "no_zip", "zip_many",
    "zip_overlaps", or "damaged" for a member of a zip that does not decompress correctly.
    """

    def __init__(self, kind: str, name: object = ""):
        super().__init__(f"{name} is damaged" if kind == "damaged" else f"{name} is not a regular file")
        self.kind = kind


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading.

    Raises UnusableError for anything else, OSError if it cannot be opened.
    """
    # Checked before opening, because opening a device can have effects, and not every system has O_NOFOLLOW.
    if not stat.S_ISREG(path.lstat().st_mode):
        raise UnusableError("link", path)
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnusableError("link", path) from None
        raise
    # Checked again, since another file may have replaced it.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnusableError("link", path)
    return os.fdopen(descriptor, "rb")


def content(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file."""
    with opened(path) as file:
        return file.read(most)


# Zips: nothing is unpacked to disk, and nothing is decompressed before its size is bounded.
#
# Before Python's zipfile reads the list of members, its size is checked; before a member is read, no two may share bytes, so a
# small zip cannot expand many times.

ENTRY_BYTES = 256  # of the list, per allowed member: 46 and the name, with room for time stamps
TAIL = 65_535 + 22 + 20 + 56  # bytes at the end that contain the end records and the comment
UTF8 = 0x800  # flag: the name is UTF-8
ENCRYPTED = 0x1
PLAIN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def members(stream: BinaryIO, most: int) -> list[tuple[str, Source]]:
    """The members of a zip by path; backslashes (from some Windows programs) become slashes.

    The path of a folder ends with a slash. Raises UnusableError if it is not a zip, has more than `most` members, or members that
    overlap, and OSError if `stream` cannot be read.
    """
    if _directory_size(stream) > most * ENTRY_BYTES:
        raise UnusableError("zip_many")
    try:
        archive = zipfile.ZipFile(stream)
        infos = archive.infolist()
    except OSError:
        raise
    except Exception:  # made by hand, a zip can raise anything: struct.error, ValueError, RuntimeError ...
        raise UnusableError("no_zip") from None
    if len(infos) > most:
        raise UnusableError("zip_many")
    # Each takes at least its local header of 30 bytes and its data.
    spans = sorted((info.header_offset, info.header_offset + 30 + info.compress_size) for info in infos)
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        raise UnusableError("zip_overlaps")
    return [
        (_name(info).replace("\\", "/"), Source(info.file_size, _problem(info), partial(_content, archive, info)))
        for info in infos
    ]


def _directory_size(stream: BinaryIO) -> int:
    """The largest size that an end record claims for the list of members.

    zipfile chooses one of several records; none of them may be too large.
    """
    stream.seek(0, 2)
    stream.seek(max(0, stream.tell() - TAIL))
    tail = stream.read(TAIL)
    stream.seek(0)
    sizes = [0]
    for signature, form, offset in ((b"PK\5\6", "<L", 12), (b"PK\6\6", "<Q", 40)):
        at = tail.find(signature)
        while at >= 0:
            field = tail[at + offset : at + offset + struct.calcsize(form)]
            if len(field) == struct.calcsize(form):
                sizes += struct.unpack(form, field)
            at = tail.find(signature, at + 1)
    return max(size for size in sizes if size != 0xFFFFFFFF)  # that one says: see the record of 64 bits


def _name(info: zipfile.ZipInfo) -> str:
    """The name by its flag, else as UTF-8, which many programs write without the flag, else as cp437, like zipfile."""
    if info.flag_bits & UTF8 or info.filename != info.orig_filename:
        return info.filename
    try:
        return info.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _problem(info: zipfile.ZipInfo) -> str:
    kind = (info.external_attr >> 16) & 0o170000
    if kind not in (0, 0o100000, 0o040000):
        return "link"
    if info.flag_bits & ENCRYPTED:
        return "encrypted"
    return "" if info.compress_type in PLAIN_METHODS else "compression"


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """A member, at most `most` bytes.

    Raises UnusableError, or OSError if the zip cannot be read.
    """
    try:
        with archive.open(info) as stream:
            data = stream.read(most)
    except OSError:
        raise
    except Exception as error:  # zlib.error, BadZipFile, EOFError, RuntimeError: no common class
        raise UnusableError("damaged", info.filename) from error
    if len(data) != min(most, info.file_size):
        raise UnusableError("damaged", info.filename)
    return data


DEPTH = 20  # depth of folders
LISTED = 50_000  # names in one folder; a class has fewer, an upload far fewer
MEMBERS = 400_000  # names in the folder or zip of a class
# Files of systems and tools. They are not work, so they are skipped silently.
LITTER = frozenset(
    {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", ".pytest_cache", "Thumbs.db", "desktop.ini"}
)
JUNK = LITTER | {".venv", "venv", "checks", "tests"}
_NOT_THERE = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR}  # errors that an upload can cause, not the machine


@dataclass(frozen=True, eq=False)
class Tree:
    """A folder. `place` is its path on disk; for a folder in a zip, the path of the zip. `sources` has "" for itself."""

    name: str
    place: Path
    sources: Mapping[str, Source]
    zipped: bool = False

    @property
    def readable(self) -> bool:
        """Whether the folder itself could be listed."""
        return "" not in self.sources or self.sources[""].problem != "closed"

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
        place = self.place
        return {
            name: Tree(name, place if self.zipped else place / name, inside, self.zipped)
            for name, inside in parts.items()
        }

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


# On disk


def of_folder(folder: Path, most: int = MEMBERS) -> Tree:
    """The tree of a folder, up to `most` names."""
    sources: dict[str, Source] = {"": Source(0, "folder")}
    waiting = [("", folder)]
    for above, place in waiting:
        try:
            listed = _listed(place)
        except OSError as error:
            if error.errno not in _NOT_THERE:
                sources[above] = Source(0, "closed", partial(_refused, error))
            continue
        if place == folder and len(listed) > LISTED:
            sources[""] = Source(0, "many")
        for name, source in islice(listed.items(), LISTED):
            if len(sources) > most:
                sources[""] = Source(0, "many")
                break
            deep = source.problem == "folder" and above.count("/") >= DEPTH
            sources[above + name] = Source(0, "deep") if deep else source
            if source.problem == "folder" and not deep and not is_junk(name.removesuffix("/")):
                waiting.append((above + name, place / name))
    return Tree(folder.absolute().name, folder, sources)


def _listed(folder: Path) -> dict[str, Source]:
    """The files and folders directly in a folder. Raises OSError."""
    with os.scandir(folder) as entries:
        listed = sorted(islice(entries, LISTED + 1), key=lambda entry: entry.name)
    folders = {f"{entry.name}/" for entry in listed if entry.is_dir(follow_symlinks=False)}
    files = {
        e.name: _on_disk(Path(e.path), e.stat(follow_symlinks=False)) for e in listed if f"{e.name}/" not in folders
    }
    return files | {name: Source(0, "folder") for name in sorted(folders)}


def _refused(error: OSError, most: int) -> bytes:
    raise error


def _on_disk(path: Path, status: os.stat_result) -> Source:
    if not stat.S_ISREG(status.st_mode):
        return Source(0, "link")
    return Source(status.st_size, "", partial(content, path))


def of_file(path: Path) -> Tree:
    """A tree of one file. A link is followed if the command names it."""
    real = Path(os.path.realpath(path))
    return Tree(path.stem, path, {path.name: _on_disk(real, real.lstat())})


# In a zip


def of_zip(path: Path) -> Tree:
    """The tree of a zip on disk, which stays open.

    Raises OSError, or UnusableError if it is not a zip or cannot be trusted.
    """
    return _of_members(opened(Path(os.path.realpath(path))), path, MEMBERS)


def of_bytes(data: bytes, place: Path, most: int) -> Tree:
    """The tree of a zip in memory, of at most `most` members. Raises UnusableError."""
    return _of_members(BytesIO(data), place, most)


def _of_members(stream: BinaryIO, place: Path, most: int) -> Tree:
    sources: dict[str, Source] = {}
    for path, source in members(stream, most):
        parts = path.removesuffix("/").split("/")
        if ".." in parts or path.startswith("/"):
            sources[path] = replace(source, problem="outside")
            continue
        parts = [part for part in parts if part not in ("", ".")]
        folders = parts if path.endswith("/") else parts[:-1]
        sources |= {
            "/".join([*folders[:depth], ""]): Source(0, "folder") for depth in range(1, min(len(folders), DEPTH) + 1)
        }
        if len(folders) > DEPTH:
            sources["/".join([*folders[: DEPTH + 1], ""])] = Source(0, "deep")
        elif parts and not path.endswith("/"):  # the last member of a name counts, as in unpacking
            sources["/".join(parts)] = source
    ordered = sorted(sources, key=lambda path: (path.removesuffix("/").count("/"), path.split("/")))
    return Tree(place.stem, place, {"": Source(0, "folder")} | {path: sources[path] for path in ordered}, zipped=True)
