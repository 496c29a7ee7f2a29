"""The sandbox of one grader: it runs submissions one after another, each in a sequence of processes.

A `Sandbox` has one fork server and one folder. Whatever student code does, a request ends in a `Response`; only an
error of the machine raises SandboxError.

<folder>/submission     the uploaded files: one copy, read-only for all processes of the submission
<folder>/tmp/own        the temporary folder of the current process, new for each process
<folder>/view           a readable copy of the interpreter's files, if another user cannot reach them
"""

import atexit
import contextlib
import json
import marshal
import os
import re
import shutil
import site
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from autograder.exceptions import NO_ROOM, SandboxError, of_system
from autograder.sandbox import layers, wire, workspace
from autograder.sandbox.layers import Confinement, kernel
from autograder.sandbox.process import Budget, Limits, StudentProcess, container_memory
from autograder.sandbox.server import LIBRARIES, MAX_MESSAGE, RARE_EXTENSIONS

_START = """
import json, marshal, os, sys
from importlib.machinery import ModuleSpec
if (version := sys.version.split()[0]) != sys.argv[4]:
    sys.exit(f"it loads the library of Python {version}, not of {sys.argv[4]}; set LD_LIBRARY_PATH to the folder of the right one")
sys.path[:0] = json.loads(sys.argv[3])
import numpy
essential = frozenset(sys.modules).union(sys.builtin_module_names)  # before anything that only the server needs
class Kit:  # imports the kit from code without the kit's path
    code = marshal.load(sys.stdin.buffer)
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Kit, is_package=Kit.code[name][0]) if name in Kit.code else None
    def create_module(spec):
        return None
    def exec_module(module):
        exec(Kit.code[module.__name__][1], vars(module))
sys.meta_path.insert(0, Kit)
from autograder.sandbox.server import main
del sys.meta_path[0]
session = main(essential)
try:
    session()
finally:
    os._exit(1)
"""
PACKAGE = Path(__file__).resolve().parents[1]
_NOT_NEEDED = shutil.ignore_patterns(
    *("site-packages", "dist-packages", "test", "tests", "*.so", "*.a", "*.opt-1.pyc", "*.opt-2.pyc", "*.pyd")
)
_THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
_SERVER_SECONDS = 60  # timeout for an answer of the fork server
_FAREWELL_SECONDS = 10
ROOM_ATTEMPTS, ROOM_SECONDS = 20, 0.25  # retries while there is no room for the files of a process


