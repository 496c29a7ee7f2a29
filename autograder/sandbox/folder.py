"""Where a submission lies while it is graded: a folder of its own, and a user of its own where the grader is root."""

import contextlib
import itertools
import os
import shutil
import site
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from autograder.homework import kit
from autograder.sandbox import sweep
from autograder.sandbox.confine import OTHERS

_slots = itertools.count()


class Folder:
    """`files` holds the submission, read-only; `temporary` is made anew for every student process."""

    def __init__(self, own_user: bool):
        self.uid = _free_uid() if own_user else 0
        self.path = Path(tempfile.mkdtemp(prefix="autograder-", dir=_place(own_user)))
        self.files, self.temporary = self.path / "files", self.path / "tmp" / "own"
        self.lines: dict[str, int] = {}
        self.path.chmod(0o711 if self.uid else 0o700)
        for folder, mode in ((self.files, 0o750), (self.temporary.parent, 0o711)):
            folder.mkdir()
            folder.chmod(mode)
        if self.uid:
            os.chown(self.files, -1, self.uid)
        self.view = _open_view(self.path) if self.uid else ""

    def place(self, files: Mapping[str, bytes]) -> None:
        """Put a submission where its process reads it, in place of the one before."""
        sweep.empty(str(self.files))
        self.lines = {}
        for name, content in files.items():
            target = self.files / name
            self._make(target.parent)
            target.write_bytes(content)
            target.chmod(0o644)
            self.lines[target.name] = max(self.lines.get(target.name, 0), content.count(b"\n") + 1)

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make(folder.parent)
            folder.mkdir()
            folder.chmod(0o755)

    def used(self) -> float:
        """Bytes in the temporary folder."""
        return sweep.usage(str(self.temporary.parent))

    def clear(self) -> None:
        """Leave nothing of the process before in the temporary folder."""
        sweep.empty(str(self.temporary.parent))

    def renew(self) -> None:
        """A temporary folder for the next process."""
        self.clear()
        self.temporary.mkdir()
        self.temporary.chmod(0o700)
        if self.uid:
            os.chown(self.temporary, self.uid, self.uid)
        for file in self.files.iterdir():  # data that code opens by its bare name
            if file.is_file() and file.suffix != ".py":
                shutil.copy(file, self.temporary)

    def remove(self) -> None:
        if self.path.is_dir():
            with contextlib.suppress(OSError):
                self.path.chmod(0o700)  # the student's user may be ours, and have closed it
            sweep.empty(str(self.path))
            with contextlib.suppress(OSError):
                self.path.rmdir()


def _place(own_user: bool) -> str:
    """Where temporary folders go: the usual place, or another one that the student's user can get to.

    Raises OSError where there is none.
    """
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp") if own_user else (tempfile.gettempdir(),):
        if os.path.isdir(place) and (not own_user or _reachable(Path(place).resolve())):
            return place
    raise OSError(f"other users cannot get to {tempfile.gettempdir()}: set TMPDIR to a folder that all may enter")


def _free_uid() -> int:
    """A number that no user of this machine has, another for each sandbox."""
    import pwd

    first, last = OTHERS
    for number in itertools.count(os.getpid() + 7919 * next(_slots)):
        uid = first + number % (last - first + 1)
        try:
            pwd.getpwuid(uid)
        except KeyError:
            return uid
    raise AssertionError("numbers do not end")


def holes() -> list[str]:
    """What no student process may read although it may lie among things that it may: the kit and other packages."""
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    schemes = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return sorted({str(Path(path).resolve()) for path in (*packages, *schemes, str(kit.PACKAGE), str(kit.home()))})


def _open_view(folder: Path) -> str:
    """A readable copy of the interpreter's Python files, where another user cannot reach the real ones; else ""."""
    numpy_folder, stdlib = Path(np.__file__).parent, Path(os.__file__).parent
    if all(_reachable(path.resolve()) for path in (numpy_folder, stdlib)):
        return ""
    view = folder / "view"
    view.mkdir()
    for source, name in ((stdlib, "stdlib"), (numpy_folder, "numpy")):
        shutil.copytree(source, view / name, ignore=_not_needed, copy_function=_link, symlinks=False)
    view.chmod(0o755)
    for place, folders, _ in os.walk(view):
        for inner in folders:
            os.chmod(os.path.join(place, inner), 0o755)
    return str(view)


def _reachable(path: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (path, *path.parents))


def _not_needed(_: str, names: list[str]) -> list[str]:
    skipped = {"site-packages", "dist-packages", "test", "tests"}
    return [n for n in names if n in skipped or n.endswith((".so", ".a", ".opt-1.pyc", ".opt-2.pyc", ".pyd"))]


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
