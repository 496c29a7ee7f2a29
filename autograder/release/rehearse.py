"""`autograder rehearse ZIP PATH`: grade one upload as Gradescope would, and print who sees what of the result.

In a temporary folder stands a tree like /autograder. The pip requirements of the zip's environment file are installed
into a fresh virtual environment, and the zip's own run_otter.py grades the upload, with the tree's folder in place of
`/autograder`. Not as on Gradescope are the machine, its user and its limits, and that neither setup.sh nor conda is run.

Exit status: 0 graded, and results.json is as documented; 1 no result, or an upload that Otter refuses; 2 unusable arguments.
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
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import click
import yaml

from autograder.release import build, rehearsal_report, results_format
from autograder.release.rehearsal_report import Outcome, printable
from autograder.release.results_format import Results

FAULT, USAGE = 1, 2
GRADESCOPE = "/autograder"
NEEDED = ("run_autograder", "setup.sh", "run_otter.py", "environment.yml")
SECONDS = 600  # Gradescope's time limit, unless set otherwise
UPLOAD_MB, UPLOAD_FILES = 100, 10_000
METADATA = {
    "id": 1,
    "created_at": "2026-01-01T12:00:00.000000-08:00",
    "assignment": {
        "due_date": "2026-01-31T23:59:00.000000-08:00",
        "group_size": None,
        "group_submission": False,
        "id": 1,
        "course_id": 1,
        "late_due_date": None,
        "release_date": "2026-01-01T00:00:00.000000-08:00",
        "title": "Rehearsal",
        "total_points": "100.0",
    },
    "submission_method": "upload",
    "users": [{"email": "student@example.com", "id": 1, "name": "A. Student"}],
    "previous_submissions": [],
}
PLACE = click.Path(path_type=Path)


class UnusableError(ValueError):
    """The arguments name nothing that can be rehearsed."""


class RehearsalError(Exception):
    """There is no result that could be shown."""


@dataclass(frozen=True)
class Tools:
    """What the grader runs with: an interpreter, its environment variables, and a line on how they came about."""

    python: str
    variables: dict[str, str]
    how: str


@click.command()
@click.argument("zipped", metavar="ZIP", type=PLACE)
@click.argument("upload", metavar="PATH", type=PLACE)
@click.option("--here", is_flag=True, help="use the Python packages that are installed: quick, and without a network")
@click.option("--brief", is_flag=True, help="of the messages print only the first of each moment")
def rehearse(zipped: Path, upload: Path, here: bool, brief: bool) -> None:
    """Grade PATH with the zip for Gradescope as Gradescope would, and print what student and instructor will see.

    PATH is a folder or zip of what a student uploads, or one file.
    """
    try:
        outcome = run(zipped, upload, here)
    except UnusableError as error:
        _stop(str(error), USAGE)
    except (RehearsalError, build.BuildError) as error:
        _stop(str(error), FAULT)
    found = results_format.problems(outcome.document)
    if found:
        _stop("results.json is not as Gradescope documents it:\n  " + "\n  ".join(found[:20]), FAULT)
    for line in rehearsal_report.lines(outcome, Results.model_validate(outcome.document), brief):
        click.echo(line)
    if outcome.refused:
        _stop(f"Otter refuses this upload and grades nothing of it: {outcome.refused}", FAULT)


def _stop(why: str, status: int) -> NoReturn:
    click.echo(f"autograder: {why}", err=True)
    sys.exit(status)


def run(zipped: Path, upload: Path, here: bool = False) -> Outcome:
    """Rehearse one upload; nothing is left behind.

    Raises UnusableError, RehearsalError, or BuildError for what an instructor lacks.
    """
    with build.temporary_folder("autograder-rehearsal-") as root:
        root.chmod(0o711)  # the sandbox's own user must get through
        try:
            tree = lay_out(root / "autograder", zipped, upload)
            tools = present(tree, root) if here else fresh(tree, root)
            return grade(tree, tools)
        except OSError as error:
            raise RehearsalError(f"{error.filename or root}: {error.strerror or error}") from error


# The tree


def lay_out(tree: Path, zipped: Path, upload: Path) -> Path:
    """The folders and files that Gradescope makes before it calls the autograder.

    Raises UnusableError.
    """
    for name in ("source", "submission", "results"):
        (tree / name).mkdir(parents=True)
    (tree / "submission_metadata.json").write_text(json.dumps(METADATA))
    _unpack_autograder(zipped, tree / "source")
    _put(upload, tree / "submission")
    script = tree / "source" / "run_otter.py"
    text = script.read_text(encoding="utf-8")
    if f'"{GRADESCOPE}"' not in text:
        raise UnusableError(
            f"{zipped}: its run_otter.py does not grade in {GRADESCOPE}; was it made by `autograder build`?"
        )
    script.write_text(text.replace(f'"{GRADESCOPE}"', repr(str(tree))), encoding="utf-8")
    return tree


def _unpack_autograder(path: Path, target: Path) -> None:
    advice = "give the autograder.zip that `autograder build` has written"
    if not zipfile.is_zipfile(path):
        raise UnusableError(f"{path}: {'this is no zip' if path.exists() else 'there is no such file'}; {advice}")
    with zipfile.ZipFile(path) as archive:
        missing = [name for name in NEEDED if name not in archive.namelist()]
        if missing:
            raise UnusableError(f"{path}: no zip for Gradescope, it has no {missing[0]}; {advice}")
        try:
            archive.extractall(target)
        except zipfile.BadZipFile as error:
            raise UnusableError(f"{path}: this zip is damaged ({error}); {advice}") from error


def _put(upload: Path, target: Path) -> None:
    """What arrives on Gradescope: files and folders as they are, a zip unpacked if it can be."""
    try:
        if upload.is_dir():
            shutil.copytree(upload, target, symlinks=True, dirs_exist_ok=True)
        elif upload.suffix.lower() != ".zip" or not _unpacked(upload, target):
            shutil.copy(upload, target)
    except (shutil.Error, OSError) as error:
        if _is_full(error):
            raise
        why = "there is no such file or folder" if not upload.exists() else "it cannot be copied"
        raise UnusableError(f"{upload}: {why}") from error


def _unpacked(path: Path, target: Path) -> bool:
    """Unpack a student's zip; False, and nothing there, where it is damaged, encrypted or far too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > UPLOAD_FILES or sum(entry.file_size for entry in entries) > UPLOAD_MB * 2**20:
                return False
            archive.extractall(target)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError, EOFError, OSError) as error:
        if isinstance(error, FileNotFoundError) or _is_full(error):
            raise
        shutil.rmtree(target)
        target.mkdir()
        return False
    return True


