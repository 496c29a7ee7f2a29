"""`autograder build`: run `otter assign`, refresh assignments/, write a zip for Gradescope and one for students.

Otter empties RESULT/autograder and stamps the time on what it packs. So it writes to a temporary folder, and what it
has written is packed anew: the same tree gives the same bytes.
"""

import contextlib
import errno
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.grading import script
from autograder.homework import kit, rubric

MASTER = "transformer.ipynb"
OTTER = "7"
KERNEL = "python3"
EXECUTABLE = ("run_autograder", "setup.sh")


class BuildError(Exception):
    """The homework cannot be built; one line says why and what to do."""


def build(out: Path, assignments: Path | None = None, only: Sequence[str] = ()) -> list[Path]:
    """Write OUT/autograder.zip and OUT/student.zip and bring assignments/ up to date; what has been written.

    With `only`, the homework has these modules and no others, and its students' folder is OUT/assignments.
    Raises BuildError, also when the solutions do not get full marks, RubricError, and SelectionError for an unusable `only`.
    """
    script.record(rubric.current())  # a rubric that does not fit is said in its own words, not in Otter's
    if not only:
        with assigned() as result:
            return write(result, out, assignments or kit.home() / "assignments")
    from autograder.release import selection

    students = assignments or out / "assignments"
    if students.resolve() == kit.home() / "assignments":
        raise selection.SelectionError(f"{students} is for the whole homework; give another folder with -o")
    with selection.selected(only) as root, assigned(root=root) as result:
        return write(result, out, students)


def write(result: Path, out: Path, assignments: Path) -> list[Path]:
    """The two zips and assignments/, from a RESULT of `otter assign`."""
    found = next((result / "autograder").glob("*.zip"))
    student = contents(result / "student")
    try:
        out.mkdir(parents=True, exist_ok=True)
        zips = [
            _pack(_unzipped(found), out / "autograder.zip"),
            _pack({f"{Path(MASTER).stem}/{name}": data for name, data in student.items()}, out / "student.zip"),
        ]
        refresh(student, assignments)
    except OSError as error:
        raise BuildError(f"{error.filename or out}: {error.strerror or error}") from error
    return [*zips, assignments]


def check_assignments() -> list[str]:
    """What differs between assignments/ and what the solutions give now; empty when it is up to date.

    Raises BuildError.
    """
    with assigned(check=False) as result:
        return differences(result / "student", kit.home() / "assignments")


@contextlib.contextmanager
def assigned(check: bool = True, root: Path | None = None) -> Iterator[Path]:
    """The RESULT of `otter assign`, in a temporary folder; with `check`, Otter grades the solutions with the zip.

    `root` is the tree that is built, this kit's own unless given. Raises BuildError.
    """
    root = root or clone()
    require_otter()
    require_kernel()
    with temporary_folder("autograder-build-") as result:
        _assign(root, result, check)
        yield result


def _assign(root: Path, result: Path, check: bool) -> None:
    """Run Otter in `root`, with the kit that lies there, whatever kit is installed."""
    command = [sys.executable, "-m", "otter", "assign", str(root / "solutions" / MASTER), str(result)]
    path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        command if check else [*command, "--no-run-tests"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise BuildError(_reason(done.stderr))


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that is gone afterwards.

    Raises BuildError.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix=prefix)
    except OSError as error:
        raise BuildError(f"no temporary folder can be made: {error.strerror}") from error
    with folder as place:
        yield Path(place).resolve()


# What an instructor may lack


def clone() -> Path:
    """The tree that is built.

    Raises BuildError where the kit is not installed from a clone, or is, but from another one than we are in.
    """
    for needed in (kit.home() / "pyproject.toml", kit.solutions() / MASTER):
        if not needed.is_file():
            raise BuildError(
                f"there is no {needed}; build needs a clone and the kit installed from it: pip install -e ."
            )
    here = Path.cwd()
    around = [folder for folder in (here, *here.parents) if (folder / "autograder" / "homework" / "kit.py").is_file()]
    if around and around[0] != kit.home():
        advice = f"first run: pip install -e {around[0]}"
        raise BuildError(f"this is the clone {around[0]}, but the kit that is installed is {kit.home()}; {advice}")
    return kit.home()


def require_otter() -> None:
    """Raises BuildError for no Otter, or another one than the kit was made for."""
    needed = f"Otter {OTTER} is needed: pip install 'otter-grader[grading]>={OTTER},<{int(OTTER) + 1}'"
    try:
        version = importlib.metadata.version("otter-grader")
    except importlib.metadata.PackageNotFoundError:
        raise BuildError(f"Otter is not installed; {needed}") from None
    if version.split(".")[0] != OTTER:
        raise BuildError(f"Otter {version} is installed; {needed}")


def require_kernel() -> None:
    """Raises BuildError if Jupyter has no Python kernel."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        advice = "Otter starts it to grade; get it with: pip install ipykernel"
        raise BuildError(f"there is no Jupyter kernel named {KERNEL}. {advice}") from None


def _reason(stderr: str) -> str:
    """The last exception of a traceback, on one line."""
    if os.strerror(errno.ENOSPC) in stderr:
        return f"no space left on the disk, while Otter wrote to {tempfile.gettempdir()}"
    lost = re.findall(r"Criteria that failed: (.*)", stderr)
    if lost:
        return f"the solutions do not get full marks; they lose {', '.join(lost)}"
    lines = stderr.rpartition("Traceback (most recent call last):")[2].strip("\n").splitlines()
    ends = [number for number, line in enumerate(lines) if line and not line.startswith(" ")]
    text = " ".join(" ".join(lines[ends[0] :]).split()) if ends else "no reason given"
    return f"otter assign failed: {text[:600]}"


# Files


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


def _unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _pack(files: dict[str, bytes], path: Path) -> Path:
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
