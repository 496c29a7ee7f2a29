"""Grades one upload as Gradescope would: the folders, the environment, the run; and what students and instructors see.

`otter run` alone takes no folder, fails on a damaged zip, uses the installed packages instead of those the zip requires, has
no time limit, and does not use the zip's run_otter.py. Unlike on Gradescope, the machine, its user and its limits are the
local ones, and neither setup.sh nor conda runs.
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
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

import yaml
from pydantic import BaseModel, FiniteFloat, ValidationError, model_validator

from autograder.exceptions import ArgumentsError, CommandError
from autograder.feedback.text import number
from autograder.homework.rubric import Visibility
from autograder.release import packing
from autograder.submissions.text import printable

GRADESCOPE = "/autograder"  # the path on Gradescope
SECONDS = 600  # Gradescope's time limit, unless set otherwise
NEEDED = ("run_autograder", "setup.sh", "run_otter.py", "environment.yml")  # Otter's files in the zip
UPLOAD_MB, UPLOAD_FILES = 100, 10_000  # a zip of more is not unpacked
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
REASON_LENGTH = 600  # characters
PROBLEMS = 8  # of a results.json, in a message
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
    """Create the folders, with the zip for Gradescope in source/ and the upload in submission/.

    Raises ArgumentsError, or OSError.
    """
    for name in ("source", "submission", "results"):
        (tree / name).mkdir(parents=True)
    (tree / "submission_metadata.json").write_text("{}")  # student and time: not used here
    _unpack_autograder(zipped, tree / "source")
    target = tree / "submission"
    if not upload.exists():
        raise ArgumentsError(f"{upload}: there is no such file or folder")
    if upload.is_dir():
        shutil.copytree(upload, target, ignore=_neither_file_nor_folder, dirs_exist_ok=True)
    elif upload.suffix.lower() != ".zip" or not _unpacked(upload, target):
        shutil.copy(upload, target)
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
    except Exception as error:  # a damaged zip can raise anything: zlib.error, struct.error, ValueError ...
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            raise
        shutil.rmtree(target)
        target.mkdir()
        return False
    return True


# The environment of the grader: an interpreter, its packages, and environment variables


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
    """The running interpreter, with the kit of the zip first on its path."""
    from jupyter_core.paths import jupyter_data_dir  # only here, to save start-up time

    _, wheels, lines = asked(tree)
    (root / "kit").mkdir(mode=0o700)  # it holds the solutions
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
    """The pinned packages with another version here, or none, and the pinned version."""
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
    """A new virtual environment with the zip's requirements.

    Raises CommandError.
    """
    (wanted, wheels, lines), here = asked(tree), packing.python_version()
    found = shutil.which(f"python{wanted}") if wanted not in ("", here) else None
    _do([found or sys.executable, "-m", "venv", str(root / "venv")], "cannot create a virtual environment")
    (root / "venv").chmod(0o700)  # as on Gradescope, where it lies below /root
    scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(root / "venv")})
    python = shutil.which("python", path=scripts) or sys.executable
    packages, tool = [*map(str, wheels), *lines], "uv" if uv() else "pip"
    install = [uv(), "pip", "install", "--python", python] if uv() else [python, "-m", "pip", "install", "--no-input"]
    if packages:
        _do([*install, "--quiet", *packages], f"{tool} cannot install the zip's requirements")
    note = f", where Gradescope has {wanted}" if not found and wanted not in ("", here) else ""
    how = f"in a fresh environment of Python {wanted if found else here}{note}, installed with {tool}"
    return python, _variables(root, scripts), how


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
    """Few environment variables, with all user folders inside `root`, so that nothing is left behind."""
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
        document = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        why = f"there is no results.json; the submission would stay ungraded: {reason(errors)}"
        raise CommandError(why) from None
    except ValueError as error:
        raise CommandError(f"results.json is not JSON: {error}") from error
    if status:
        raise CommandError(f"run_otter.py failed after results.json was written: {reason(errors)}")
    return Rehearsal(document, printed, seconds, how)


def _call(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[int, str, str]:
    """Exit status, output and errors of a command; all its processes are ended with it."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # a group of its own, to be ended as a whole
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
    if any(os.strerror(code) in errors for code in NO_SPACE):
        return f"no space left on the disk of {tempfile.gettempdir()}; free some space, or set TMPDIR to a folder on another disk"
    _, traceback, last = errors.rpartition("Traceback (most recent call last):")
    lines = last.strip("\n").splitlines()
    ends = [place for place, line in enumerate(lines) if line.strip() and not line.startswith(" ")]
    if not ends:
        return "no reason given"
    return " ".join(" ".join(lines[ends[0] if traceback else ends[-1] :]).split())[:REASON_LENGTH]


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number in JSON")