def _is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.ENOSPC


# The tools


def present(tree: Path, root: Path) -> Tools:
    """The interpreter that runs now, with the kit from the zip before everything installed.

    Raises BuildError.
    """
    build.require_otter()
    build.require_kernel()
    (root / "kit").mkdir(mode=0o700)
    for wheel in _wheels(tree):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root / "kit")
    from jupyter_core.paths import jupyter_data_dir

    own = {"PYTHONPATH": str(root / "kit"), "PYTHONUSERBASE": site.getuserbase(), "JUPYTER_PATH": jupyter_data_dir()}
    wanted = next((name for name in requirements(tree)[1] if name.startswith("otter-grader")), "")
    have = f"otter-grader {importlib.metadata.version('otter-grader')}"
    return Tools(
        sys.executable,
        _variables(root, Path(sys.executable).parent) | own,
        f"with what is installed here ({have}; zip: {wanted})",
    )


def fresh(tree: Path, root: Path) -> Tools:
    """A new virtual environment with the zip's pip requirements.

    Raises RehearsalError.
    """
    version, wanted = requirements(tree)
    python = sys.executable if version in ("", _version()) else shutil.which(f"python{version}") or sys.executable
    click.echo(
        f"Installing {len(wanted)} requirements into a fresh environment; this takes a minute or two ...", err=True
    )
    _do([python, "-m", "venv", str(root / "venv")], "no virtual environment can be made")
    (root / "venv").chmod(0o700)  # as on Gradescope, where it lies below /root
    scripts = root / "venv" / ("Scripts" if os.name == "nt" else "bin")
    own = str(scripts / ("python.exe" if os.name == "nt" else "python"))
    wanted = [line.replace(GRADESCOPE, str(tree), 1) if line.startswith(GRADESCOPE) else line for line in wanted]
    if wanted:
        _do(
            [own, "-m", "pip", "install", "--quiet", "--no-input", *wanted], "pip cannot install the zip's requirements"
        )
    note = "" if version in (_version(), "") or python != sys.executable else f", where Gradescope has {version}"
    return Tools(own, _variables(root, scripts), f"in a fresh environment of Python {_version(own)}{note}")


