"""The names below a folder, or below a folder in a zip: enough to see what a path holds without reading it."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.entries import Source, archive
from autograder.submission import JUNK

BROKEN_ZIP = (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError)


@dataclass(frozen=True)
class Tree:
    """`files` maps names, relative and with slashes, to names in the zip ("" in a real folder). `folders` are the folders
    directly below, also empty ones; `unreadable` those of them that could not be looked into."""

    place: Path
    name: str
    files: Mapping[str, str]
    folders: tuple[str, ...]
    unreadable: frozenset[str] = frozenset()
    zipped: bool = False

    @property
    def loose(self) -> list[str]:
        """The files that lie directly here."""
        return [name for name in self.files if "/" not in name]

    def below(self, folder: str) -> "Tree":
        """The tree of a folder that lies directly here."""
        start = folder + "/"
        files = {name[len(start) :]: member for name, member in self.files.items() if name.startswith(start)}
        folders = dict.fromkeys(name.split("/")[0] for name in files if "/" in name)
        place = self.place if self.zipped else self.place / folder
        hidden = frozenset({""}) if folder in self.unreadable else frozenset()
        return Tree(place, folder, files, tuple(folders), hidden, self.zipped)

    def sources(self) -> tuple[Source, ...]:
        """All that lies here, as the sources of one submission."""
        if not self.zipped:
            return (Source(self.place),)
        return tuple(Source(self.place, name, member) for name, member in self.files.items())

    def work(self) -> tuple[Source, ...]:
        """The sources of the submission here: zips stand for their folder where there is nothing else to grade."""
        zips = [name for name in self.loose if name.lower().endswith(".zip")]
        if zips and not any(name.endswith(".py") for name in self.files):
            return tuple(self.source(name) for name in zips)
        return self.sources()

    def source(self, name: str, called: str = "") -> Source:
        """One file of this tree, called otherwise in the submission if `called` is given."""
        place = self.place if self.zipped else self.place / name
        return Source(place, called or PurePosixPath(name).name, self.files[name])


def of_folder(folder: Path) -> Tree:
    """Raises OSError if the folder itself cannot be read."""
    inside = sorted((entry for entry in os.scandir(folder) if not _junk(entry.name)), key=lambda entry: entry.name)
    files = {entry.name: "" for entry in inside if not entry.is_dir()}
    folders = [entry.name for entry in inside if entry.is_dir()]
    closed: list[OSError] = []
    unreadable = set()
    for name in folders:
        files.update(dict.fromkeys(_names(folder, name, closed), ""))
        if closed:
            unreadable.add(name)
            closed.clear()
    return Tree(folder, folder.absolute().name, files, tuple(folders), frozenset(unreadable))


def _names(folder: Path, child: str, closed: list[OSError]) -> Iterator[str]:
    for place, folders, names in os.walk(folder / child, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not _junk(name))
        yield from (Path(place, name).relative_to(folder).as_posix() for name in sorted(names) if not _junk(name))


def of_zip(path: Path) -> Tree | None:
    """None if it is no zip that can be opened.

    Raises OSError if it cannot be read.
    """
    try:
        members = [info.filename for info in archive(path).infolist()]
    except BROKEN_ZIP:
        return None
    files = {}
    folders = {}
    for member in members:
        name = member.replace("\\", "/").removeprefix("./")
        if any(_junk(part) for part in name.split("/")):
            continue
        if "/" in name:
            folders[name.split("/")[0]] = None
        if not name.endswith("/"):
            files[name] = member
    return Tree(path, path.stem, files, tuple(sorted(folders)), zipped=True)


def _junk(name: str) -> bool:
    return name in JUNK - {"checks"} or name.startswith("._")
