"""Grades one upload as Gradescope would, and reports what students and instructors see.

`otter run` alone takes no folder, fails on a damaged zip, uses the installed packages instead of those the zip
requires, has no time limit, and does not use the zip's run_otter.py. Unlike on Gradescope, the machine, its user and
its limits are the local ones, and neither setup.sh nor conda runs.
"""

import contextlib
import errno
import importlib.metadata
import json
import os
import shutil
import signal
import site
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from autograder.exceptions import ArgumentsError, CommandError
from autograder.release import packing
from autograder.submissions.text import number, printable

GRADESCOPE = "/autograder"  # the path on Gradescope
SECONDS = 600  # Gradescope's time limit, unless set otherwise
REASON_LENGTH = 600  # characters
# Environment variables that are passed on; the last is the path of a library in an unusual place.
KEPT = ("SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
FOLDERS = {"HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp"}
# An interpreter, its environment variables, and a line that describes them.
Environment = tuple[str, dict[str, str], str]


@dataclass(frozen=True)
class Rehearsal:
    """The result of a run: results.json as data, the output, the duration, and a line on the environment."""

    document: Any
    printed: str
    seconds: float
    how: str


def rehearse(zipped: Path, upload: Path, here: bool = False) -> Rehearsal:
    """Rehearse one upload, in a fresh environment or, if `here`, with the installed packages; nothing is left behind.

    Raises ArgumentsError for the arguments, CommandError if there is no result or the machine lacks something.
    """
    with packing.temporary_folder("autograder-rehearsal-") as root:
        root.chmod(0o711)  # the user of student code must be able to enter
        place = root / "autograder"
        lay_out(place, zipped, upload)
        return _run(place, installed(place, root) if here else _fresh(place, root))


# The folders and files that Gradescope creates before it calls the autograder, in a temporary folder


def lay_out(tree: Path, zipped: Path, upload: Path) -> None:
    """Create the folders, with the zip for Gradescope in source/ and the upload in submission/."""
    for name in ("source", "submission", "results"):
        (tree / name).mkdir(parents=True)
    (tree / "submission_metadata.json").write_text("{}")  # student and time: not used here
    script = tree / "source" / "run_otter.py"
    try:
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(tree / "source")
        text = script.read_text(encoding="utf-8")
    except (zipfile.BadZipFile, FileNotFoundError, IsADirectoryError) as error:
        missing = zipped.is_file() and isinstance(error, OSError)
        reason = f"there is no {script.name} in it" if missing else getattr(error, "strerror", error)
        raise ArgumentsError(f"{zipped}: {reason}; use the autograder.zip that `autograder build` writes") from error
    script.write_text(text.replace(f'"{GRADESCOPE}"', repr(str(tree))), encoding="utf-8")
    if upload.is_dir():
        shutil.copytree(upload, tree / "submission", ignore=_neither_file_nor_folder, dirs_exist_ok=True)
    elif upload.exists():  # the kit unpacks a zip as Gradescope does
        shutil.copy(upload, tree / "submission")
    else:
        raise ArgumentsError(f"{upload}: there is no such file or folder")


def _neither_file_nor_folder(folder: str, names: list[str]) -> list[str]:
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name, mode in modes.items() if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)]


# The environment of the grader: an interpreter, its packages, and environment variables


def requirements(tree: Path) -> tuple[str, list[Path], list[str]]:
    """The version of Python that the zip requires, its wheels, and other lines for pip."""
    python, *_, pip = yaml.safe_load((tree / "source" / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    wheels = [line for line in pip["pip"] if line.startswith(GRADESCOPE)]
    others = [line for line in pip["pip"] if line not in wheels]
    return python.rpartition("=")[2], [Path(wheel.replace(GRADESCOPE, str(tree), 1)) for wheel in wheels], others


def installed(tree: Path, root: Path) -> Environment:
    """The running interpreter, with the kit of the zip first on its path."""
    from jupyter_core.paths import jupyter_data_dir  # only here, to save start-up time

    _, wheels, lines = requirements(tree)
    (root / "kit").mkdir(mode=0o700)  # it contains the solutions
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root / "kit")
    others = otherwise_here(lines)
    more = f", and {len(others) - 3} more" if len(others) > 3 else ""
    differing = f"; versions that differ from the zip: {', '.join(others[:3])}{more}"
    # HOME differs in a rehearsal, so user-installed packages need a path.
    own = {"PYTHONPATH": str(root / "kit"), "PYTHONUSERBASE": site.getuserbase(), "JUPYTER_PATH": jupyter_data_dir()}
    how = f"with the packages installed here{differing if others else ', in the versions of the zip'}"
    return sys.executable, _variables(root, str(Path(sys.executable).parent)) | own, how


def otherwise_here(pins: Iterable[str]) -> list[str]:
    """The pinned packages that are missing here or have another version."""
    lines = []
    for name, _, version in (pin.partition("==") for pin in pins):
        try:
            here = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            here = "not installed"
        if version and here != version:
            lines.append(f"{name} {here} (zip: {version})")
    return lines


def _fresh(tree: Path, root: Path) -> Environment:
    """A new virtual environment with the zip's requirements."""
    (wanted, wheels, lines), here = requirements(tree), packing.python_version()
    found = shutil.which(f"python{wanted}") or sys.executable if wanted != here else sys.executable
    _do([found, "-m", "venv", str(root / "venv")], "cannot create a virtual environment")
    (root / "venv").chmod(0o700)  # as on Gradescope, where it is below /root
    scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(root / "venv")})
    python = shutil.which("python", path=scripts) or sys.executable
    tool = "uv" if uv() else "pip"
    install = [uv(), "pip", "install", "--python", python] if uv() else [python, "-m", "pip", "install", "--no-input"]
    _do([*install, "--quiet", *map(str, wheels), *lines], f"{tool} cannot install the zip's requirements")
    version = wanted if found != sys.executable else here
    note = f", where Gradescope has {wanted}" if version != wanted else ""
    return python, _variables(root, scripts), f"in a fresh environment of Python {version}{note}, installed with {tool}"


