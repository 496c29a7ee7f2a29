"""Grades one upload as Gradescope would, and reports what students and instructors see.

The zip's setup.sh and run_autograder run unchanged except for the path /autograder. Unlike on Gradescope, the machine,
its user and its limits are the local ones. What setup.sh may not do here has a stand-in, which the report names:
`apt-get` does nothing, since a new virtual environment has the pip that it installs, and if uv cannot download Python,
one of this machine takes its place.
"""

import contextlib
import errno
import importlib.metadata
import json
import os
import re
import shutil
import signal
import site
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.exceptions import ArgumentsError, CommandError
from autograder.release import packing
from autograder.submissions.text import number, printable

GRADESCOPE = "/autograder"  # the path on Gradescope
SECONDS = 600  # Gradescope's time limit, unless set otherwise
REASON_LENGTH = 600  # characters
# Environment variables that are passed on; the last is the path of a library in an unusual place.
KEPT = ("SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
FOLDERS = {"HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp"}
NO_MATTER_HERE = ("PYTHON", "UV_PYTHON", "VIRTUAL_ENV")  # beginnings of variables that setup.sh must not inherit
# A command that grades, its environment variables, and a line that describes them.
Environment = tuple[list[str], dict[str, str], str]


@dataclass(frozen=True)
class Rehearsal:
    """The result of a run: results.json as data, the output, the duration, and a line on the environment."""

    document: Any
    printed: str
    seconds: float
    how: str


def rehearse(zipped: Path, upload: Path, in_place: bool = False) -> Rehearsal:
    """Grade one upload in a fresh environment or, if `in_place`, with the installed packages; nothing is left behind.

    Raises ArgumentsError for the arguments, and CommandError if the machine lacks something or if there is no result:
    Gradescope would then report that the autograder failed.
    """
    with packing.temporary_folder("autograder-rehearsal-") as root:
        root.chmod(0o711)  # the user of student code must be able to enter
        tree = root / "autograder"
        lay_out(tree, zipped, upload)
        command, variables, how = installed(tree, root) if in_place else _image(tree, root)
        start = time.monotonic()
        status, printed = _call(command, tree, variables)
        seconds = time.monotonic() - start
        try:
            document = json.loads((tree / "results" / "results.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            why = f"there is no results.json; the submission would stay ungraded: {reason(printed)}"
            raise CommandError(why) from None
        except ValueError as error:
            raise CommandError(f"results.json is not JSON: {error}") from error
        if status:
            raise CommandError(f"the grader failed after results.json was written: {reason(printed)}")
        return Rehearsal(document, printed, seconds, how)


def lay_out(tree: Path, zipped: Path, upload: Path) -> None:
    """Create the folders of Gradescope, with the zip in source/ and the upload in submission/."""
    for name in ("source", "submission", "results"):
        (tree / name).mkdir(parents=True)
    (tree / "submission_metadata.json").write_text("{}")  # student and time: not used here
    try:
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(tree / "source")
        for script in (tree / "source" / name for name in packing.SCRIPTS):
            text = script.read_text(encoding="utf-8")
            script.write_text(text.replace(f'"{GRADESCOPE}"', repr(str(tree))), encoding="utf-8")
    except (zipfile.BadZipFile, FileNotFoundError, IsADirectoryError) as error:
        is_other_zip = zipped.is_file() and isinstance(error, OSError)
        why = f"there is no {script.name} in it" if is_other_zip else getattr(error, "strerror", error)
        raise ArgumentsError(f"{zipped}: {why}; use the autograder.zip that `autograder build` writes") from error
    shutil.copy(tree / "source" / "run_autograder", tree)
    if upload.is_dir():
        shutil.copytree(upload, tree / "submission", ignore=_neither_file_nor_folder, dirs_exist_ok=True)
    elif upload.exists():  # the kit unpacks a zip as Gradescope does
        shutil.copy(upload, tree / "submission")
    else:
        raise ArgumentsError(f"{upload}: there is no such file or folder")


def _neither_file_nor_folder(folder: str, names: list[str]) -> list[str]:
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name, mode in modes.items() if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)]


# The environment of the grader


def installed(tree: Path, root: Path) -> Environment:
    """Return the running interpreter, with the kit of the zip first on its path."""
    (root / "kit").mkdir(mode=0o700)  # it contains the solutions
    for wheel in (tree / "source" / "files" / packing.WHEEL).glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root / "kit")
    python, running = python_of(tree), f"{sys.version_info[0]}.{sys.version_info[1]}"
    different = [f"Python {running} (zip: {python})"] if running != python else []
    pins = (tree / "source" / "files" / packing.WHEEL / "requirements.txt").read_text(encoding="utf-8")
    for name, version in packing.pins(pins, python).items():
        try:
            present = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            present = "not installed"
        if present != version:
            different.append(f"{name} {present} (zip: {version})")
    versions = (
        f"; versions that differ from the zip: {', '.join(different)}" if different else ", in the versions of the zip"
    )
    # HOME differs in a rehearsal, so user-installed packages need a path.
    variables = _variables(root) | {"PYTHONPATH": str(root / "kit"), "PYTHONUSERBASE": site.getuserbase()}
    command = [sys.executable, str(tree / "source" / "run_otter.py")]
    return command, variables, f"with the packages installed here{versions}"


