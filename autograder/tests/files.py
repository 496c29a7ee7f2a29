"""Writes the files of an upload to a folder or a zip. Also has an object that must never be unpickled, and Python's messages."""

import csv
import io
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autograder.homework.homework import PACKAGE, Homework

Files = Mapping[str, str | bytes]
HOMEWORK = Homework()
KMEANS = PACKAGE / "tests" / "homeworks" / "kmeans"


def python_says(code: str) -> str:
    """The message of this version of Python about code that fails."""
    try:
        exec(code, {"np": np})
    except Exception as error:
        return str(error.msg if isinstance(error, SyntaxError) else error)
    raise AssertionError(f"{code!r} does not fail")


def put(place: Path, files: Files) -> Path:
    """Write files to a folder, which is created if necessary, or to a zip or wheel, according to the suffix.

    A name that ends with a slash creates an empty folder.
    """
    if place.suffix.lower() in (".zip", ".whl"):
        place.write_bytes(zipped(files))
        return place
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        target = place / name
        if name.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def clone(root: Path) -> Path:
    """Copy the repository without its tests and files of an instructor's runs."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "tests", "dist")
    return shutil.copytree(HOMEWORK.folder, root, ignore=ignored, copy_function=shutil.copy)


def kmeans(folder: Path) -> Path:
    """Write a homework on k-means to a new folder."""
    from autograder.release import drafts

    folder = drafts.new_homework(folder, "kmeans").resolve()
    (folder / "grading" / "misconceptions" / "kmeans" / "kmeans.py").unlink()  # for the draft's only function
    return shutil.copytree(KMEANS, folder, dirs_exist_ok=True)


def zipped(files: Files, method: int = zipfile.ZIP_STORED) -> bytes:
    """The bytes of a zip of these files; a name that ends with a slash is a folder."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def table_of(path: Path, column: str) -> dict[str, dict[str, str]]:
    """The rows of a CSV file, by the value of a column."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row[column]: row for row in csv.DictReader(file)}


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def put_special(place: Path, kind: str, target: Path) -> None:
    """Create something other than a file: a link to the target, a link to a device, a pipe or a folder."""
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(target if kind == "link" else "/dev/zero")


@dataclass(frozen=True)
class Built:
    """The output of `autograder build`: zips, assignments/, the student folder, and the kit's wheel as if installed."""

    zip: Path
    student_zip: Path
    assignments: Path
    student: Path
    installed: Path


class Bomb:
    """Creates the file `mark` when it is unpickled."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)
