"""Files in folders, on disk or in a zip, seen alike: enough to tell what a path holds without reading any of it.

A Tree lists one level at a time, when first asked, so that what a student has nested a thousand deep is never entered.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from autograder.intake import regular, zips

DEPTH = 20  # folders in folders; what lies deeper is not looked at
LISTED = 50_000  # names in one folder; a class has fewer, an upload far fewer
MEMBERS = 400_000  # files in the zip of a class
JUNK = frozenset(
    {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", ".pytest_cache", ".venv", "venv"}
    | {"checks", "tests"}
)
_NOT_THERE = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR}  # errors that an upload can cause, not the machine


@dataclass(frozen=True)
class Source:
    """A file that has not been read. `problem` is the kind of a Note if it cannot be used ("link", ...), else ""."""

    size: int
    problem: str = ""
    read: Callable[[int], bytes] = field(default=lambda most: b"", repr=False, compare=False)


@dataclass(frozen=True)
class Level:
    """What lies directly in a folder."""

    files: Mapping[str, Source] = field(default_factory=dict)
    folders: Mapping[str, "Tree"] = field(default_factory=dict)


class Tree:
    """A folder. `place` is where it lies on disk; for a folder in a zip, where the zip lies."""

    def __init__(self, name: str, place: Path, listed: Callable[[], Level], zipped: bool = False):
        self.name, self.place, self.zipped = name, place, zipped
        self._listed = listed

    @cached_property
    def _level(self) -> Level:
        return self._listed()

    @property
    def files(self) -> Mapping[str, Source]:
        """The files directly here, links and devices among them. Raises OSError if the folder cannot be read."""
        return self._level.files

    @property
    def folders(self) -> Mapping[str, "Tree"]:
        """The folders directly here. Raises OSError if the folder cannot be read."""
        return self._level.folders

    @property
    def readable(self) -> bool:
        try:
            return self._level is not None
        except OSError:
            return False

    def walk(self) -> Iterator[tuple[str, Source]]:
        """Every file with its path, level by level, without junk; a folder that is too deep is a source with a problem.

        Raises OSError for a folder that cannot be read. Lists as it goes: stop asking, and nothing more is looked at.
        """
        waiting: list[tuple[str, int, Tree]] = [("", 0, self)]
        for above, depth, tree in waiting:
            level = tree._listed() if depth else tree._level  # what lies deeper is not kept in memory
            for name, source in level.files.items():
                if not _junk(name):
                    yield above + name, source
            for name, inner in level.folders.items():
                if name.lower().endswith((".py", ".zip")):
                    yield above + name, Source(0, "folder")
                if depth < DEPTH and not _junk(name):
                    waiting.append((f"{above}{name}/", depth + 1, inner))
                elif not _junk(name):
                    yield above + name, Source(0, "deep")


def _junk(name: str) -> bool:
    return name in JUNK or name.startswith("._")


# On disk


def of_folder(folder: Path, without: str = "") -> Tree:
    """The tree of a folder, but for what is called `without` directly in it."""
    return Tree(folder.absolute().name, folder, partial(_listed, folder, without))


def _listed(folder: Path, without: str = "") -> Level:
    files: dict[str, Source] = {}
    folders: dict[str, Tree] = {}
    try:
        with os.scandir(folder) as entries:
            found = sorted(islice(entries, LISTED), key=lambda entry: entry.name)
            for entry in found:
                if entry.name == without:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders[entry.name] = of_folder(Path(entry.path))
                else:
                    files[entry.name] = _on_disk(Path(entry.path), entry.stat(follow_symlinks=False))
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
    return Level(files, folders)


def _on_disk(path: Path, found: os.stat_result) -> Source:
    if not stat.S_ISREG(found.st_mode):
        return Source(0, "link")
    return Source(found.st_size, "", partial(regular.content, path))


def of_file(path: Path) -> Tree:
    """A tree of one file. A link to it is followed if that is what the user of the command has named."""
    real = Path(os.path.realpath(path))
    return Tree(path.stem, path, partial(Level, {path.name: _on_disk(real, real.lstat())}))


def of_sources(name: str, place: Path, files: Mapping[str, Source]) -> Tree:
    """A tree of files that lie elsewhere."""
    return Tree(name, place, partial(Level, files))


# In a zip


def of_zip(path: Path) -> Tree:
    """The tree of a zip on disk, which stays open.

    Raises OSError, or BadZipError for what is no zip or none that can be trusted.
    """
    return _of_members(regular.opened(Path(os.path.realpath(path))), path.stem, path, MEMBERS)


def of_bytes(data: bytes, place: Path, most: int) -> Tree:
    """The tree of a zip in memory, of at most `most` members. Raises BadZipError."""
    return _of_members(BytesIO(data), place.stem, place, most)


def _of_members(stream: BinaryIO, name: str, place: Path, most: int) -> Tree:
    root = _Folder(name, place)
    for member in zips.members(stream, most):
        folders, last, problem = _parted(member.name)
        inner = root
        for part in folders:
            inner = inner.child(part)
        # Of two members of one name the last counts, as when a zip is unpacked.
        if not member.folder:
            inner.files[last] = Source(member.size, problem or member.problem, member.read)
        elif last:
            inner.child(last)
    return root.tree()


def _parted(name: str) -> tuple[list[str], str, str]:
    """The folders of a member, its name there, and what is wrong with its path; such a path is not taken apart further."""
    parts = name.rstrip("/").split("/")
    if ".." in parts or name.startswith("/"):
        at = parts.index("..") if ".." in parts else 0
        return parts[:at], "/".join(parts[at:]), "outside"
    parts = [part for part in parts if part not in ("", ".")]
    if len(parts) > DEPTH + 10:
        return parts[:DEPTH], "/".join(parts[DEPTH:]), "deep"
    return parts[:-1], parts[-1] if parts else "", ""


@dataclass
class _Folder:
    """A folder of a zip while its members are put where they belong."""

    name: str
    place: Path
    files: dict[str, Source] = field(default_factory=dict)
    folders: dict[str, "_Folder"] = field(default_factory=dict)

    def child(self, name: str) -> "_Folder":
        return self.folders.setdefault(name, _Folder(name, self.place))

    def tree(self) -> Tree:
        return Tree(self.name, self.place, self._level, zipped=True)

    def _level(self) -> Level:
        folders = {name: self.folders[name].tree() for name in sorted(self.folders)}
        return Level({name: self.files[name] for name in sorted(self.files)}, folders)
