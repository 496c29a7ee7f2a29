"""Folders and zips as a dictionary, relative path -> bytes: read, compared, written."""

import shutil
import zipfile
from pathlib import Path

from autograder.faults import of_system

EXECUTABLE = ("run_autograder", "setup.sh")


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder by relative path, in order, without what running them leaves behind."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    kept = [path for path in paths if not any(part.startswith((".", "__pycache__")) for part in path.parts)]
    return {path.as_posix(): (folder / path).read_bytes() for path in kept}


def differences(right: Path, found: Path) -> list[str]:
    """One line for each file that differs between two folders."""
    wanted, there = contents(right), contents(found) if found.is_dir() else {}
    lines = [f"{name} is missing" for name in wanted if name not in there]
    lines += [f"{name} does not belong there" for name in there if name not in wanted]
    return lines + [f"{name} is out of date" for name in wanted if name in there and wanted[name] != there[name]]


def refresh(wanted: dict[str, bytes], target: Path) -> None:
    """Make the files below `target` these and no others; what is right already is not touched."""
    found = contents(target) if target.is_dir() else {}
    for name in found.keys() - wanted.keys():
        (target / name).unlink()
    for name, data in wanted.items():
        if found.get(name) != data:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(data)


def copy_parts(source: Path, target: Path, parts: tuple[str, ...], ignored: tuple[str, ...]) -> None:
    """Copy some files and folders of a tree, without what has an ignored name.

    Raises CommandError at the first file that cannot be copied.
    """
    for part in parts:
        if (source / part).is_dir():
            ignore = shutil.ignore_patterns(*ignored)
            shutil.copytree(source / part, target / part, ignore=ignore, copy_function=_copy)
        else:
            _copy(str(source / part), str(target / part))


def _copy(source: str, target: str) -> None:
    """Copy a file; what goes wrong is no OSError, since copytree would collect those and go on with the next file."""
    try:
        shutil.copy(source, target)
    except OSError as error:
        raise of_system(error, target) from error


def unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(files: dict[str, bytes], path: Path) -> Path:
    """Write a zip in which nothing depends on when, where and by whom it was made; all of it or nothing."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(unfinished, "w") as archive:
            for name in sorted(files):
                entry = zipfile.ZipInfo(name)
                entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
                entry.external_attr = (0o100755 if name in EXECUTABLE else 0o100644) << 16
                archive.writestr(entry, files[name])
        return unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
