"""The names below a folder, or below a folder in a zip: enough to see what a path holds without reading it."""

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from autograder.intake.entries import Source, archive
from autograder.intake.submission import JUNK

BROKEN_ZIP = (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError)


@dataclass(frozen=True)
class Tree:
    """`files` maps names, relative and with slashes, to names in the zip ("" in a real folder); `inner` are
    the folders at any depth, also empty ones; `unreadable` those directly below that could not be looked
    into.
    """

    place: Path
    name: str
    files: Mapping[str, str]
    inner: tuple[str, ...]
    unreadable: frozenset[str] = frozenset()
    zipped: bool = False

    @cached_property
    def folders(self) -> list[str]:
        """The folders directly below."""
        return sorted({name.split("/")[0] for name in self.inner})

    @property
    def loose(self) -> list[str]:
        """The files that lie directly here."""
        return [name for name in self.files if "/" not in name]

    def below(self, folder: str) -> "Tree":
        """The tree of a folder that lies directly here."""
        files, inner = self._parts.get(folder, ({}, []))
        place = self.place if self.zipped else self.place / folder
        hidden = frozenset({""}) if folder in self.unreadable else frozenset[str]()
        return Tree(place, folder, files, tuple(inner), hidden, self.zipped)

    @cached_property
    def _parts(self) -> dict[str, tuple[dict[str, str], list[str]]]:
        """Files and folders by the folder directly below that they lie in."""
        parts: dict[str, tuple[dict[str, str], list[str]]] = {}
        for name, member in self.files.items():
            top, _, rest = name.partition("/")
            if rest:
                parts.setdefault(top, ({}, []))[0][rest] = member
        for name in self.inner:
            top, _, rest = name.partition("/")
            if rest:
                parts.setdefault(top, ({}, []))[1].append(rest)
        return parts

    def sources(self) -> tuple[Source, ...]:
        """All that lies here, as the sources of one submission."""
        if not self.zipped:
            return (Source(self.place),)
        return tuple(Source(self.place, name, member) for name, member in self.files.items())

    def work(self) -> tuple[Source, ...]:
        """The sources of the submission here: zips, where there is nothing else to grade, else everything."""
        zips = [name for name in self.loose if name.lower().endswith(".zip")]
        if zips and not any(name.endswith(".py") for name in self.files):
            return tuple(self.source(name) for name in zips)
        return self.sources()

    def source(self, name: str, called: str = "") -> Source:
        """One file of this tree, called otherwise in the submission if `called` is given."""
        place = self.place if self.zipped else self.place / name
        return Source(place, called or PurePosixPath(name).name, self.files[name])


def of_folder(folder: Path, without: Path | None = None) -> Tree:
    """The tree of a folder, but for the folder `without` if that lies directly in it.

    Raises OSError if the folder itself cannot be read.
    """
    skipped = without.name if without and without.resolve().parent == folder.resolve() else None
    wanted = (entry for entry in os.scandir(folder) if not _junk(entry.name) and entry.name != skipped)
    direct = sorted(wanted, key=lambda entry: entry.name)
    files = {entry.name: "" for entry in direct if not entry.is_dir()}
    inner, unreadable = [], set()
    for child in (entry.name for entry in direct if entry.is_dir()):
        closed: list[OSError] = []
        for place, folders, names in os.walk(folder / child, onerror=closed.append):
            folders[:] = sorted(name for name in folders if not _junk(name))
            here = Path(place).relative_to(folder).as_posix()
            inner.append(here)
            files.update((f"{here}/{name}", "") for name in sorted(names) if not _junk(name))
        if closed:
            unreadable.add(child)
            inner.append(child)
    return Tree(folder, folder.absolute().name, files, tuple(inner), frozenset(unreadable))


def of_zip(path: Path) -> Tree | None:
    """None if it is no zip that can be opened.

    Raises OSError if it cannot be read.
    """
    try:
        members = [info.filename for info in archive(path).infolist()]
    except BROKEN_ZIP:
        return None
    files: dict[str, str] = {}
    inner: dict[str, None] = {}
    for member in members:
        *folders, name = member.replace("\\", "/").removeprefix("./").split("/")
        if not any(_junk(part) for part in (*folders, name)):
            inner.update(dict.fromkeys("/".join(folders[: depth + 1]) for depth in range(len(folders))))
            if name:
                files["/".join((*folders, name))] = member
    return Tree(path, path.stem, files, tuple(inner), zipped=True)


def _junk(name: str) -> bool:
    return name in JUNK - {"checks"} or (name.startswith(".") and name not in (".", ".."))
