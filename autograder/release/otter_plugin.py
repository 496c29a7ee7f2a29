"""The kit as a plugin of Otter: one class, its events in the order in which Otter calls them.

`otter assign` calls during_assign, which completes the students' folder and the zip for Gradescope. The zip's
run_autograder calls the others in one process. By the time Otter starts its kernel, everything uploaded has been moved
out of submission/ and graded in the kit's own sandbox, and the entries of results.json are known.

A fault of the grader is never a 0: an exception here that is not an OtterRuntimeError ends Otter before it writes
results.json, and Gradescope then shows the instructor an error and keeps the submission ungraded.
"""

import contextlib
import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from otter.plugins import AbstractOtterPlugin

from autograder.feedback.results import gradescope, number
from autograder.grading.grader import Graded, Result, open_grader
from autograder.homework import kit, rubric
from autograder.homework.rubric import Limits
from autograder.intake.reading import read
from autograder.intake.submission import Submission
from autograder.sandbox import sweep


class GraderFault(Exception):
    """The grader failed; there is no result, rather than a wrong one."""


class HomeworkPlugin(AbstractOtterPlugin):  # type: ignore[misc]
    """Named in the master notebook under `plugins`."""

    def during_assign(self, assignment: Any) -> None:
        """Complete what `otter assign` has written: the students' folder, and what goes into the zip.

        Raises HandoutError, RubricError, or ValueError where notebook and rubric differ.
        """
        from autograder.release import (  # only here: a machine that grades can do without what they need
            handout,
            packing,
        )

        solutions = Path(assignment.master).parent.resolve()
        _check(assignment, solutions)
        student, grader = Path(assignment.get_stu_path()), Path(assignment.get_ag_path())
        assignment.student_files = _modules()
        handout.write(student, solutions, rubric.current(), assignment.master.name)
        packing.test_files(_tests(assignment), rubric.current())
        packing.driver(grader / assignment.master.name, assignment.name)
        wheel = packing.wheel(solutions.parent, grader)
        assignment.requirements = str(grader / "requirements.txt")
        (grader / "requirements.txt").write_text(f"{assignment.generate.autograder_dir}/source/files/{wheel.name}\n")
        assignment.files = [assignment.master.name, wheel.name]

    def before_grading(self, config: Any) -> None:
        """Grade the upload, and leave nothing of it where Otter or its kernel could import or unpickle it.

        Raises GraderFault.
        """
        place = Path(self.submission_path).parent.parent
        try:
            (place / "results" / "results.json").unlink(missing_ok=True)
            self._desk = Desk(place)
            self._result = self._desk.grade()
            self._document = gradescope(self._result)
        except Exception as error:
            raise GraderFault(f"the grader failed, so there is no result: {type(error).__name__}: {error}") from error

    def after_grading(self, results: Any) -> None:
        """Let Otter write the kit's entries, one a criterion, and give its own questions the same scores.

        Raises GraderFault.
        """
        if results.has_catastrophic_failure():
            raise GraderFault(f"Otter's Jupyter kernel gave no results: {results.catastrophic_error!r}")
        results.to_gradescope_dict = functools.partial(_given, self._document)
        results.set_output(self._document["output"])
        for module in self._result.modules:
            _score(results.get_result(module.module), module.graded)

    def generate_report(self) -> None:
        """Otter's last event: put the upload back, so that a second run in the same container finds it again."""
        with contextlib.suppress(OSError):
            self._desk.give_back()


class Desk:
    """The folder in which Otter grades: submission/ beside source/, and a private place for the upload in between."""

    def __init__(self, place: Path):
        self.submission, self.source = place / "submission", place / "source"
        self.source.chmod(0o700)
        self.private = Path(tempfile.mkdtemp(prefix="upload-", dir=place))

    def grade(self) -> Result:
        """Take the upload away and grade it; then submission/ holds only what Otter needs."""
        try:
            self._take()
            with open_grader() as grader:
                result = grader.grade(self._handed_in(grader.rubric.limits))
            self._furnish()
        except BaseException:
            self.give_back()
            raise
        return result

    def give_back(self) -> None:
        """Put the upload back where it was."""
        if self.private.is_dir():
            _move_all(self.private, self.submission)
            self.private.rmdir()

    def _take(self) -> None:
        """Move everything out of submission/, and drop what Otter has put there itself."""
        _move_all(self.submission, self.private)
        for own in (*(file.name for file in (self.source / "files").iterdir()), "tests"):
            _remove(self.private / own)
        marker = self.private / "__init__.py"
        if marker.is_file() and not marker.is_symlink() and not marker.stat().st_size:
            marker.unlink()

    def _furnish(self) -> None:
        """Put the driver notebook and the tests, and nothing else, where Otter looks for them."""
        for path in list(self.submission.iterdir()):
            _remove(path)
        for notebook in (self.source / "files").glob("*.ipynb"):
            shutil.copy(notebook, self.submission)
        shutil.copytree(self.source / "tests", self.submission / "tests")

    def _handed_in(self, limits: Limits) -> Submission:
        """The upload: what lies in the folder, or in the one zip in it if Gradescope has not unpacked that."""
        submission = read(self.private, limits)
        zips = [path for path in self.private.iterdir() if path.suffix.lower() == ".zip"]
        if len(zips) == 1 and not any(name.endswith(".py") for name in submission.files):
            return read(zips[0], limits)
        return submission


def _move_all(source: Path, target: Path) -> None:
    """Move what lies in one folder into another, where it takes the place of things of the same name."""
    for path in list(source.iterdir()):
        _remove(target / path.name)
        shutil.move(path, target / path.name)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        sweep.empty(str(path))  # a student's folder may be deeper than rmtree can go
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _given(document: dict[str, Any], config: Any) -> dict[str, Any]:
    """What takes the place of Otter's to_gradescope_dict; at module level, because Otter pickles it."""
    return document


def _score(question: Any, graded: tuple[Graded, ...]) -> None:
    """Give a question of Otter's the points of its module, and say what it lost."""
    lost = [one.criterion.id for one in graded if not one.passed]
    for case in question.test_case_results:
        case.passed = not lost
        case.message = f"Criteria that failed: {', '.join(lost)}" if lost else "Every criterion passed."
    question.update_score(number(sum(one.points for one in graded)) if lost else question.possible)


def _check(assignment: Any, solutions: Path) -> None:
    """Refuse a notebook that does not go with this kit: else the zip would grade something else than was checked."""
    if solutions.parent != kit.home():
        raise ValueError(f"the kit that is installed is {kit.home()}; first run: pip install -e {solutions.parent}")
    foreign = [name for name in assignment.student_files if name not in _modules()]
    if foreign:
        advice = "what students write is taken from rubric.yaml; leave student_files out"
        raise ValueError(f"{assignment.master.name}: rubric.yaml has no module for {foreign[0]}; {advice}")
    for question in sorted(path.stem for path in _tests(assignment).glob("*.py")):
        if question not in rubric.current().groups:
            known = ", ".join(rubric.current().groups)
            raise ValueError(
                f"{assignment.master.name}: rubric.yaml has nothing for the question {question}, only for {known}"
            )


def _modules() -> list[str]:
    """What students write, and Otter grades when it checks the solutions."""
    return [f"{module}.py" for module in rubric.current().modules]


def _tests(assignment: Any) -> Path:
    """Where Otter takes the zip's test files from."""
    return Path(assignment.get_ag_path("tests") if assignment.tests.files else assignment.generate_tests_dir)
