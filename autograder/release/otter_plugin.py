"""The kit as a plugin of Otter: one class, its events in the order in which Otter calls them.

`otter assign` calls during_assign, which completes the students' folder and the zip for Gradescope. The zip's
run_autograder calls the others in one process. By the time Otter starts its kernel, everything uploaded has been moved
out of submission/ and graded in the kit's own sandbox, and the entries of results.json are known.

A fault of the grader is never a 0: an exception here that is not an OtterRuntimeError ends Otter before it writes
results.json, and Gradescope then shows the instructor an error and keeps the submission ungraded.
"""

import contextlib
import functools
from pathlib import Path
from typing import Any

from otter.plugins import AbstractOtterPlugin

from autograder.faults import CommandError
from autograder.feedback.results import gradescope, number
from autograder.grading.grader import Graded
from autograder.homework import kit, rubric
from autograder.release.quarantine import Quarantine

FAULT_LENGTH = 500  # characters


class GraderFault(Exception):
    """The grader failed; there is no result, rather than a wrong one."""


class HomeworkPlugin(AbstractOtterPlugin):  # type: ignore[misc]
    """Named in the master notebook under `plugins`."""

    def during_assign(self, assignment: Any) -> None:
        """Complete what `otter assign` has written: the students' folder, and what goes into the zip.

        Raises CommandError or RubricError.
        """
        # Only here, to save start-up time: these import otter.assign and hatchling, which grading never needs.
        from autograder.release import handout, lock, packing

        solutions = Path(assignment.master).parent.resolve()
        _check(assignment, solutions)
        student, grader = Path(assignment.get_stu_path()), Path(assignment.get_ag_path())
        assignment.student_files = _modules()
        handout.write(student, solutions, rubric.current(), assignment.master.name)
        packing.test_files(_tests(assignment), rubric.current())
        packing.driver(grader / assignment.master.name, assignment.name)
        wheel = packing.wheel(solutions.parent, grader)
        lines = packing.requirements(wheel, f"{assignment.generate.autograder_dir}/source/files")
        (grader / "requirements.txt").write_text("\n".join(lines) + "\n")
        assignment.requirements = str(grader / "requirements.txt")
        # Otter would add its own line, with packages for features that the kit does not use and at no exact version.
        assignment.overwrite_requirements = True
        assignment.python_version = lock.python_version()
        assignment.files = [assignment.master.name, wheel.name]

    def before_grading(self, config: Any) -> None:
        """Grade the upload, and leave nothing of it where Otter or its kernel could import or unpickle it.

        Raises GraderFault.
        """
        place = Path(self.submission_path).parent.parent
        try:
            # First of all, so that a fault cannot leave the result of an earlier run to be taken for this one's.
            (place / "results" / "results.json").unlink(missing_ok=True)
            self._quarantine = Quarantine(place)
            self._result = self._quarantine.grade()
            self._document = gradescope(self._result)
        except Exception as error:
            why = f"{type(error).__name__}: {str(error)[:FAULT_LENGTH]}"  # one of a full disk may list every file
            raise GraderFault(f"the grader failed, so there is no result: {why}") from error

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
            self._quarantine.give_back()


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
        raise CommandError(f"the kit that is installed is {kit.home()}; first run: pip install -e {solutions.parent}")
    foreign = [name for name in assignment.student_files if name not in _modules()]
    if foreign:
        advice = "what students write is taken from rubric.yaml; leave student_files out"
        raise CommandError(f"{assignment.master.name}: rubric.yaml has no module for {foreign[0]}; {advice}")
    for question in sorted(path.stem for path in _tests(assignment).glob("*.py")):
        if question not in rubric.current().groups:
            known = ", ".join(rubric.current().groups)
            raise CommandError(
                f"{assignment.master.name}: rubric.yaml has nothing for the question {question}, only for {known}"
            )


def _modules() -> list[str]:
    """What students write, and Otter grades when it checks the solutions."""
    return [f"{module}.py" for module in rubric.current().modules]


def _tests(assignment: Any) -> Path:
    """Where Otter takes the zip's test files from."""
    return Path(assignment.get_ag_path("tests") if assignment.tests.files else assignment.generate_tests_dir)
