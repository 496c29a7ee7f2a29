"""An upload as a tree of folders, in a folder or a zip; nothing is unpacked to disk.

A folder is listed when it is looked at, so that the names in one upload cost no other upload anything. Deeply nested folders
are not listed.
"""

import errno
import os
import stat
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from autograder.exceptions import UnusableError

DEPTH = 20  # depth of folders
MOST_NAMES = 100_000  # names looked at in one upload
# Files of operating systems and tools, which are skipped silently.
LITTER = frozenset(
    {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", ".pytest_cache", "Thumbs.db", "desktop.ini"}
)
JUNK = LITTER | {".venv", "venv", "checks", "tests"}
# Opening a named pipe must not block, and a terminal must not become the controlling terminal.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_NOT_THERE = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR}  # errors that an upload can cause, not the machine
_UTF8, _ENCRYPTED = 0x800, 0x1  # flags of a zip's member


@dataclass(frozen=True)
class Source:
    """An unread file. `problem` is the kind of a Note if it cannot be used ("link", ...), else "".

    For a folder, `problem` is "folder", "deep", "many" if it has too many names, or "closed" if listing it raised `error`.
    """

    size: int
    problem: str = ""
    read: Callable[[int], bytes] = field(default=lambda most: b"", repr=False, compare=False)
    error: OSError | None = None


FOLDER, MANY = Source(0, "folder"), Source(0, "many")
Contents = tuple[Mapping[str, Source], Mapping[str, "Tree"]]  # files and folders by name


@dataclass(frozen=True, eq=False)
class Tree:
    """A folder. `path` is its path on disk or, for a folder in a zip, that of the zip.

    `contents` returns at most `most` names, or one more; all of them if it is None. It may raise OSError.
    """

    name: str
    path: Path
    contents: Callable[[int | None], Contents]
    zipped: bool = False
    most: int | None = MOST_NAMES
    depth: int = 0

    @cached_property
    def _listed(self) -> tuple[Contents, Source]:
        """The contents, and the folder itself as a Source."""
        if self.depth > DEPTH:
            return ({}, {}), Source(0, "deep")
        try:
            files, folders = self.contents(self.most)
        except OSError as error:
            return ({}, {}), FOLDER if error.errno in _NOT_THERE else Source(0, "closed", error=error)
        is_many = self.most is not None and len(files) + len(folders) > self.most
        return (({}, {}), MANY) if is_many else ((files, folders), FOLDER)

    @property
    def files(self) -> Mapping[str, Source]:
        """The files directly here, including links, devices and files whose path leads outside."""
        return self._listed[0][0]

    @property
    def folders(self) -> Mapping[str, "Tree"]:
        """The folders directly here."""
        return self._listed[0][1]

    @property
    def itself(self) -> Source:
        """The folder as a Source, with its problem."""
        return self._listed[1]

    def walk(self, most: int = MOST_NAMES) -> Iterator[tuple[str, Source]]:
        """Every file with its path, level by level, without junk; also folders with a problem, or named like a file.

        After `most` names there is only one more, "" with the problem "many".
        """
        waiting, remaining = deque([("", self)]), most
        while waiting:
            above, folder = waiting.popleft()
            if folder.itself.problem != "folder" or above.lower().endswith((".py/", ".zip/")):
                yield above.removesuffix("/"), folder.itself
            inside: list[tuple[str, Source | Tree]] = [*folder.files.items(), *folder.folders.items()]
            for name, inner in inside:
                remaining -= 1
                if remaining < 0:
                    yield "", MANY
                    return
                if any(map(is_junk, name.split("/"))):
                    continue
                if isinstance(inner, Tree):
                    waiting.append((f"{above}{name}/", inner))
                else:
                    yield above + name, inner


def is_junk(name: str) -> bool:
    return name in JUNK or is_litter(name)


def is_litter(name: str) -> bool:
    return name in LITTER or name.startswith("._")


def of_sources(
    name: str, path: Path, sources: Callable[[], Iterable[tuple[str, Source]]], zipped: bool = False
) -> Tree:
    """Return the tree of files with their paths; `sources` is called when the tree is looked at.

    A path with a slash at the end is a folder. The last of equal paths counts.
    """

    def contents(most: int | None) -> Contents:
        root: Node = {}
        for file, source in sources():
            parts = [step for step in file.split("/") if step not in ("", ".")]
            if file.startswith("/") or ".." in parts or not file:
                root[file] = source  # it leads outside, or stands for too many names
                continue
            folders = parts if file.endswith("/") else parts[:-1]
            node = root
            for step in folders[: DEPTH + 1]:
                node = node.setdefault(f"{step}/", {})
            if len(folders) < min(len(parts), DEPTH + 1):
                node[parts[-1]] = source
        return _of_node(root, name, path, zipped, 0).contents(most)

    return Tree(name, path, contents, zipped)


Node = dict[str, Any]  # in a folder: its folders, with a slash at the end of the name, and its files


def _of_node(node: Node, name: str, path: Path, zipped: bool, depth: int) -> Tree:
    def contents(most: int | None) -> Contents:
        files, folders = dict[str, Source](), dict[str, Tree]()
        for inner, item in sorted(node.items()):
            if isinstance(item, dict):
                below = path if zipped else path / inner
                folders[inner[:-1]] = _of_node(item, inner[:-1], below, zipped, depth + 1)
            else:
                files[inner] = item
        return files, folders

    return Tree(name, path, contents, zipped, depth=depth)


# On disk. An unpacked upload may contain links to other students' files, endless devices and pipes without a writer: no link is
# followed, nothing blocks, and only regular files are read.


def of_folder(folder: Path, depth: int = 0) -> Tree:
    def contents(most: int | None) -> Contents:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, None if most is None else most + 1), key=lambda entry: entry.name)
        folders = {entry.name for entry in listed if entry.is_dir(follow_symlinks=False)}
        plain = [entry for entry in listed if entry.name not in folders]
        files = {entry.name: _on_disk(Path(entry), entry.stat(follow_symlinks=False)) for entry in plain}
        return files, {name: of_folder(folder / name, depth + 1) for name in sorted(folders)}

    return Tree(folder.absolute().name, folder, contents, depth=depth)


