"""An upload as a flat listing, path by path, whether it lies in a folder or in a zip: enough to tell what it is, unread.

A folder has an entry of its own, with a slash at the end, so that an empty one is seen. What is nested too deep is not entered.
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
MEMBERS = 400_000  # names in the folder or zip of a class
JUNK = frozenset(
    {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", ".pytest_cache", ".venv", "venv"}
    | {"checks", "tests"}
)
_NOT_THERE = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR}  # errors that an upload can cause, not the machine


@dataclass(frozen=True)
class Source:
    """A file that has not been read. `problem` is the kind of a Note if it cannot be used ("link", ...), else "".

    For the entry of a folder it is "folder", "deep", or "closed": then `read` raises the OSError that kept it from being listed;
    that of the whole is "many" where not everything is in the listing.
    """

    size: int
    problem: str = ""
    read: Callable[[int], bytes] = field(default=lambda most: b"", repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Tree:
    """A folder. `place` is where it lies on disk; for a folder in a zip, where the zip lies. `sources` has "" for itself."""

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
        """The files directly here, links and devices among them, and those whose path leads out."""
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
        """Every file with its path, level by level, without junk; so is a folder with a problem, or named like a file."""
        for path, source in self.sources.items():
            named = path.removesuffix("/")
            usual = source.problem == "folder" and not named.lower().endswith((".py", ".zip"))
            if not usual and not any(map(_junk, named.split("/"))):
                yield named, source


def _junk(name: str) -> bool:
    return name in JUNK or name.startswith("._")


# On disk


def of_folder(folder: Path, most: int = MEMBERS) -> Tree:
    """The tree of a folder, up to `most` names."""
    sources: dict[str, Source] = {"": Source(0, "folder")}
    waiting = [("", folder)]
    for above, place in waiting:
        try:
            found = _listed(place)
        except OSError as error:
            if error.errno not in _NOT_THERE:
                sources[above] = Source(0, "closed", partial(_refused, error))
            continue
        for name, source in found.items():
            if len(sources) > most:
                sources[""] = Source(0, "many")
                break
            deep = source.problem == "folder" and above.count("/") >= DEPTH
            sources[above + name] = Source(0, "deep") if deep else source
            if source.problem == "folder" and not deep and not _junk(name.removesuffix("/")):
                waiting.append((above + name, place / name))
    return Tree(folder.absolute().name, folder, sources)


def _listed(folder: Path) -> dict[str, Source]:
    """The files and folders directly in a folder. Raises OSError."""
    with os.scandir(folder) as entries:
        found = sorted(islice(entries, LISTED), key=lambda entry: entry.name)
    folders = {f"{entry.name}/" for entry in found if entry.is_dir(follow_symlinks=False)}
    files = {
        e.name: _on_disk(Path(e.path), e.stat(follow_symlinks=False)) for e in found if f"{e.name}/" not in folders
    }
    return files | {name: Source(0, "folder") for name in sorted(folders)}


def _refused(error: OSError, most: int) -> bytes:
    raise error


def _on_disk(path: Path, found: os.stat_result) -> Source:
    if not stat.S_ISREG(found.st_mode):
        return Source(0, "link")
    return Source(found.st_size, "", partial(regular.content, path))


def of_file(path: Path) -> Tree:
    """A tree of one file. A link to it is followed if that is what the user of the command has named."""
    real = Path(os.path.realpath(path))
    return Tree(path.stem, path, {path.name: _on_disk(real, real.lstat())})


# In a zip


def of_zip(path: Path) -> Tree:
    """The tree of a zip on disk, which stays open.

    Raises OSError, or BadZipError for what is no zip or none that can be trusted.
    """
    return _of_members(regular.opened(Path(os.path.realpath(path))), path, MEMBERS)


def of_bytes(data: bytes, place: Path, most: int) -> Tree:
    """The tree of a zip in memory, of at most `most` members. Raises BadZipError."""
    return _of_members(BytesIO(data), place, most)


def _of_members(stream: BinaryIO, place: Path, most: int) -> Tree:
    sources: dict[str, Source] = {}
    for member in zips.members(stream, most):
        parts = member.name.removesuffix("/").split("/")
        if ".." in parts or member.name.startswith("/"):
            sources[member.name] = Source(member.size, "outside", member.read)
            continue
        parts = [part for part in parts if part not in ("", ".")]
        folders = parts if member.folder else parts[:-1]
        sources |= {
            "/".join([*folders[:depth], ""]): Source(0, "folder") for depth in range(1, min(len(folders), DEPTH) + 1)
        }
        if len(folders) > DEPTH:
            sources["/".join([*folders[: DEPTH + 1], ""])] = Source(0, "deep")
        elif not member.folder and parts:  # of two members of one name the last counts, as when a zip is unpacked
            sources["/".join(parts)] = Source(member.size, member.problem, member.read)
    ordered = sorted(sources, key=lambda path: (path.removesuffix("/").count("/"), path.split("/")))
    return Tree(place.stem, place, {"": Source(0, "folder")} | {path: sources[path] for path in ordered}, zipped=True)
