"""Runs students' tests in a student's process. The grader sends this code to the processes that need it (tests_process.py)."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograder.sandbox.protocol import Request
from autograder.values.running_tests import pytest_module

if TYPE_CHECKING:
    from autograder.sandbox.student.session import Session


class RunTest(Request):
    """Run one test of a module."""

    kind, is_stored = "test", False

    @staticmethod
    def answer(session: "Session", module: str, name: str) -> Sequence[Any]:
        getattr(sys.modules[module], name)()
        return []


def requests(session: "Session") -> Sequence[type[Request]]:
    """The kinds of requests that this module adds to a session."""
    sys.modules["pytest"] = pytest_module()
    return [RunTest]
