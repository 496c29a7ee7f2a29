"""Runs students' tests in a student's process. The grader sends this code to the processes that need it (student_tests.py).

It adds these requests:
    ["fresh", module]       -> ["answered", None]: the next load imports the file of tests again
    ["test", module, name]  -> ["answered", line]: -1 if the test passes, else the line where it fails, 0 if unknown
"""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from autograder.values.errors import place
from autograder.values.running_tests import pytest_module

if TYPE_CHECKING:
    from autograder.sandbox.student.loading import StudentModules

PASSES = -1


def handlers(submission: "StudentModules", response: Callable[[bytes], tuple[Any, ...]]) -> Mapping[str, Any]:
    """The requests that this module adds to a session."""
    sys.modules["pytest"] = pytest_module()

    def fresh(module: str) -> tuple[Any, ...]:
        sys.modules.pop(module, None)
        return ("answered", None)

    def test(module: str, name: str) -> tuple[Any, ...]:
        try:
            getattr(sys.modules[module], name)()
        except BaseException as error:  # also SystemExit, which a test may raise
            return ("answered", place(error.__traceback__, lambda file: file.startswith(submission.folder))[1])
        return ("answered", PASSES)

    return {"fresh": fresh, "test": test}
