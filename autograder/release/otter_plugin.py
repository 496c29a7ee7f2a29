"""The kit as an Otter plugin: one class, with its events in the order in which Otter calls them.

`otter assign` calls during_assign, which completes the student folder and the zip for Gradescope. `otter run` calls the
others in one process: the upload is graded in the kit's sandbox, and Otter gets the result without starting its kernel.
On Gradescope the zip's run_otter.py grades without Otter, see gradescope.py.
"""

import contextlib
import functools
import json
import os
import shutil
from pathlib import Path
from typing import Any

import click
from otter.plugins import AbstractOtterPlugin

from autograder.exceptions import CommandError
from autograder.feedback.results import Grade
from autograder.grading.grader import open_grader
from autograder.homework.homework import Homework
from autograder.submissions.submission import read
from autograder.submissions.text import number

KIT = "autograder.release.otter_plugin.HomeworkPlugin"
UNUSED = ("python_version", "requirements", "environment")  # settings of Otter's own image
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
TEST_FILE = """\
from otter.test_files import test_case

OK_FORMAT = False

name = "{name}"
points = {points}


@test_case()
def graded_by_the_kit():
    pass
"""
UPLOAD = "upload"  # the folder, next to submission/, where Otter does not see the upload


class HomeworkPlugin(AbstractOtterPlugin):  # type: ignore[misc]
    """The plugin named in the master notebook under `plugins`."""

    def during_assign(self, assignment: Any) -> None:
        """Complete the output of `otter assign`: the student folder, and the contents of the zip.

        A homework that is rejected ends Otter with one line, and leaves neither solutions nor an unfinished zip behind.
        """
        try:
            self._complete(assignment)
        except BaseException as error:
            for folder in map(Path, (assignment.get_stu_path(), assignment.get_ag_path())):  # Otter has emptied both
                shutil.rmtree(folder, ignore_errors=True)
                with contextlib.suppress(OSError):
                    folder.parent.rmdir()  # RESULT, unless it has other files
            if isinstance(error, CommandError):
                raise click.ClickException(str(error)) from error
            raise

    def _complete(self, assignment: Any) -> None:
        from autograder.release import handout, packing  # only here: grading never needs otter.assign

        master, solutions = assignment.master, Path(assignment.master).parent.resolve()
        homework = Homework.at(solutions.parent)
        # Reject a notebook of another kit: its zip would grade a homework that was not checked.
        if solutions.parent != homework.folder:
            raise CommandError(f"the installed kit is {homework.folder}; first run: pip install -e {solutions.parent}")
        rules = homework.rubric
        if foreign := [name for name in assignment.student_files if name not in rules.files]:
            advice = "the files of students are listed in rubric.yaml; remove student_files"
            raise CommandError(f"{master.name}: rubric.yaml has no module for {foreign[0]}; {advice}")
        tests = Path(assignment.get_ag_path("tests") if assignment.tests.files else assignment.generate_tests_dir)
        if foreign := sorted({path.stem for path in tests.glob("*.py")} - {*rules.groups}):
            groups = f"only for {', '.join(rules.groups)}"
            raise CommandError(f"{master.name}: rubric.yaml has no entry for the question {foreign[0]}, {groups}")
        if unused := [key for key in UNUSED if getattr(assignment, key)]:
            image_has = "the image has the Python of rubric.yaml and the packages that the kit pins"
            raise CommandError(f"{master.name}: {unused[0]} has no effect; remove it: {image_has}")
        if foreign := [name for name in assignment.plugins if name != KIT]:
            raise CommandError(f"{master.name}: Gradescope runs no other plugin than the kit's; remove {foreign[0]}")
        student, grader = Path(assignment.get_stu_path()), Path(assignment.get_ag_path())
        assignment.student_files = list(rules.files)
        handout.write(student, homework, master.name)
        # Replace the generated tests, which are the public checks, with one for each question that does nothing.
        for path in tests.glob("*.py"):
            path.unlink()
        for group in rules.groups:
            points = number(sum(criterion.most for criterion in rules.of(group)))
            text = TEST_FILE.format(name=group, points=points)
            (tests / f"{group}.py").write_text(text, encoding="utf-8", newline="\n")
        # Otter runs an empty notebook, since the plugin grades in its place. This one has no random cell ids.
        metadata: dict[str, Any] = {"kernelspec": KERNEL}
        metadata |= {"otter": {"assignment_name": assignment.name}} if assignment.name else {}
        notebook = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
        (grader / master.name).write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8", newline="\n")
        wheel = packing.wheel(homework, grader / packing.WHEEL)
        packages = Path(shutil.copy(packing.SCRIPTS_FOLDER / "requirements.txt", wheel.parent))
        packing.use_scripts(rules.python)
        assignment.files = [master.name, *(f"{packing.WHEEL}/{path.name}" for path in (wheel, packages))]

    def before_grading(self, config: Any) -> None:
        """Grade the upload, and let Otter take the result in place of starting its kernel.

        The upload first moves to where Otter does not unpickle its `.OTTER_LOG`. Raises CommandError.
        """
        if not config.otter_run:
            raise CommandError(
                "the run_otter.py in the zip is not the kit's; build the zip again with the kit's own Otter"
            )
        from otter.run.run_autograder.runners import python_runner

        submission = Path(self.submission_path).parent
        upload, otters = submission.with_name(UPLOAD), {*os.listdir(submission.parent / "source" / "files")}
        upload.mkdir()
        for path in submission.iterdir():
            if path.name not in {*otters, "tests", "__init__.py"}:
                path.rename(upload / path.name)
        with open_grader(Homework()) as grader:
            self._result = grader.grade(read(upload, grader.rubric))
        self._with_kernel, python_runner.grade_notebook = python_runner.grade_notebook, self._without_kernel

    def _without_kernel(self, _: str, *, tests_glob: list[str], **__: Any) -> Any:
        """Replace Otter's grade_notebook, which loses the result if its kernel does not answer.

        Return one result per criterion, and for each of Otter's questions the same scores.
        """
        from otter.run.run_autograder.runners import python_runner
        from otter.test_files import GradingResults
        from otter.test_files.exception_test import ExceptionTestFile

        python_runner.grade_notebook = self._with_kernel
        questions = {Path(path).stem: ExceptionTestFile.from_file(path) for path in tests_glob}
        for module in self._result.modules:
            question = questions[module.module]
            question.run({})
            lost = [graded.criterion.id for graded in module.graded if not graded.passed]
            for case in question.test_case_results:
                case.passed = not lost
                case.message = f"Criteria that failed: {', '.join(lost)}" if lost else "Every criterion passed."
            question.update_score(number(sum(graded.points for graded in module.graded)) if lost else question.possible)
        results, document = GradingResults(list(questions.values())), Grade.of(self._result).to_gradescope()
        results.to_gradescope_dict = functools.partial(_document, document)
        results.set_output(document["output"])
        return results


def _document(document: dict[str, Any], config: Any) -> dict[str, Any]:
    """Replace Otter's to_gradescope_dict. It is at module level because Otter pickles it."""
    return document
