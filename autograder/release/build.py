"""`autograder build`: runs `otter assign`, updates assignments/, and writes a zip for Gradescope and one for students.

Otter stamps the time on its zips, so they are repacked: the same tree, and the same installed packages, give the same bytes. Otter
empties RESULT/autograder, so RESULT is a temporary folder, never the repository. A rehearsal, which runs the zip's own
run_otter.py, checks that the solutions get full marks.
"""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from autograder.exceptions import ArgumentsError, CommandError, of_system
from autograder.grading import plan
from autograder.homework import kit, rubric
from autograder.release import new_module, packing, rehearsal, selection
from autograder.release.prerequisites import require_otter, temporary_folder, tree

REASON_LENGTH = 600  # characters
OURS = ("CommandError", "ArgumentsError", "RubricError")  # exceptions with a one-line text for an instructor


Stage = Callable[[str], None]
# The stages of a build, with their shares of its processor time.
STAGES = {
    "Recording the hidden tests": 15.0,
    "Running otter assign": 50.0,
    "Grading the solutions": 30.0,
    "Writing the zips": 5.0,
}
RECORD, ASSIGN, CHECK, WRITE = STAGES


def build(
    out: Path,
    assignments: Path | None = None,
    only: Sequence[str] = (),
    stage: Stage = lambda name: None,
    check: bool = True,
) -> list[Path]:
    """Write OUT/autograder.zip and OUT/student.zip and update assignments/; returns what was written.

    With `only`, the homework has just these modules, and its student folder is OUT/assignments. `stage` is called with the
    name of each stage in STAGES. `check`: grade the solutions with the zip. Raises CommandError, also if they do not get full
    marks, RubricError, and ArgumentsError for an unusable `only`.
    """
    stage(RECORD)
    # First, so that an invalid rubric is reported in its own words, not in Otter's.
    plan.record(rubric.current())
    new_module.refuse_placeholders(tree())
    if not only:
        with assigned(check, stage=stage) as result:
            stage(WRITE)
            return write(result, out, assignments or kit.home() / "assignments")
    students = assignments or out / "assignments"
    if students.resolve() == kit.home() / "assignments":
        raise ArgumentsError(f"{students} is for the whole homework; give another folder with -o")
    with selection.selected(only) as root, assigned(check, root, stage) as result:
        stage(WRITE)
        return write(result, out, students)


def write(result: Path, out: Path, assignments: Path) -> list[Path]:
    """Write the two zips and assignments/, from a RESULT of `otter assign`.

    Raises CommandError.
    """
    zipped = next((result / "autograder").glob("*.zip"))
    student = packing.contents(result / "student")
    try:
        out.mkdir(parents=True, exist_ok=True)
        folder = Path(kit.notebook()).stem
        zips = [
            packing.pack(packing.unzipped(zipped), out / "autograder.zip"),
            packing.pack({f"{folder}/{name}": data for name, data in student.items()}, out / "student.zip"),
        ]
        packing.refresh(student, assignments)
    except OSError as error:
        raise of_system(error, out) from error
    return [*zips, assignments]


# otter assign


@contextlib.contextmanager
def assigned(check: bool = True, root: Path | None = None, stage: Stage = lambda name: None) -> Iterator[Path]:
    """The RESULT of `otter assign`, in a temporary folder; with `check`, the zip has graded the solutions.

    `root` is the tree to build, by default the kit's own. Raises CommandError.
    """
    root = root or tree()
    require_otter()
    stage(ASSIGN)
    with temporary_folder("autograder-build-") as result:
        # Use the homework in `root`, and in a clone its kit, whichever kit is installed.
        path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
        chosen = {kit.HOMEWORK: str(root)} if kit.outside() else {"PYTHONPATH": path}
        master = root / "solutions" / kit.notebook()
        done = subprocess.run(
            [sys.executable, "-m", "otter", "assign", str(master), str(result), "--no-run-tests"],
            cwd=root,
            env=os.environ | chosen,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode:
            raise CommandError(_failing_check(root / "solutions") or reason(done.stderr))
        if check:
            stage(CHECK)
            _check(next((result / "autograder").glob("*.zip")), root / "solutions")
        yield result


def _check(zipped: Path, solutions: Path) -> None:
    """Raises CommandError unless the solutions get full marks."""
    with temporary_folder("autograder-solutions-") as upload:
        for path in solutions.glob("*.py"):
            shutil.copy(path, upload)
        tests = rehearsal.rehearse(zipped, upload, here=True).document["tests"]
    own = [test for test in tests if not test["extra_data"]["criterion"].startswith(f"{rubric.TESTS}.")]
    lost = [test["extra_data"]["criterion"] for test in own if test["score"] < test["max_score"]]
    if lost:
        raise CommandError(f"the solutions do not get full marks; they lose {', '.join(lost)}")


def _failing_check(solutions: Path) -> str:
    """The first public check that fails on the solutions, with its line; "" if none does."""
    with temporary_folder("autograder-checks-") as folder:
        report = folder / "report.xml"
        command = [sys.executable, "-m", "pytest", f"--junit-xml={report}", "-o", "junit_family=xunit1", "checks"]
        subprocess.run(command, cwd=solutions, capture_output=True)
        cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
        for case in cases:
            failure = case.find("failure")
            if failure is not None:
                said = " ".join(failure.get("message", "").split())[:REASON_LENGTH]
                place = f"{solutions / case.get('file', '')}:{int(case.get('line', '0')) + 1}"
                return f"{place}: {case.get('name')}: this public check fails on the solution: {said}"
    return ""


def reason(stderr: str) -> str:
    """Why Otter failed, on one line: our own text for a known cause, else the last exception of its traceback."""
    if os.strerror(errno.ENOSPC) in stderr:
        return f"no space left on the disk while Otter wrote to {tempfile.gettempdir()}; free some space, or set TMPDIR"
    lines = stderr.rpartition("Traceback (most recent call last):")[2].strip("\n").splitlines()
    ends = [number for number, line in enumerate(lines) if line and not line.startswith(" ")]
    text = " ".join(" ".join(lines[ends[0] :]).split()) if ends else "no reason given"
    name, _, said = text.partition(": ")
    if name.rpartition(".")[2] in OURS:
        return said[:REASON_LENGTH]  # a line of the kit's own, which says what to do
    return f"otter assign failed: {text[:REASON_LENGTH]}"
