"""Grades one upload as Gradescope would: the folders, the environment, the run; and what students and instructors see.

`otter run` alone takes no folder, fails on a damaged zip, uses the installed packages instead of those the zip requires, has
no time limit, and does not use the zip's run_otter.py. Unlike on Gradescope, the machine, its user and its limits are the
local ones, and neither setup.sh nor conda runs.
"""

import contextlib
import errno
import json
import os
import re
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import yaml
from pydantic import BaseModel, FiniteFloat, ValidationError, model_validator

from autograder.exceptions import ArgumentsError, CommandError
from autograder.feedback.text import number
from autograder.release import prerequisites
from autograder.release.prerequisites import require_kernel, require_otter, temporary_folder
from autograder.submissions.text import printable

# The folders and files that Gradescope creates before it calls the autograder, in a temporary folder

GRADESCOPE = "/autograder"  # the path on Gradescope
NEEDED = ("run_autograder", "setup.sh", "run_otter.py", "environment.yml")  # Otter's files in the zip
UPLOAD_MB, UPLOAD_FILES = 100, 10_000  # a zip of more is not unpacked


def lay_out(tree: Path, zipped: Path, upload: Path) -> None:
    """Create the folders, with the zip for Gradescope in source/ and the upload in submission/.

    Raises ArgumentsError, or OSError.
    """
    for name in ("source", "submission", "results"):
        (tree / name).mkdir(parents=True)
    (tree / "submission_metadata.json").write_text("{}")  # student and time: not used here
    _unpack_autograder(zipped, tree / "source")
    target = tree / "submission"
    try:  # files and folders, zips unpacked if possible; links are left out
        if upload.is_dir():
            shutil.copytree(upload, target, ignore=_neither_file_nor_folder, dirs_exist_ok=True)
        elif upload.suffix.lower() != ".zip" or not _unpacked(upload, target):
            shutil.copy(upload, target)
    except (OSError, RecursionError) as error:  # also shutil.Error; the last of a thousand folders in one another
        if _is_full(error):
            raise
        why = "there is no such file or folder" if not upload.exists() else "it cannot be copied"
        raise ArgumentsError(f"{upload}: {why}") from error
    script = tree / "source" / "run_otter.py"
    text = script.read_text(encoding="utf-8")
    if f'"{GRADESCOPE}"' not in text:
        raise ArgumentsError(
            f"{zipped}: its run_otter.py does not grade in {GRADESCOPE}; was it built with `autograder build`?"
        )
    script.write_text(text.replace(f'"{GRADESCOPE}"', repr(str(tree))), encoding="utf-8")


def _unpack_autograder(path: Path, target: Path) -> None:
    advice = "use the autograder.zip that `autograder build` writes"
    if not zipfile.is_zipfile(path):
        raise ArgumentsError(f"{path}: {'this is not a zip' if path.exists() else 'there is no such file'}; {advice}")
    with zipfile.ZipFile(path) as archive:
        missing = [name for name in NEEDED if name not in archive.namelist()]
        if missing:
            raise ArgumentsError(f"{path}: not a zip for Gradescope: it has no {missing[0]}; {advice}")
        try:
            archive.extractall(target)
        except zipfile.BadZipFile as error:
            raise ArgumentsError(f"{path}: this zip is damaged ({error}); {advice}") from error


def _neither_file_nor_folder(folder: str, names: list[str]) -> list[str]:
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name, mode in modes.items() if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)]