def of_file(path: Path) -> Tree:
    """Return a tree of one file. A link is followed if the command names it."""
    real = Path(os.path.realpath(path))
    source = _on_disk(real, real.lstat())  # raises OSError now
    return of_sources(path.stem, path, {path.name: source}.items)


def _on_disk(path: Path, status: os.stat_result) -> Source:
    is_regular = stat.S_ISREG(status.st_mode)
    return Source(status.st_size, "", partial(content, path)) if is_regular else Source(0, "link")


def content(path: Path, most: int) -> bytes:
    """Return the first `most` bytes of a regular file.

    Raises UnusableError for anything else, and OSError if it cannot be read or has a second name: an upload has none, and the
    other name may be of a file that its student cannot read.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnusableError("link", path) from None
        raise
    status = os.fstat(descriptor)
    is_regular = stat.S_ISREG(status.st_mode)
    if not is_regular or status.st_nlink > 1:
        os.close(descriptor)
        if is_regular:
            raise OSError(
                errno.EMLINK, f"{path.name} is a hard link, perhaps to another's file; grade a copy of the folder"
            )
        raise UnusableError("link", path)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


# In a zip. Nothing is decompressed beyond the size that a member declares, which the limits of an upload bound.


def of_zip(path: Path, data: bytes | None = None, most: int | None = None) -> Tree:
    """Return the tree of a zip: of the `data` in memory, with at most `most` members, or else of the file, which stays open.

    Raises OSError, or UnusableError if it is not a zip or cannot be trusted.
    """
    if data is not None and most is not None and data.count(b"PK\1\2") > most:  # before zipfile makes an object of each
        raise UnusableError("zip_many")
    try:
        archive = zipfile.ZipFile(path if data is None else BytesIO(data))
    except OSError:
        raise
    except Exception:  # a crafted zip can raise anything: struct.error, ValueError, RuntimeError ...
        raise UnusableError("no_zip") from None
    return of_sources(path.stem, path, lambda: (_member(archive, member) for member in archive.infolist()), zipped=True)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[str, Source]:
    """Return the member's path and the member.

    The path is decoded by its flag, else as UTF-8, which many programs write without the flag, else as cp437, like
    zipfile. Backslashes, from some Windows programs, become slashes.
    """
    path, mode, problem = member.filename, member.external_attr >> 16, ""
    if not member.flag_bits & _UTF8:
        with suppress(UnicodeError):
            path = path.encode("cp437").decode("utf-8")
    path = path.replace("\\", "/")
    if path.startswith("/") or ".." in path.split("/"):
        problem = "outside"
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        problem = "link"
    elif member.flag_bits & _ENCRYPTED:
        problem = "encrypted"
    elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = "compression"
    return path, Source(member.file_size, problem, partial(_decompressed, archive, member))


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
