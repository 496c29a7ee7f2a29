"""Runs students' tests in a student's process. The grader sends this code to the processes that need it (tests_process.py).

It adds one request:
    ["test", module, name]  -> ["answered", None] or ["raised", error]
"""

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from autograder.values.running_tests import pytest_module

if TYPE_CHECKING:
    from autograder.sandbox.student.loading import StudentModules


def handlers(submission: "StudentModules", response: Callable[[bytes], tuple[Any, ...]]) -> Mapping[str, Any]:
    """The requests that this module adds to a session."""
    sys.modules["pytest"] = pytest_module()

    def test(module: str, name: str) -> tuple[Any, ...]:
        getattr(sys.modules[module], name)()
        return ("answered", None)

    return {"test": test}