def requirements(tree: Path) -> tuple[str, list[str]]:
    """The Python version and the lines for pip in the zip's environment file.

    Raises UnusableError.
    """
    try:
        entries = yaml.safe_load((tree / "source" / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
        lines = [line for entry in entries if isinstance(entry, dict) for line in entry["pip"]]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise UnusableError("the zip's environment.yml cannot be read") from error
    pinned = [re.fullmatch(r"python=+(\d+\.\d+)\S*", entry) for entry in entries if isinstance(entry, str)]
    return next((match[1] for match in pinned if match), ""), lines


def _wheels(tree: Path) -> list[Path]:
    local = [line for line in requirements(tree)[1] if line.startswith(GRADESCOPE)]
    return [Path(line.replace(GRADESCOPE, str(tree), 1)) for line in local]


def _variables(root: Path, scripts: Path) -> dict[str, str]:
    """Few environment variables, and every place for files of one's own inside `root`."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LANG", "LC_ALL") if name in os.environ}
    path = os.pathsep.join((str(scripts), os.environ.get("PATH", os.defpath)))
    places = {"HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp"}
    return kept | {"PATH": path} | {name: str(root / place) for name, place in places.items()}


def _do(command: list[str], trouble: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = (
            [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
            or lines
            or ["no reason given"]
        )
        raise RehearsalError(f"{trouble}: {errors[0]} (--here uses what is installed already)")


def _version(python: str = "") -> str:
    command = "import sys; print('%d.%d' % sys.version_info[:2])"
    if not python:
        return f"{sys.version_info[0]}.{sys.version_info[1]}"
    return subprocess.run([python, "-c", command], capture_output=True, text=True, check=True).stdout.strip()


# The run


def grade(tree: Path, tools: Tools) -> Outcome:
    """Run the zip's run_otter.py in the tree.

    Raises RehearsalError if there is no result, as Gradescope would then say that the autograder failed.
    """
    start = time.monotonic()
    status, printed, errors = _call([tools.python, str(tree / "source" / "run_otter.py")], tree, tools.variables)
    seconds = time.monotonic() - start
    reason = _last_line(errors)
    try:
        text = (tree / "results" / "results.json").read_text(encoding="utf-8")
        document = json.loads(text, parse_constant=_refuse)
    except FileNotFoundError:
        raise RehearsalError(f"there is no results.json; the submission would stay ungraded: {reason}") from None
    except ValueError as error:
        raise RehearsalError(f"results.json is not JSON: {error}") from error
    refused = reason.partition("OtterRuntimeError: ")[2] if status else ""
    if status and not refused:
        raise RehearsalError(f"run_otter.py failed after results.json was written: {reason}")
    return Outcome(document, printed, refused, seconds, tools.how)


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise RehearsalError(f"grading took more than {SECONDS} seconds, Gradescope's limit") from None
    finally:
        _end(process)
    return process.returncode, printed, errors


def _end(process: "subprocess.Popen[str]") -> None:
    """Nothing that was started runs on, not even after Ctrl-C."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


def _last_line(text: str) -> str:
    """The last line of a traceback that is not indented, as it may be printed."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(" ")]
    return printable(lines[-1])[:600] if lines else "no reason given"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")