def _unpacked(path: Path, target: Path) -> bool:
    """Unpack a student's zip; returns False and leaves nothing if it is damaged, encrypted or far too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > UPLOAD_FILES or sum(entry.file_size for entry in entries) > UPLOAD_MB * 2**20:
                return False
            archive.extractall(target)
    except Exception as error:  # made by hand, a zip can raise anything: zlib.error, struct.error, ValueError ...
        if isinstance(error, FileNotFoundError) or _is_full(error):
            raise
        shutil.rmtree(target)
        target.mkdir()
        return False
    return True


def _is_full(error: Exception) -> bool:
    """Whether a disk is full: an error of the machine rather than of the arguments."""
    full = (errno.ENOSPC, errno.EDQUOT)
    text = str(error) if isinstance(error, shutil.Error) else ""  # it keeps only the texts of what happened
    return (isinstance(error, OSError) and error.errno in full) or any(f"[Errno {number}]" in text for number in full)


# The environment of the grader: an interpreter, its packages, and environment variables.

# Environment variables that are passed on; the last is the path of a library in an unusual place.
KEPT = ("SYSTEMROOT", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
# An interpreter, its environment variables, and a line that describes them.
Environment = tuple[str, dict[str, str], str]
FOLDERS = {"HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp"}


def asked(tree: Path) -> tuple[str, list[Path], list[str]]:
    """The requirements of the zip: a version of Python ("" if none), its own wheels, and other lines for pip.

    Raises ArgumentsError.
    """
    try:
        entries = yaml.safe_load((tree / "source" / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
        lines = [line for entry in entries if isinstance(entry, dict) for line in entry["pip"]]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise ArgumentsError("the zip's environment.yml cannot be read; build the zip again") from error
    versions = [re.fullmatch(r"python=+(\d+\.\d+)\S*", entry) for entry in entries if isinstance(entry, str)]
    return (
        next((match[1] for match in versions if match), ""),
        [Path(line.replace(GRADESCOPE, str(tree), 1)) for line in lines if line.startswith(GRADESCOPE)],
        [line for line in lines if not line.startswith(GRADESCOPE)],
    )


def installed(tree: Path, root: Path) -> Environment:
    """The running interpreter, with the kit of the zip first on its path.

    Raises CommandError.
    """
    require_otter()
    require_kernel()
    # Only here, to save start-up time: jupyter_core comes with jupyter_client, which takes a third of a second.
    from jupyter_core.paths import jupyter_data_dir

    _, wheels, lines = asked(tree)
    (root / "kit").mkdir(mode=0o700)  # it holds the solutions
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(root / "kit")
    others = prerequisites.otherwise_here(lines)
    more = f", and {len(others) - 3} more" if len(others) > 3 else ""
    how = (
        f"; versions that differ from the zip: {', '.join(others[:3])}{more}"
        if others
        else ", in the versions of the zip"
    )
    # HOME differs in a rehearsal, so user-installed packages need a path.
    own = {"PYTHONPATH": str(root / "kit"), "PYTHONUSERBASE": site.getuserbase(), "JUPYTER_PATH": jupyter_data_dir()}
    variables = _variables(root, str(Path(sys.executable).parent)) | own
    return sys.executable, variables, f"with the packages installed here{how}"


def fresh(tree: Path, root: Path) -> Environment:
    """A new virtual environment with the zip's requirements.

    Raises CommandError.
    """
    (wanted, wheels, lines), here = asked(tree), prerequisites.python_version()
    python = (shutil.which(f"python{wanted}") if wanted not in ("", here) else None) or sys.executable
    _do([python, "-m", "venv", str(root / "venv")], "cannot create a virtual environment")
    (root / "venv").chmod(0o700)  # as on Gradescope, where it lies below /root
    scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(root / "venv")})
    own = shutil.which("python", path=scripts) or sys.executable
    packages = [*map(str, wheels), *lines]
    installer = f", installed with {_install(own, packages)}" if packages else ""
    command = [own, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    note = f", where Gradescope has {wanted}" if wanted not in ("", version) else ""
    return own, _variables(root, scripts), f"in a fresh environment of Python {version}{note}{installer}"


def uv() -> str:
    """The path of uv, which installs faster than pip; "" without uv."""
    return shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv") or ""


def _install(python: str, packages: list[str]) -> str:
    """Install packages with uv, or with pip if uv is missing or fails; returns which.

    Raises CommandError.
    """
    command = [uv(), "pip", "install", "--quiet", "--python", python, *packages]
    if command[0] and subprocess.run(command, capture_output=True).returncode == 0:
        return "uv"
    _do(
        [python, "-m", "pip", "install", "--quiet", "--no-input", *packages],
        "pip cannot install the zip's requirements",
    )
    return "pip"


def _variables(root: Path, scripts: str) -> dict[str, str]:
    """Few environment variables, with all user folders inside `root`, so that nothing is left behind."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    path = os.pathsep.join((scripts, os.environ.get("PATH", os.defpath)))
    return inherited | {"PATH": path} | {name: str(root / place) for name, place in FOLDERS.items()}


