"""`autograder build`: runs `otter assign`, updates assignments/, and writes a zip for Gradescope and one for students.

Otter's zips contain timestamps, so they are repacked: the same tree with the same installed packages gives the same
bytes. Otter empties RESULT/autograder, so RESULT is a temporary folder, never the repository. A rehearsal, which runs
the zip's run_otter.py, checks that the solutions get full marks.
"""

import contextlib
import doctest
import json
import os
import posixpath
import re
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from autograder.exceptions import ArgumentsError, CommandError, of_system
from autograder.files import write_atomically
from autograder.grading.call_results import compared
from autograder.grading.grader import open_grader
from autograder.grading.plan import Plan
from autograder.grading.runner.processes import Direct
from autograder.homework.homework import PACKAGE, Homework
from autograder.homework.rubric import INTEGRATION
from autograder.release import drafts, handout, packing, rehearsal, site

CLICK = "Error: "  # begins the line that `otter assign` prints if the plugin rejects the homework
DEVCONTAINER = ".devcontainer/devcontainer.json"
Stage = Callable[[str], None]


def build(
    homework: Homework,
    out: Path,
    stage: Stage = lambda name: None,
    check: bool = True,
    with_site: bool = False,
    pyodide: Path | None = None,
) -> list[Path]:
    """Write OUT/autograder.zip and OUT/student.zip and update assignments/; return the written paths.

    With `with_site`, also write OUT/site, with the files of Pyodide in the folder `pyodide` if there is one.

    assignments/ has the files of the student folder that the build makes, and those that its pages link to, so that the
    pages can be read there. All others are copies from solutions/ and from the package.

    `stage` is called with the name of each stage. If `check` is true, the zip must grade the solutions.
    Raises CommandError, SandboxError, or ArgumentsError for an unusable OUT.
    """
    for folder in (homework.folder / "assignments", homework.solutions):
        if out.resolve().is_relative_to(folder):
            raise ArgumentsError(f"-o {out}: the zips do not belong in {folder}; give another folder with -o")
    packing.tree(homework)
    python = site.python_files(pyodide)
    stage("Recording the hidden tests")
    # First, so that the kit reports an invalid rubric or a wrong solution, not Otter.
    with open_grader(homework) as grader:
        if problems := [*wrong_docstrings(homework), *wrong_versions(grader.plan)]:
            raise CommandError("\n".join(problems))
    drafts.refuse_placeholders(homework)
    drafts.update_checks(homework)
    with assigned(homework, check, stage) as result:
        stage("Writing the zips")
        written = write(homework, result, out, homework.folder / "assignments")
    return [*written, site.write(homework, out / "student.zip", out / "site", python)] if with_site else written


def wrong_docstrings(homework: Homework) -> Iterator[str]:
    """Run the docstring examples of the solutions; yield file, line and both results for the first wrong one of each docstring."""
    with homework.importable():
        for name, module in homework.modules.items():
            for test in doctest.DocTestFinder().find(module, name):
                try:
                    doctest.DebugRunner(verbose=False).run(test)
                except (doctest.DocTestFailure, doctest.UnexpectedException) as failure:
                    if isinstance(failure, doctest.DocTestFailure):
                        result = f"prints {failure.got.strip() or 'nothing'}"
                    else:
                        result = f"raises {failure.exc_info[0].__name__}: {failure.exc_info[1]}"
                    example = failure.example
                    source_line = f"{test.filename}:{(test.lineno or 0) + example.lineno + 1}"
                    want = f"{example.source.strip()} prints {example.want.strip() or 'nothing'}"
                    text = f"{source_line}: the docstring says that {want}, but the solution {result}"
                    yield " ".join(text.split())


def wrong_versions(plan: Plan) -> Iterator[str]:
    """Run the correct versions of the misconception library on every test call.

    Yield file and line of each version whose results differ from the solution's, with the first such call.
    """
    homework = plan.homework
    written = {name: entry for tables in homework.library.values() for name, entry in tables.items()}
    modules = {name: homework.rubric.module_of(name) for name in written}
    versions = {name: homework.correct(modules[name], name).fresh() for name in written}
    first_failures = dict[str, str]()
    for module in (*homework.rubric.modules, INTEGRATION):
        test_calls = (*plan.public[module], *plan.hidden[module])
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            responses = Direct(versions).run(test_call.call for test_call in test_calls)
        for call in (call_result.test_call for call_result in compared(test_calls, responses) if call_result.failed):
            number = [c.target for c in plan.examples.get(module, ()) if c.number < call.number].count(call.target)
            where = call.test or f"EXAMPLES[{call.target.function!r}][{number}]"
            first_failures.setdefault(call.target.function, where)
    for name, where in first_failures.items():
        solution = homework.solutions / f"{modules[name]}.py"
        yield f"{written[name].source_line}: this version of {name} differs from the solution in {solution} for {where}"


