"""What the grader runs with: an interpreter, its packages, and environment variables."""

import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import yaml

from autograder.faults import ArgumentsError, CommandError
from autograder.release import lock
from autograder.release.prerequisites import require_kernel, require_otter
from autograder.release.rehearsal.tree import GRADESCOPE

KEPT = ("SYSTEMROOT", "LANG", "LC_ALL")  # environment variables that are handed on
# An interpreter, its environment variables, and a line on how they came about.
Environment = tuple[str, dict[str, str], str]
FOLDERS = {"HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp"}


def asked(tree: Path) -> tuple[str, list[Path], list[str]]:
    """What the zip asks for: a version of Python ("" if none is named), wheels of its own, and other lines for pip.

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
    """The interpreter that runs now, with the kit from the zip before everything installed.

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
    others = lock.otherwise_here(lines)
    more = f", and {len(others) - 3} more" if len(others) > 3 else ""
    how = f"; other versions than in the zip: {', '.join(others[:3])}{more}" if others else ", the versions of the zip"
    # HOME is another one in a rehearsal, so that what is installed for this user must be pointed to.
    own = {"PYTHONPATH": str(root / "kit"), "PYTHONUSERBASE": site.getuserbase(), "JUPYTER_PATH": jupyter_data_dir()}
    variables = _variables(root, str(Path(sys.executable).parent)) | own
    return sys.executable, variables, f"with what is installed here{how}"


def fresh(tree: Path, root: Path) -> Environment:
    """A new virtual environment with the zip's pip requirements.

    Raises CommandError.
    """
    (wanted, wheels, lines), here = asked(tree), lock.python_version()
    python = (shutil.which(f"python{wanted}") if wanted not in ("", here) else None) or sys.executable
    _do([python, "-m", "venv", str(root / "venv")], "no virtual environment can be made")
    (root / "venv").chmod(0o700)  # as on Gradescope, where it lies below /root
    scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(root / "venv")})
    own = shutil.which("python", path=scripts) or sys.executable
    packages = [*map(str, wheels), *lines]
    if packages:
        command = [own, "-m", "pip", "install", "--quiet", "--no-input", *packages]
        _do(command, "pip cannot install the zip's requirements")
    command = [own, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    note = f", where Gradescope has {wanted}" if wanted not in ("", version) else ""
    return own, _variables(root, scripts), f"in a fresh environment of Python {version}{note}"


def _variables(root: Path, scripts: str) -> dict[str, str]:
    """Few environment variables, and every place for files of one's own inside `root`, so that nothing is left behind."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    (root / "tmp").chmod(0o1777)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    path = os.pathsep.join((scripts, os.environ.get("PATH", os.defpath)))
    return kept | {"PATH": path} | {name: str(root / place) for name, place in FOLDERS.items()}


def _do(command: list[str], trouble: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")] or lines
        reason = errors[0][:300] if errors else "no reason given"
        raise CommandError(f"{trouble}: {reason} (--here uses what is installed already)")