def _do(command: list[str], trouble: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines
        reason = errors[0][:300] if errors else "no reason given"
        raise CommandError(f"{trouble}: {reason} (--here uses the installed packages)")


# The run

SECONDS = 600  # Gradescope's time limit, unless set otherwise
REASON_LENGTH = 600  # characters


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
    with temporary_folder("autograder-rehearsal-") as root:
        root.chmod(0o711)  # the user of student code must be able to enter
        place = root / "autograder"
        lay_out(place, zipped, upload)
        return grade(place, installed(place, root) if here else fresh(place, root))


def grade(place: Path, used: Environment) -> Rehearsal:
    """Run the zip's run_otter.py in these folders.

    Raises CommandError if there is no result; Gradescope would then report that the autograder failed.
    """
    (python, variables, how), start = used, time.monotonic()
    status, printed, errors = _call([python, str(place / "source" / "run_otter.py")], place, variables)
    seconds = time.monotonic() - start
    reason = _reason(errors)
    try:
        document = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        raise CommandError(f"there is no results.json; the submission would stay ungraded: {reason}") from None
    except ValueError as error:
        raise CommandError(f"results.json is not JSON: {error}") from error
    if status:
        raise CommandError(f"run_otter.py failed after results.json was written: {reason}")
    return Rehearsal(document, printed, seconds, how)


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    """Exit status, output and errors of a command; all its processes are ended with it."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # a group of its own, to be ended as a whole
    )
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
        process.wait()
    return process.returncode, printed, errors


def _reason(errors: str) -> str:
    """Why a run failed: the last unindented line of its traceback."""
    if os.strerror(errno.ENOSPC) in errors:
        return f"no space left on the disk of {tempfile.gettempdir()}; free some space, or set TMPDIR to a folder on another disk"
    lines = [line for line in errors.splitlines() if line.strip() and not line.startswith(" ")]
    return lines[-1][:REASON_LENGTH] if lines else "no reason given"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


# Gradescope's documented results.json: its fields, and who sees what when, printed for an instructor.
#
# Source: Gradescope, "Autograder Specifications", sections "Output format", "Controlling Test Case Visibility", "Test case
# status" and "Output String Formatting", https://gradescope-autograders.readthedocs.io/en/latest/specs/. Stricter in one point:
# an undocumented key is rejected, since a misspelled one would be ignored silently.

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
Format = Literal["text", "simple_format", "html", "md", "ansi"]
MOMENTS: tuple[Visibility, ...] = ("visible", "after_due_date", "after_published", "hidden")


class TestCase(BaseModel, extra="forbid", strict=True, frozen=True):
    """One entry of `tests`; all fields are optional."""

    score: FiniteFloat | None = None
    max_score: FiniteFloat | None = None
    status: Literal["passed", "failed"] | None = None
    name: str | None = None
    name_format: Format | None = None
    number: str | None = None
    output: str | None = None
    output_format: Format | None = None
    tags: list[str] | None = None
    visibility: Visibility | None = None
    extra_data: dict[str, Any] | None = None


class LeaderboardEntry(BaseModel, extra="forbid", strict=True, frozen=True):
    """One value of the leaderboard."""

    name: str
    value: FiniteFloat | str
    order: Literal["asc", "desc"] | None = None


class Results(BaseModel, extra="forbid", strict=True, frozen=True):
    """The whole document."""

    score: FiniteFloat | None = None
    execution_time: FiniteFloat | None = None
    output: str | None = None
    output_format: Format | None = None
    test_output_format: Format | None = None
    test_name_format: Format | None = None
    visibility: Visibility | None = None
    stdout_visibility: Visibility | None = None
    extra_data: dict[str, Any] | None = None
    tests: list[TestCase] | None = None
    leaderboard: list[LeaderboardEntry] | None = None

    @model_validator(mode="after")
    def _has_a_score(self) -> "Results":
        if self.score is None and not any(case.score is not None for case in self.tests or ()):
            raise ValueError("there is no score, neither at the top nor in tests")
        return self

    @property
    def points(self) -> float:
        """The score: the one at the top replaces the sum."""
        return self.score if self.score is not None else sum(case.score or 0 for case in self.tests or ())

    @property
    def possible(self) -> float:
        return sum(case.max_score or 0 for case in self.tests or ())

    def shown(self, moment: Visibility) -> list[TestCase]:
        """The entries that become visible to a student at this moment; for "hidden", those that never do."""
        return [case for case in self.tests or () if (case.visibility or self.visibility or "visible") == moment]


def problems(document: Any) -> list[str]:
    """Deviations of a document from the documented format, one line each."""
    try:
        Results.model_validate(document)
    except ValidationError as refused:
        said = {"extra_forbidden": "this key is not documented"}
        return [
            f"{'.'.join(map(str, error['loc'])) or 'results.json'}: "
            + said.get(error["type"], error["msg"].removeprefix("Value error, "))
            for error in refused.errors()
        ]
    return []


# The output of `autograder rehearse`: who sees what of a results.json, and when.


def lines(done: Rehearsal, results: Results, brief: bool) -> Iterator[str]:
    """Who sees what, and when; if `brief`, only the first message of each moment."""
    yield f"Graded in {done.seconds:.1f} s, {done.how}."
    yield "results.json is in Gradescope's format."
    yield from _title("What the student sees immediately")
    yield from _text(results.output)
    yield from _moment(results, "visible", brief)
    if results.shown("after_due_date"):
        yield from _title("What the student also sees after the due date")
        yield from _moment(results, "after_due_date", brief)
    yield from _title("What the student also sees when grades are published")
    yield from _moment(results, "after_published", brief)
    yield from _title("What the instructor sees")
    yield f"All of the above, and the total: {_points(results.points, results.possible)}"
    yield f'The assignment\'s "Autograder points" must be {number(results.possible)}.'
    if results.shown("hidden"):
        yield "Never shown to the student:"
    yield from _cases(results.shown("hidden"), brief)
    for criterion, names in _misconceptions(results):
        yield printable(f"Misconception in {criterion}: {names}")
    layers = (results.extra_data or {}).get("layers")
    if layers:
        yield printable(f"Layers of the sandbox here: {', '.join(map(str, layers))}")
    shown = [line for line in _text(done.printed)[-20:] if line.strip()]
    yield "The end of the autograder's output:"
    yield from (f"    {line}" for line in shown)


def _title(text: str) -> list[str]:
    return ["", text, "-" * len(text)]


def _moment(results: Results, moment: Visibility, brief: bool) -> Iterator[str]:
    cases = results.shown(moment)
    yield from _cases(cases, brief)
    if not cases:
        yield "Nothing."
    if any(map(results.shown, MOMENTS[MOMENTS.index(moment) + 1 :])):
        yield "No total: Gradescope does not show it while any result is hidden."
    else:
        yield f"Total: {_points(results.points, results.possible)}"


def _cases(cases: list[TestCase], brief: bool) -> Iterator[str]:
    said = [case for case in cases if case.output]
    for case in cases:
        facts = [_status(case), *([] if case.max_score is None else [_points(case.score or 0, case.max_score)])]
        yield printable("  ".join([*filter(None, facts), case.name or "unnamed"]))
        for line in _text(case.output) if (not brief or case in said[:1]) else ():
            yield f"    {line}".rstrip()
    if brief and len(said) > 1:
        yield f"({len(said) - 1} more with a message; omit --brief to print them)"


def _status(case: TestCase) -> str:
    """The color of an entry on Gradescope: by its status, else by its points, if any."""
    if case.status or case.max_score is None:
        return case.status or ""
    return "passed" if (case.score or 0) >= case.max_score else "failed"


def _misconceptions(results: Results) -> Iterator[tuple[str, str]]:
    """The criteria that name misconceptions, with these."""
    for case in results.tests or ():
        data = case.extra_data or {}
        named = data.get("misconceptions")
        names = [str(name) for name in named if name] if isinstance(named, list) else []
        if names:
            yield str(data.get("criterion", case.name or "")), ", ".join(names)


def _points(score: float, possible: float) -> str:
    return f"{number(score)} of {number(possible)}"


def _text(text: str | None) -> list[str]:
    return [printable(line) for line in (text or "").strip("\n").splitlines()]