def write(homework: Homework, result: Path, out: Path, assignments: Path) -> list[Path]:
    """Write the two zips and assignments/, from a RESULT of `otter assign`."""
    student, folder = packing.contents(result / "student"), Path(homework.notebook).stem
    # The students' environment for GitHub Codespaces and editors: the grader's Python and the students' packages.
    devcontainer = {
        "name": homework.rubric.title,
        "image": f"mcr.microsoft.com/devcontainers/python:{homework.rubric.python}",
        "postCreateCommand": "pip install -r requirements.txt",
        "customizations": {"vscode": {"extensions": ["ms-python.python", "ms-toolsai.jupyter"]}},
    }
    workspace = student | {DEVCONTAINER: json.dumps(devcontainer, indent=2).encode() + b"\n"}
    copies, values = packing.contents(homework.solutions), packing.contents(PACKAGE / "shared")
    copies |= {f"{handout.VALUES}/{name}": data for name, data in values.items()}
    linked = {
        posixpath.normpath(posixpath.join(posixpath.dirname(page), link.decode()))
        for page, data in student.items()
        if page.endswith(".md")
        for link in re.findall(rb"\]\(([^)\s#]+)", data)
    }
    generated = {name: data for name, data in student.items() if name in linked or copies.get(name) != data}
    with zipfile.ZipFile(_zip_in(result)) as archive:
        # Otter's environment.yml is for conda, with unpinned packages. setup.sh does not use it.
        grader = {name: archive.read(name) for name in archive.namelist() if name != "environment.yml"}
    zips = {
        out / "autograder.zip": grader,
        out / "student.zip": {f"{folder}/{name}": data for name, data in workspace.items()},
    }
    try:
        for path, files in zips.items():
            write_atomically(path, packing.packed(files))
        packing.refresh(generated, assignments)
    except OSError as error:
        raise of_system(error, out) from error
    return [*zips, assignments]


@contextlib.contextmanager
def assigned(homework: Homework, check: bool = True, stage: Stage = lambda name: None) -> Iterator[Path]:
    """Run `otter assign` into a temporary folder; if `check` is true, also grade the solutions with the zip.

    Raises CommandError.
    """
    root = packing.tree(homework)
    stage("Running otter assign")
    with packing.temporary_folder("autograder-build-") as result:
        # In a clone, use its kit, whichever kit is installed.
        path = os.pathsep.join(filter(None, (str(root), os.environ.get("PYTHONPATH"))))
        environment = os.environ | ({"PYTHONPATH": path} if homework.is_packaged else {})
        master = homework.solutions / homework.notebook
        command = [sys.executable, "-m", "otter", "assign", str(master), str(result), "--no-run-tests"]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, errors="replace")
        if done.returncode:
            text = rehearsal.reason(done.stderr)
            why = text.removeprefix(CLICK) if text.startswith(CLICK) else f"otter assign failed: {text}"
            raise CommandError(_failing_check(root / "solutions") or why)
        if check:
            stage("Grading the solutions")
            # There is no result if the solutions do not get full marks.
            with packing.temporary_folder("autograder-solutions-") as upload:
                packing.copy_parts(
                    root / "solutions", upload, (path.name for path in (root / "solutions").glob("*.py"))
                )
                rehearsal.rehearse(_zip_in(result), upload, in_place=True)
            if failing := _failing_check(root / "solutions"):
                raise CommandError(failing)
        yield result


def _zip_in(result: Path) -> Path:
    return next((result / "autograder").glob("*.zip"))


def _failing_check(solutions: Path) -> str:
    """Return the first public check that fails on the solutions, with its line; "" if none does."""
    with packing.temporary_folder("autograder-checks-") as folder:
        report = folder / "report.xml"
        command = [sys.executable, "-m", "pytest", f"--junit-xml={report}", "-o", "junit_family=xunit1", "checks"]
        subprocess.run(command, cwd=solutions, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True)
        for case in ElementTree.parse(report).iter("testcase") if report.is_file() else ():
            failure = case.find("failure")
            if failure is not None:
                text = " ".join(failure.get("message", "").split())[: rehearsal.REASON_LENGTH]
                source_line = f"{solutions / case.get('file', '')}:{int(case.get('line', '0')) + 1}"
                return f"{source_line}: {case.get('name')}: this public check fails on the solution: {text}"
    return ""