class Sandbox:
    """Runs the code of one submission at a time, in one process at a time.

    `without` names layers to leave out. `secret` are paths that a student process must not read, in addition to this
    package. `preloaded` are modules that every process has imported, which makes each start slower.
    """

    def __init__(
        self,
        limits: Limits,
        without: tuple[str, ...] = (),
        secret: Iterable[Path] = (),
        preloaded: tuple[str, ...] = (),
    ):
        self.limits, self.preloaded = limits, preloaded
        self.layers = layers.holding(without)
        self.secret = tuple(secret)
        self.budget = Budget(limits)
        self.process: StudentProcess | None = None  # the last started process
        self._files: Mapping[str, bytes] = {}
        self._extensions: list[str] = []  # extra extension modules of its processes
        self._server: subprocess.Popen[bytes] | None = None  # or, without fork, the student process itself
        if "not_dumpable" in self.layers:
            kernel.prctl(kernel.DUMPABLE, 0)
        for path in self.secret if "user" in self.layers and "landlock" not in self.layers else ():
            if path.exists() and readable_by_others(path.resolve()):
                raise SandboxError(
                    f"every user of this machine can read {path}, including a student's code, and this kernel has no Landlock to"
                    f" forbid it. Close it with: chmod o-rwx {path}"
                )
        try:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - what the server prints until it is ready; see `close`
            self.folder = Folder("user" in self.layers)
            if "fork" in self.layers:
                self._start_server()
        except OSError as error:
            raise SandboxError(f"the sandbox cannot be set up: {of_system(error, temporary=True)}") from error
        # Not later: `os.wait4` imports a module, which fails during interpreter shutdown.
        atexit.register(self.close)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Make this the current submission: the last process of the previous one ends, and a new budget begins."""
        self._close_process()
        self.budget = Budget(self.limits)
        self._files = files
        self._extensions = [
            name for name, words in RARE_EXTENSIONS.items() if any(re.search(words, text) for text in files.values())
        ]
        try:
            self.folder.write(files)
        except OSError as error:
            raise SandboxError(f"a submission cannot be unpacked: {of_system(error, temporary=True)}") from error

    def start(self) -> StudentProcess:
        """Start a student process with a new temporary folder; the previous process ends. Raises SandboxError."""
        self._close_process()
        ours, theirs = socket.socketpair()
        with theirs:
            if "fork" not in self.layers:
                self._server = self._launch(theirs)
                pid = self._server.pid
            else:
                seconds = round(self.limits.submission_seconds - self.budget.processor_seconds)
                request = {"seconds": max(1, seconds + 1), "extensions": self._extensions}
                for _ in range(ROOM_ATTEMPTS):
                    answer = self._ask(request, theirs.fileno())
                    if "pid" in answer:
                        pid = answer["pid"]
                        break
                    time.sleep(ROOM_SECONDS)  # a process that fills the disk will soon be killed
                else:
                    raise SandboxError(f"a student's process cannot be started: {answer['no_room']}; {NO_ROOM[1]}")
        self.budget.running = pid
        self.process = StudentProcess(ours, pid, self)
        return self.process

    def end_process(self) -> str:
        """End the process and remove everything it left behind; returns why the fork server had killed it, or ""."""
        if not self.budget.running:  # it has ended with its fork server
            return ""
        if "fork" in self.layers:
            answer = self._ask({})
            self.budget.end(answer.get("seconds"))
            return str(answer.get("why", ""))
        self.budget.end()  # while its processor time can be read
        if self._server is not None:
            workspace.end_family(self._server, str(self.folder.temporary))
        workspace.clear(str(self.folder.writable))
        return ""

    def is_full(self) -> bool:
        """Whether the process has exceeded its disk limit, if there is no fork server to check that."""
        return "fork" not in self.layers and workspace.usage(str(self.folder.writable)) > self.limits.disk_mb * 2**20

    def _close_process(self) -> None:
        if self.process is not None:
            self.process.close()
            self.process = None

    def close(self) -> None:
        """End everything and remove the folder."""
        atexit.unregister(self.close)
        self._close_process()
        if "fork" in self.layers:
            self._stop_server(_FAREWELL_SECONDS)
        self.folder.remove()
        self._errors.close()

    # the fork server

    def _start_server(self) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_SERVER_SECONDS)
        with theirs:
            self._server = self._launch(theirs)

    def _launch(self, theirs: socket.socket) -> "subprocess.Popen[bytes]":
        """Start the fork server or, without fork, a student process."""
        if os.name == "nt":
            theirs.set_inheritable(True)
        # The temporary folder identifies a process without a fork server and its descendants: see workspace.py.
        temporary = self.folder.path if "fork" in self.layers else self.folder.temporary
        environment = {**_THREADS, "HOME": "/", "TMPDIR": str(temporary), "LANG": "C.UTF-8"}
        environment |= {name: os.environ[name] for name in LIBRARIES if name in os.environ}
        imports = [str(Path(str(module.__file__)).parents[1]) for module in (np, msgpack)]
        arguments = [json.dumps(asdict(self._confinement())), str(theirs.fileno()), json.dumps(imports)]
        self._errors.seek(0)
        self._errors.truncate()
        with tempfile.TemporaryFile() as kit:
            kit.write(_kit())
            kit.seek(0)
            return subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", _START, *arguments, sys.version.split()[0]],
                env=environment if os.name == "posix" else {**os.environ, **environment},
                cwd=self.folder.path,
                stdin=kit,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=[theirs.fileno()] if os.name == "posix" else (),
                close_fds=os.name == "posix",
                start_new_session=os.name == "posix",
            )

    def _confinement(self) -> Confinement:
        limits, folder = self.limits, self.folder
        return Confinement(
            layers=self.layers,
            memory=min(limits.memory_mb, container_memory() // 2) * 2**20,
            disk=limits.disk_mb * 2**20,
            threads=limits.processes,
            open_files=limits.open_files,
            message=limits.message_mb * 2**20,
            seconds=int(limits.submission_seconds) + 1,
            folder=str(folder.path),
            view=folder.view,
            closed_places=closed_places(self.secret),
            preloaded=self.preloaded,
            uid=folder.uid,
        )

    def _ask(self, request: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        """Send a request to the fork server and return its answer; a server that has died is started again, in a new folder."""
        for _ in range(2):
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], list(descriptors))
                data = self._control.recv(MAX_MESSAGE)
                if not data:
                    raise OSError("it has ended")
                answer: dict[str, Any] = json.loads(data)
                self.budget.own_seconds += answer["spent"]
                return answer
            except OSError as error:
                self._errors.seek(0)
                lines = self._errors.read().decode("utf-8", "replace").split("\n")
                fault = next(filter(None, reversed(lines)), str(error))
                self._stop_server(0)
                self.budget.end()  # its process has ended with it
                self.folder.remove()
                self.folder = Folder("user" in self.layers)
                self.folder.write(self._files)
                self._start_server()
        raise SandboxError(f"the fork server does not answer: {fault}")

    def _stop_server(self, patience: float) -> None:
        if self._server is not None:
            self._control.close()
            try:
                self._server.wait(patience)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Folder:
    """The folder of a sandbox, and the user of its processes if the grader is root.

    `uid` is that user, 0 if they keep the grader's; its group, which may read the submission, is the next number. `lines` is
    the number of lines of each file.
    """

    def __init__(self, own_users: bool):
        self.uid = 0
        self._mark: socket.socket | None = None  # marks the user as used
        if own_users:
            self.uid, self._mark = kernel.claimed_users()
        self.path = Path(tempfile.mkdtemp(prefix="autograder-", dir=_temporary_root(own_users)))
        # Landlock's rules refer to both for all processes.
        self.submission, self.writable = self.path / "submission", self.path / "tmp"
        self.temporary = self.writable / "own"
        self.submission.mkdir()
        self.writable.mkdir()
        for path in (self.path, self.writable):
            path.chmod(0o711 if own_users else 0o700)  # others may enter, but not list
        self.lines: dict[str, int] = {}
        self.view = _open_view(self.path) if own_users else ""
        self.write({})

    def write(self, files: Mapping[str, bytes]) -> None:
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
            path.chmod(0o750 if path.is_dir() else 0o640)
            if self.uid:
                os.chown(path, -1, self.uid + 1)

    def remove(self) -> None:
        """Remove everything, and release the users."""
        with contextlib.suppress(OSError):
            self.path.chmod(0o700)  # a student process with our user may have removed our access
        workspace.empty(str(self.path))
        with contextlib.suppress(OSError):
            self.path.rmdir()
        if self._mark is not None:
            self._mark.close()


@cache
def _kit() -> bytes:
    """Return the code of modules that other processes may need, without the kit's path, and whether each is a package."""
    modules = {}
    top = PACKAGE / "__init__.py", PACKAGE / "exceptions.py"
    for path in (*top, *(PACKAGE / "sandbox").rglob("*.py"), *(PACKAGE / "shared").glob("*.py")):
        is_package, parts = path.stem == "__init__", path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if is_package else parts)
        code = SourceFileLoader(name, str(path)).get_code(name)
        assert code is not None
        modules[name] = is_package, wire.renamed(code, co_filename=path.name)
    return marshal.dumps(modules)


