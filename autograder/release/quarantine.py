"""An upload out of Otter's reach: moved away from submission/ before it is read, and put back at the end.

Otter runs in submission/: it unpickles `.OTTER_LOG` there, and Python would import an uploaded `random.py` in place of
its own. So the plugin takes everything away first, and leaves there only what Otter itself needs.
"""

import shutil
import stat
import tempfile
from pathlib import Path

from autograder.grading.grader import Result, open_grader
from autograder.intake.reading import read
from autograder.intake.submission import Submission
from autograder.sandbox import sweep
from autograder.sandbox.limits import Limits


class Quarantine:
    """The folder that Otter grades in (submission/ beside source/), and a closed place for the upload in between."""

    def __init__(self, place: Path):
        self.submission, self.source = place / "submission", place / "source"
        self.source.chmod(0o700)  # the zip's wheel has the solutions; student code runs as another user where it can
        self.upload = Path(tempfile.mkdtemp(prefix="upload-", dir=place))

    def grade(self) -> Result:
        """Take the upload away and grade it; then submission/ holds only what Otter needs."""
        try:
            self._take()
            with open_grader() as grader:
                result = grader.grade(self._read(grader.rubric.limits))
            self._furnish()
        except BaseException:
            self.give_back()
            raise
        return result

    def give_back(self) -> None:
        """Put the upload back where it was."""
        if self.upload.is_dir():
            _move_all(self.upload, self.submission)
            self.upload.rmdir()

    def _take(self) -> None:
        """Move everything out of submission/, and drop what Otter has put there itself: it is no work of a student's."""
        _move_all(self.submission, self.upload)
        for own in (*(file.name for file in (self.source / "files").iterdir()), "tests"):
            _remove(self.upload / own)
        marker = self.upload / "__init__.py"
        if marker.is_file() and not marker.is_symlink() and not marker.stat().st_size:
            marker.unlink()

    def _read(self, limits: Limits) -> Submission:
        """The upload: what lies in the folder, or in the one zip in it if Gradescope has not unpacked that."""
        zips = [path for path in self.upload.iterdir() if path.suffix.lower() == ".zip"]
        for path in [path for path in zips if not stat.S_ISREG(path.lstat().st_mode)]:
            _remove(path)  # a link could lead to the kit's wheel, a device has no end
            zips.remove(path)
        submission = read(self.upload, limits)
        if len(zips) == 1 and not any(name.endswith(".py") for name in submission.files):
            return read(zips[0], limits)
        return submission

    def _furnish(self) -> None:
        """Put the driver notebook and the tests, and nothing else, where Otter looks for them."""
        # Emptied first: copying to a name that is a link would write to wherever the link leads.
        for path in list(self.submission.iterdir()):
            _remove(path)
        for notebook in (self.source / "files").glob("*.ipynb"):
            shutil.copy(notebook, self.submission)
        shutil.copytree(self.source / "tests", self.submission / "tests")


def _move_all(source: Path, target: Path) -> None:
    """Move what lies in one folder into another, where it takes the place of things of the same name."""
    for path in list(source.iterdir()):
        _remove(target / path.name)
        shutil.move(path, target / path.name, copy_function=_copy_regular)


def _copy_regular(source: str, target: str) -> None:
    """Where moving must copy, as between two disks: a pipe would never end and is left out; links are never followed."""
    if stat.S_ISREG(Path(source).lstat().st_mode):
        shutil.copy2(source, target, follow_symlinks=False)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        sweep.empty(str(path))  # a student's folder may be deeper than rmtree can go
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
