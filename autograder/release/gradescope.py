"""Grading on Gradescope: one upload in submission/, one results.json. The zip's run_otter.py calls `main`.

A grader error is never a 0: it leaves no results.json, and its reason in the output. Gradescope then shows the
instructor an error and keeps the submission ungraded.
"""

import contextlib
import json
from pathlib import Path

from autograder.exceptions import CommandError
from autograder.feedback.results import Grade
from autograder.files import write_atomically
from autograder.grading.grader import open_grader
from autograder.homework.homework import Homework
from autograder.sandbox import layers
from autograder.submissions.submission import read

ERROR_LENGTH = 500  # characters


def main(folder: Path) -> None:
    """Grade the upload in `place`, which has the folders source/, submission/ and results/, and write the result.

    Raises CommandError for every error, since only students' errors have a result.
    """
    document = folder / "results" / "results.json"
    try:
        document.unlink(missing_ok=True)  # a grader error must not leave the result of an earlier run
        with contextlib.suppress(OSError):  # on a read-only disk the sandbox decides whether student code could read it
            (folder / "source").chmod(0o700)
        with open_grader(Homework()) as grader:
            result = grader.grade(read(folder / "submission", grader.rubric))
        write_atomically(document, json.dumps(Grade.of(result).to_gradescope(), indent=1))
    except Exception as error:
        why = f"{type(error).__name__}: {str(error)[:ERROR_LENGTH]}"  # the text may list every file on a full disk
        raise CommandError(f"the grader failed, so there is no result: {why}") from error
    if missing := [layer for layer in layers.NAMES if layer not in result.layers]:
        print(f"note: the sandbox lacks {', '.join(missing)}; autograder/docs/explanation/sandbox.md has their effects")
    print(f"graded: {result.points:g} of {grader.rubric.most:g}")
