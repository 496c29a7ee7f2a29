"""The folder of one sandbox, on the grader's side, and the files that a student's process may read.

<folder>/submission     the uploaded files: one copy, read-only for all processes of the submission
<folder>/tmp/own        the temporary folder of the current process, new for each process
<folder>/view           a readable copy of the interpreter's files, if another user cannot reach them
"""

import contextlib
import os
import shutil
import site
import socket
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from autograder.sandbox import workspace
from autograder.sandbox.layers import user

PACKAGE = Path(__file__).resolve().parents[1]
_NOT_NEEDED = shutil.ignore_patterns(
    *("site-packages", "dist-packages", "test", "tests", "*.so", "*.a", "*.opt-1.pyc", "*.opt-2.pyc", "*.pyd")
)


class Folder:
    """The folder of a sandbox, and the users of its processes if the grader is root.

    `uid` is the user of the processes, and `group` their group, which may read the submission; both are 0 if they keep the
    grader's user.
    """

    def __init__(self, own_users: bool):
        self.uid, self.group = 0, 0
        self._mark: socket.socket | None = None  # marks the users as used
        if own_users:
            self.uid, self._mark = user.claimed()
            self.group = self.uid + 1
        self.path = Path(tempfile.mkdtemp(prefix="autograder-", dir=_place(own_users)))
        self.path.chmod(0o711 if own_users else 0o700)  # others may enter, but not list
        self.submission = self.path / "submission"
        self.submission.mkdir()
        self._open(self.submission, 0o750)
        self.writable = self.path / "tmp"  # Landlock's rules refer to it for all processes
        self.writable.mkdir()
        self.writable.chmod(0o711 if own_users else 0o700)
        self.lines: dict[str, int] = {}
        self.view = _open_view(self.path) if own_users else ""

    def place(self, files: Mapping[str, bytes]) -> None:
        """Write a submission where its processes read it, replacing the previous one."""
        with contextlib.suppress(OSError):
            self.submission.chmod(0o700)  # a student process with our user may have removed our access
        workspace.empty(str(self.submission))
        self.lines = {}
        for name, content in files.items():
            target = self.submission / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            self.lines[target.name] = max(self.lines.get(target.name, 0), content.count(b"\n") + 1)
        for path in (*self.submission.rglob("*"), self.submission):
            self._open(path, 0o750 if path.is_dir() else 0o640)

    def _open(self, path: Path, mode: int) -> None:
        """Let the processes read a file or folder."""
        path.chmod(mode)
        if self.group:
            os.chown(path, -1, self.group)

    def remove(self) -> None:
        """Remove everything, and release the users."""
        with contextlib.suppress(OSError):
            self.path.chmod(0o700)  # a student process with our user may have removed our access
        workspace.empty(str(self.path))
        with contextlib.suppress(OSError):
            self.path.rmdir()
        if self._mark is not None:
            self._mark.close()


def _place(own_users: bool) -> str:
    """The folder for temporary folders: the usual one, or another that the students' users can reach.

    Raises OSError if there is none.
    """
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp") if own_users else (tempfile.gettempdir(),):
        if os.path.isdir(place) and (not own_users or reachable(Path(place).resolve())):
            return place
    raise OSError(f"other users cannot access {tempfile.gettempdir()}: set TMPDIR to a folder that all users can enter")


def closed_places(secret: Iterable[Path]) -> list[str]:
    """The places inside readable folders that a student process must not read: the kit and other packages."""
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    schemes = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()]
    return sorted({str(path.resolve()) for path in (*map(Path, (*packages, *schemes)), PACKAGE, *secret)})


def reachable(path: Path) -> bool:
    """Whether every user may enter a folder."""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (path, *path.parents))


def readable_by_others(path: Path) -> bool:
    """Whether every user may reach and read a path."""
    return bool(path.stat().st_mode & (stat.S_IROTH | stat.S_IXOTH)) and reachable(path.parent)


def _open_view(folder: Path) -> str:
    """A readable copy of the interpreter's Python files, if another user cannot reach the real ones; else ""."""
    numpy_folder, stdlib = Path(np.__file__).parent, Path(os.__file__).parent
    if all(reachable(path.resolve()) for path in (numpy_folder, stdlib)):
        return ""
    view = folder / "view"
    view.mkdir()
    for source, name in ((stdlib, "stdlib"), (numpy_folder, "numpy")):
        shutil.copytree(source, view / name, symlinks=False, ignore=_NOT_NEEDED, copy_function=_link)
    view.chmod(0o755)
    for place, folders, _ in os.walk(view):
        for inner in folders:
            os.chmod(os.path.join(place, inner), 0o755)
    return str(view)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        return  # removed since it was listed
    except OSError:
        shutil.copy2(source, target)
