"""The kit as an Otter plugin: one class, with its events in the order in which Otter calls them.

`otter assign` calls during_assign, which completes the student folder and the zip for Gradescope. The zip's
run_otter.py calls the others in one process, after the upload has been moved out of submission/. The upload is graded
in the kit's sandbox before Otter starts its kernel.

A grader error is never a 0: an exception here that is not an OtterRuntimeError ends Otter before it writes
results.json. Gradescope then shows the instructor an error and keeps the submission ungraded.
"""

import contextlib
import functools
import os
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from otter.plugins import AbstractOtterPlugin

from autograder.exceptions import CommandError
from autograder.feedback.results import gradescope
from autograder.grading.grader import Result, open_grader
from autograder.homework import kit, rubric
from autograder.sandbox import workspace
from autograder.submissions.submission import read
from autograder.submissions.text import number

FAULT_LENGTH = 500  # characters


class HomeworkPlugin(AbstractOtterPlugin):  # type: ignore[misc]
    """The plugin named in the master notebook under `plugins`."""

    def during_assign(self, assignment: Any) -> None:
        """Complete the output of `otter assign`: the student folder, and the contents of the zip."""
        from autograder.release import handout, packing  # only here: grading never needs otter.assign and hatchling

        master, solutions = assignment.master, Path(assignment.master).parent.resolve()
        kit.use(solutions.parent)
        # Reject a notebook of another kit: its zip would grade a homework that was not checked.
        if solutions.parent != kit.home():
            raise CommandError(f"the installed kit is {kit.home()}; first run: pip install -e {solutions.parent}")
        rules = rubric.current()
        if foreign := [name for name in assignment.student_files if name not in rules.files]:
            advice = "the files of students are listed in rubric.yaml; remove student_files"
            raise CommandError(f"{master.name}: rubric.yaml has no module for {foreign[0]}; {advice}")
        tests = Path(assignment.get_ag_path("tests") if assignment.tests.files else assignment.generate_tests_dir)
        if foreign := sorted({path.stem for path in tests.glob("*.py")} - {*rules.groups}):
            known = f"only for {', '.join(rules.groups)}"
            raise CommandError(f"{master.name}: rubric.yaml has no entry for the question {foreign[0]}, {known}")
        student, grader = Path(assignment.get_stu_path()), Path(assignment.get_ag_path())
        assignment.student_files = list(rules.files)
        handout.write(student, solutions, rules, master.name)
        packing.test_files(tests, rules)
        packing.driver(grader / master.name, assignment.name)
        packing.run_otter()
        wheel = packing.wheel(solutions.parent, grader / packing.WHEEL)
        lines = packing.requirements(wheel, f"{assignment.generate.autograder_dir}/source/files/{packing.WHEEL}")
        (grader / "requirements.txt").write_text("\n".join(lines) + "\n")
        assignment.requirements = str(grader / "requirements.txt")
        # Otter would add its own line, with unpinned packages for features that the kit does not use.
        assignment.overwrite_requirements = True
        assignment.python_version = packing.python_version()
        assignment.files = [master.name, f"{packing.WHEEL}/{wheel.name}"]

    def before_grading(self, config: Any) -> None:
        """Grade the upload, from a folder where neither Otter nor its kernel can import or unpickle it."""
        try:
            self._result = grade(Path(self.submission_path).parent.parent, config.otter_run)
            self._document = gradescope(self._result)
        except Exception as error:
            why = f"{type(error).__name__}: {str(error)[:FAULT_LENGTH]}"  # the text may list every file on a full disk
            raise CommandError(f"the grader failed, so there is no result: {why}") from error

    def after_grading(self, results: Any) -> None:
        """Report the kit's results, one per criterion, and give Otter's questions the same scores."""
        if results.has_catastrophic_failure():
            raise CommandError(f"Otter's Jupyter kernel gave no results: {results.catastrophic_error!r}")
        results.to_gradescope_dict = functools.partial(_given, self._document)
        results.set_output(self._document["output"])
        for module in self._result.modules:
            question = results.get_result(module.module)
            lost = [graded.criterion.id for graded in module.graded if not graded.passed]
            for case in question.test_case_results:
                case.passed = not lost
                case.message = f"Criteria that failed: {', '.join(lost)}" if lost else "Every criterion passed."
            question.update_score(number(sum(graded.points for graded in module.graded)) if lost else question.possible)


def _given(document: dict[str, Any], config: Any) -> dict[str, Any]:
    """Replaces Otter's to_gradescope_dict. It is at module level because Otter pickles it."""
    return document


# Keeps the upload out of Otter's reach while Otter runs.
#
# Otter works in submission/ long before it calls a plugin: it copies the zip's files over the upload, also through links, creates
# an `__init__.py`, and rejects two notebooks. Later it unpickles `.OTTER_LOG`, and Python would import an uploaded `random.py`
# instead of its own. Therefore the zip's run_otter.py first moves everything to a closed folder, and Otter finds submission/ empty.

UPLOAD = "upload"  # the closed folder, next to submission/ and source/


@contextlib.contextmanager
def quarantined(place: Path) -> Iterator[None]:
    """Move the upload away while Otter runs in `place`, and back afterwards, so that it can be graded again."""
    # First, so that a grader error cannot leave the result of an earlier run.
    (place / "results" / "results.json").unlink(missing_ok=True)
    _take(place)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # there is already a result or a more precise error
            workspace.empty(str(place / "submission"))
            _move(list((place / UPLOAD).iterdir()), place / "submission")
            (place / UPLOAD).rmdir()


def grade(place: Path, otter_run: bool) -> Result:
    """Grade the upload in `place`.

    Raises CommandError if Otter accessed the upload first. `otter_run` permits this, since Otter has then unpacked a
    zip with Python's zipfile, which creates no links. In this case, Otter's files are left out.
    """
    if otter_run:
        _take(place, {*os.listdir(place / "source" / "files"), "tests", "__init__.py"})
    elif not (place / UPLOAD).is_dir():
        raise CommandError("the run_otter.py in the zip is not the kit's; build the zip again with the kit's own Otter")
    with open_grader() as grader:
        return grader.grade(read(place / UPLOAD, grader.rubric.limits))


def _take(place: Path, left: Collection[str] = ()) -> None:
    """Move the contents of submission/ to the closed folder, except some names."""
    for with_the_wheel in ("source", "submission"):  # student code runs as another user if possible
        (place / with_the_wheel).chmod(0o700)
    (place / UPLOAD).mkdir(mode=0o700)
    _move([path for path in (place / "submission").iterdir() if path.name not in left], place / UPLOAD)


def _move(paths: list[Path], folder: Path) -> None:
    for path in paths:
        shutil.move(path, folder / path.name, copy_function=_copy_regular)


def _copy_regular(source: str, target: str) -> None:
    """Copy a file that cannot be moved, as between two disks; pipes are left out, and links are not followed."""
    if stat.S_ISREG(Path(source).lstat().st_mode):
        shutil.copy2(source, target, follow_symlinks=False)