def _temporary_root(own_users: bool) -> str:
    """Return the folder for temporary folders: the usual one, or another that the students' users can reach.

    Raises OSError if there is none.
    """
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp") if own_users else (tempfile.gettempdir(),):
        if os.path.isdir(folder) and (not own_users or reachable(Path(folder).resolve())):
            return folder
    raise OSError(f"other users cannot access {tempfile.gettempdir()}: set TMPDIR to a folder that all users can enter")


def closed_places(secret: Iterable[Path]) -> list[str]:
    """Return the places inside readable folders that a student process must not read: the kit and other packages."""
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
    """Make a readable copy of the interpreter's Python files, if another user cannot reach the real ones; else ""."""
    numpy_folder, stdlib = Path(np.__file__).parent, Path(os.__file__).parent
    if all(reachable(path.resolve()) for path in (numpy_folder, stdlib)):
        return ""
    view = folder / "view"
    view.mkdir()
    for source, name in ((stdlib, "stdlib"), (numpy_folder, "numpy")):
        shutil.copytree(source, view / name, symlinks=False, ignore=_NOT_NEEDED, copy_function=_link)
    view.chmod(0o755)
    for parent, folders, _ in os.walk(view):
        for inner in folders:
            os.chmod(os.path.join(parent, inner), 0o755)
    return str(view)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        return  # removed since it was listed
    except OSError:
        shutil.copy2(source, target)