def uv() -> str:
    """The path of uv, which installs faster than pip; "" without uv."""
    return shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv") or ""


def _do(command: list[str], trouble: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines
        reason = errors[0][:300] if errors else "no reason given"
        raise CommandError(f"{trouble}: {reason} (--here uses the installed packages)")


def _variables(root: Path, scripts: str) -> dict[str, str]:
    """A minimal environment with all user folders inside `root`, so that nothing is left behind."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    path = os.pathsep.join((scripts, os.environ.get("PATH", os.defpath)))
    return inherited | {"PATH": path} | {name: str(root / place) for name, place in FOLDERS.items()}


# The run


def _run(place: Path, environment: Environment) -> Rehearsal:
    """Run the zip's run_otter.py in these folders.

    Raises CommandError if there is no result; Gradescope would then report that the autograder failed.
    """
    (python, variables, how), start = environment, time.monotonic()
    status, printed, errors = _call([python, str(place / "source" / "run_otter.py")], place, variables)
    seconds = time.monotonic() - start
    try:
        document = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        why = f"there is no results.json; the submission would stay ungraded: {reason(errors)}"
        raise CommandError(why) from None
    except ValueError as error:
        raise CommandError(f"results.json is not JSON: {error}") from error
    if status:
        raise CommandError(f"run_otter.py failed after results.json was written: {reason(errors)}")
    return Rehearsal(document, printed, seconds, how)


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    """Run a command; returns its exit status, output and errors. All its processes end with it."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # a separate process group, to be killed as a whole
    ) as process:
        try:
            printed, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise CommandError(f"grading took more than {SECONDS} seconds, Gradescope's limit") from None
        finally:
            # Always end the group: a grader may have left processes behind.
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
    return process.returncode, printed, errors


def reason(errors: str) -> str:
    """Why a program failed, on one line: the exception of its last traceback, else its last line."""
    if os.strerror(errno.ENOSPC) in errors:
        return f"no space left on the disk of {tempfile.gettempdir()}; free some space, or set TMPDIR to a folder on another disk"
    _, traceback, last = errors.rpartition("Traceback (most recent call last):")
    lines = last.strip("\n").splitlines()
    ends = [place for place, line in enumerate(lines) if line.strip() and not line.startswith(" ")]
    if not ends:
        return "no reason given"
    return " ".join(" ".join(lines[ends[0] if traceback else ends[-1] :]).split())[:REASON_LENGTH]


# The report: what is visible to whom, and when

MOMENTS = {
    "visible": "What the student sees immediately",
    "after_due_date": "What the student also sees after the due date",
    "after_published": "What the student also sees when grades are published",
}


def report(done: Rehearsal, brief: bool) -> Iterator[str]:
    """The report, line by line; if `brief`, with only the first message of each section."""
    document, tests = done.document, done.document["tests"]
    possible = number(sum(test["max_score"] for test in tests))
    total = f"{document['score']} of {possible}"
    hidden = [*tests]
    yield f"Graded in {done.seconds:.1f} s, {done.how}."
    for moment, title in MOMENTS.items():
        shown = [test for test in tests if test["visibility"] == moment]
        hidden = [test for test in hidden if test not in shown]
        if moment == "after_due_date" and not shown:
            continue
        yield from _title(title)
        if moment == "visible":
            yield from _text(document["output"])
        yield from _entries(shown, brief) if shown else ["Nothing."]
        yield "No total: Gradescope does not show it while any result is hidden." if hidden else f"Total: {total}"
    yield from _title("What the instructor sees")
    yield f"All of the above, and the total: {total}"
    yield f'The assignment\'s "Autograder points" must be {possible}.'
    if hidden:
        yield "Never shown to the student:"
        yield from _entries(hidden, brief)
    for data in (test["extra_data"] for test in tests):
        if data["misconceptions"]:
            yield f"Misconception in {data['criterion']}: {', '.join(data['misconceptions'])}"
    yield f"Layers of the sandbox here: {', '.join(document['extra_data']['layers'])}"
    yield "The end of the autograder's output:"
    yield from (f"    {line}" for line in _text(done.printed)[-20:] if line.strip())


def _title(text: str) -> list[str]:
    return ["", text, "-" * len(text)]


def _entries(tests: list[dict[str, Any]], brief: bool) -> Iterator[str]:
    with_message = [test for test in tests if test["output"]]
    for test in tests:
        yield printable(f"{test['status']}  {test['score']} of {test['max_score']}  {test['name']}")
        if not brief or test in with_message[:1]:
            yield from (f"    {line}".rstrip() for line in _text(test["output"]))
    if brief and len(with_message) > 1:
        yield f"({len(with_message) - 1} more with a message; omit --brief to print them)"


def _text(text: str) -> list[str]:
    return [printable(line) for line in text.strip("\n").splitlines()]