# Gradescope's documented results.json: its fields, and who sees what when, printed for an instructor.
#
# Source: Gradescope, "Autograder Specifications", sections "Output format", "Controlling Test Case Visibility", "Test case
# status" and "Output String Formatting", https://gradescope-autograders.readthedocs.io/en/latest/specs/. Stricter in one point:
# an undocumented key is rejected, since a misspelled one would be ignored silently.

Format = Literal["text", "simple_format", "html", "md", "ansi"]
MOMENTS: tuple[Visibility, ...] = get_args(Visibility)
TITLES = (
    "What the student sees immediately",
    "What the student also sees after the due date",
    "What the student also sees when grades are published",
)


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

    @property
    def shown_status(self) -> str:
        """The color of an entry on Gradescope: by its status, else by its points, if any."""
        if self.status or self.max_score is None:
            return self.status or ""
        return "passed" if (self.score or 0) >= self.max_score else "failed"


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
    tests: list[TestCase] = []
    leaderboard: list[dict[str, Any]] | None = None

    @model_validator(mode="after")
    def _has_a_score(self) -> "Results":
        if self.score is None and not any(case.score is not None for case in self.tests):
            raise ValueError("there is no score, neither at the top nor in tests")
        return self

    @property
    def total(self) -> str:
        """The score at the top replaces the sum."""
        points = self.score if self.score is not None else sum(case.score or 0 for case in self.tests)
        return f"{number(points)} of {number(self.possible)}"

    @property
    def possible(self) -> float:
        return sum(case.max_score or 0 for case in self.tests)

    def shown(self, *moments: Visibility) -> list[TestCase]:
        """The entries that become visible to a student at these moments; for "hidden", those that never do."""
        return [case for case in self.tests if (case.visibility or self.visibility or "visible") in moments]


def results(document: Any) -> Results:
    """The document, checked.

    Raises CommandError with its deviations from the documented format, one line each.
    """
    try:
        return Results.model_validate(document)
    except ValidationError as error:
        said = {"extra_forbidden": "this key is not documented"}
        problems = [
            f"{'.'.join(map(str, problem['loc'])) or 'results.json'}: {said.get(problem['type'], problem['msg'])}"
            for problem in error.errors()[:PROBLEMS]
        ]
        raise CommandError("\n  ".join(["results.json is not in Gradescope's format:", *problems])) from None


def lines(done: Rehearsal, results: Results, brief: bool) -> Iterator[str]:
    """Who sees what, and when; if `brief`, only the first message of each moment."""
    yield f"Graded in {done.seconds:.1f} s, {done.how}."
    yield "results.json is in Gradescope's format."
    for place, (moment, title) in enumerate(zip(MOMENTS, TITLES, strict=False)):
        cases = results.shown(moment)
        if moment == "after_due_date" and not cases:
            continue
        yield from ("", title, "-" * len(title))
        if moment == "visible":
            yield from _text(results.output)
        yield from _cases(cases, brief) if cases else ["Nothing."]
        if results.shown(*MOMENTS[place + 1 :]):
            yield "No total: Gradescope does not show it while any result is hidden."
        else:
            yield f"Total: {results.total}"
    title = "What the instructor sees"
    yield from ("", title, "-" * len(title))
    yield f"All of the above, and the total: {results.total}"
    yield f'The assignment\'s "Autograder points" must be {number(results.possible)}.'
    if never := results.shown("hidden"):
        yield "Never shown to the student:"
        yield from _cases(never, brief)
    for data in (case.extra_data or {} for case in results.tests):
        if names := data.get("misconceptions"):
            yield printable(f"Misconception in {data['criterion']}: {', '.join(names)}")
    if layers := (results.extra_data or {}).get("layers"):
        yield printable(f"Layers of the sandbox here: {', '.join(layers)}")
    yield "The end of the autograder's output:"
    yield from (f"    {line}" for line in _text(done.printed)[-20:] if line.strip())


def _cases(cases: list[TestCase], brief: bool) -> Iterator[str]:
    with_message = [case for case in cases if case.output]
    for case in cases:
        points = "" if case.max_score is None else f"{number(case.score or 0)} of {number(case.max_score)}"
        yield printable("  ".join(filter(None, (case.shown_status, points, case.name or "unnamed"))))
        if not brief or case in with_message[:1]:
            yield from (f"    {line}".rstrip() for line in _text(case.output))
    if brief and len(with_message) > 1:
        yield f"({len(with_message) - 1} more with a message; omit --brief to print them)"


def _text(text: str | None) -> list[str]:
    return [printable(line) for line in (text or "").strip("\n").splitlines()]
