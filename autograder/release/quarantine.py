"""The upload out of Otter's reach, from before Otter starts until it has ended.

Otter works in submission/ long before it asks a plugin: it copies the zip's files over what was uploaded, also through links,
makes an `__init__.py`, and refuses two notebooks. Later it unpickles `.OTTER_LOG`, and Python would import an uploaded
`random.py` in place of its own. So the zip's run_otter.py first moves everything into a closed folder, and Otter finds
submission/ empty.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from autograder.faults import CommandError
from autograder.grading.grader import Result, open_grader
from autograder.intake.submission import read
from autograder.sandbox import sweep

UPLOAD = "upload"  # the closed folder, beside submission/ and source/


@contextlib.contextmanager
def quarantined(place: Path) -> Iterator[None]:
    """While this lasts, Otter can run in `place`; afterwards the upload lies where it was, so that it can be graded again."""
    # First of all, so that a fault cannot leave the result of an earlier run to be taken for this one's.
    (place / "results" / "results.json").unlink(missing_ok=True)
    _take(place)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # there is a result, or a fault that says more
            sweep.empty(str(place / "submission"))
            _move(list((place / UPLOAD).iterdir()), place / "submission")
            (place / UPLOAD).rmdir()


def grade(place: Path, otter_run: bool) -> Result:
    """Grade what was uploaded to `place`.

    Raises CommandError where Otter has had the upload before the kit. With `otter_run` it may, since it has unpacked a zip
    with Python's zipfile, which makes no links: only then what Otter has put there itself is left out.
    """
    if otter_run:
        _take(place, {*os.listdir(place / "source" / "files"), "tests", "__init__.py"})
    elif not (place / UPLOAD).is_dir():
        raise CommandError("the zip has another run_otter.py than the kit's; build it again with the kit's own Otter")
    with open_grader() as grader:
        return grader.grade(read(place / UPLOAD, grader.rubric.limits))


def _take(place: Path, left: Collection[str] = ()) -> None:
    """Move what lies in submission/ into the closed folder, except for some names."""
    for with_the_wheel in ("source", "submission"):  # student code runs as another user where it can
        (place / with_the_wheel).chmod(0o700)
    (place / UPLOAD).mkdir(mode=0o700)
    _move([path for path in (place / "submission").iterdir() if path.name not in left], place / UPLOAD)


def _move(paths: list[Path], folder: Path) -> None:
    for path in paths:
        shutil.move(path, folder / path.name, copy_function=_copy_regular)


def _copy_regular(source: str, target: str) -> None:
    """Where moving must copy, as between two disks: a pipe would never end and is left out; links are never followed."""
    if stat.S_ISREG(Path(source).lstat().st_mode):
        shutil.copy2(source, target, follow_symlinks=False)