def python_of(tree: Path) -> str:
    """Return the version of Python that the zip's setup.sh installs."""
    match = re.search(r"^PYTHON=(\S+)$", (tree / "source" / "setup.sh").read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


def _image(tree: Path, root: Path) -> Environment:
    """Run the zip's setup.sh, and return its run_autograder."""
    bash = shutil.which("bash")
    if bash is None or os.name != "posix":
        raise CommandError("the zip's setup.sh needs bash; --here uses the installed packages")
    _do([sys.executable, "-m", "venv", str(root / "tools")], os.environ, "cannot create a virtual environment")
    apt = root / "tools" / "bin" / "apt-get"
    apt.write_text("#!/bin/sh\n")
    apt.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(NO_MATTER_HERE)}
    variables = inherited | {"PATH": os.pathsep.join((str(apt.parent), os.environ.get("PATH", os.defpath)))}
    setup, trouble = [bash, str(tree / "source" / "setup.sh")], "the zip's setup.sh failed"
    how = "with the zip's setup.sh and run_autograder; stand-ins here: apt-get does nothing"
    try:
        _do(setup, variables, trouble)
    except CommandError as error:
        # A Python of this machine, with this version if possible. A version manager has commands that it does not start.
        python = shutil.which(f"python{python_of(tree)}")
        if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
            python = sys.executable
        _do(setup, variables | {"UV_PYTHON": python, "UV_PYTHON_PREFERENCE": "only-system"}, trouble)
        how += f", {python} in place of Python {python_of(tree)} ({error})"
    return [bash, str(tree / "run_autograder")], _variables(root), how


def _do(command: list[str], variables: Mapping[str, str], trouble: str) -> None:
    done = subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [number for number, line in enumerate(lines) if line.lower().startswith("error: ")]
        why = " ".join(lines[errors[0] if errors else -1 :]) or "no reason given"  # uv prints causes below the error
        raise CommandError(f"{trouble}: {why[:REASON_LENGTH]}")


def _variables(root: Path) -> dict[str, str]:
    """Return a minimal environment with all user folders inside `root`, so that nothing is left behind."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    path = os.environ.get("PATH", os.defpath)
    return inherited | {"PATH": path} | {name: str(root / folder) for name, folder in FOLDERS.items()}


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Run a command, and return its exit status and its output with its errors. All its processes end with it."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # a separate process group, to be killed as a whole
    ) as process:
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise CommandError(f"grading took more than {SECONDS} seconds, Gradescope's limit") from None
        finally:
            # Always end the group: a grader may have left processes behind.
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                process.kill()
    return process.returncode, printed


def reason(output: str) -> str:
    """Return why a program failed, on one line: the exception of its last traceback, else its last line."""
    if os.strerror(errno.ENOSPC) in output:
        return f"no space left on the disk of {tempfile.gettempdir()}; free some space, or set TMPDIR to a folder on another disk"
    _, traceback, last = output.rpartition("Traceback (most recent call last):")
    lines = last.strip("\n").splitlines()
    ends = [number for number, line in enumerate(lines) if line.strip() and not line.startswith(" ")]
    if not ends:
        return "no reason given"
    return " ".join(" ".join(lines[ends[0] if traceback else ends[-1] :]).split())[:REASON_LENGTH]


# The report: what is visible to whom, and when

MOMENTS = {
    "visible": "What the student sees immediately",
    "after_due_date": "What the student also sees after the due date",
    "after_published": "What the student also sees when grades are published",
}


def report(done: Rehearsal) -> Iterator[str]:
    """Yield the report, line by line."""
    document, tests = done.document, done.document["tests"]
    possible = number(sum(test["max_score"] for test in tests))
    total = f"{document['score']} of {possible}"
    hidden = [*tests]
    yield f"Graded in {done.seconds:.1f} s, {done.how}."
    for moment, title in MOMENTS.items():
        entries = [test for test in tests if test["visibility"] == moment]
        hidden = [test for test in hidden if test not in entries]
        if moment == "after_due_date" and not entries:
            continue
        yield from ("", title, "-" * len(title))
        if moment == "visible":
            yield from _lines(document["output"])
        yield from _entries(entries) if entries else ["Nothing."]
        yield "No total: Gradescope does not show it while any result is hidden." if hidden else f"Total: {total}"
    yield from ("", "What the instructor sees", "-" * 24)
    yield f"All of the above, and the total: {total}"
    yield f'The assignment\'s "Autograder points" must be {possible}.'
    if hidden:
        yield "Never shown to the student:"
        yield from _entries(hidden)
    for data in (test["extra_data"] for test in tests):
        if data["misconceptions"]:
            yield f"Misconception in {data['criterion']}: {', '.join(data['misconceptions'])}"
    yield f"Layers of the sandbox here: {', '.join(document['extra_data']['layers'])}"
    yield "The end of the autograder's output:"
    yield from (f"    {line}" for line in _lines(done.printed)[-20:] if line.strip())


def _entries(tests: list[dict[str, Any]]) -> Iterator[str]:
    for test in tests:
        yield printable(f"{test['status']}  {test['score']} of {test['max_score']}  {test['name']}")
        yield from (f"    {line}".rstrip() for line in _lines(test["output"]))


def _lines(text: str) -> list[str]:
    return [printable(line) for line in text.strip("\n").splitlines()]
