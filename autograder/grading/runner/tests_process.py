"""Runs tests that a student has written on versions of the code: each version in turn, all in one process.

Importing `numpy.testing` into a new process takes longer than all tests.
"""

import marshal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from autograder.grading.runner import tests_session
from autograder.grading.runner.processes import extension
from autograder.homework import kit, library
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import TESTS, TESTS_FILE
from autograder.sandbox.messages import Reference, Response, prepared_request
from autograder.sandbox.process import SPENT, StudentProcess
from autograder.sandbox.sandbox import Sandbox
from autograder.values import running_tests

MODULE = TESTS_FILE.removesuffix(".py")
FINE = Response()


@dataclass(frozen=True)
class Version:
    """The modules of the homework in a correct style (a folder, "" for the reference), perhaps with one function replaced."""

    style: str = ""
    function: library.Version | None = None


@dataclass(frozen=True)
class Outcome:
    """The response to the first `test` that fails on a version of the code; without `test`, to the import of the file."""

    response: Response = FINE
    test: str = ""

    @property
    def passed(self) -> bool:
        return self.response == FINE

    @property
    def spent(self) -> bool:
        return self.response == SPENT

    @property
    def failed(self) -> bool:
        return not (self.passed or self.spent)

    @property
    def line(self) -> int:
        return self.response.error.line if self.response.error else 0


PASSED = Outcome()


class TestsProcess:
    """Runs the tests of one file in a process. If the process ends, the next version gets a new one."""

    def __init__(self, sandbox: Sandbox, text: bytes):
        sandbox.place({TESTS_FILE: text})
        self._sandbox = sandbox
        self._process: StudentProcess | None = None

    def outcome(self, version: Version, tests: Sequence[str]) -> Outcome:
        """Import the file beside a version of the code, and run some of its tests until one fails."""
        process = self._alive()
        loaded = process.load([MODULE], _references(version), account=TESTS)
        if loaded != FINE:
            return Outcome(loaded)
        for test in tests:  # one at a time, to identify a test that does not end
            response = process.run([prepared_request("test", MODULE, test)], TESTS)[0]
            if response != FINE:
                return Outcome(response, test)
        return PASSED

    def _alive(self) -> StudentProcess:
        if self._process is None or self._process.ended is not None:
            self._process = self._sandbox.start()
            self._process.run([extension(running_tests, tests_session)], TESTS)
        return self._process

    def close(self) -> None:
        self._sandbox.place({})


def _references(version: Version) -> list[Reference]:
    """A version of every module that has misconceptions."""
    folder = kit.alternatives() / version.style
    own = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} if version.style else {}
    entries, given = rubrics.current().modules, references.files()
    code = [Reference(name, _compiled(name, own[name])) for name in sorted(own.keys() - set(entries))]
    for name, entry in entries.items():
        if library.of_module(name):
            source = own.get(name) or given[f"{name}.py"].decode()
            if version.function is not None and version.function.module == name:
                source += f"\n\n{version.function.source}"
            code.append(Reference(name, _compiled(name, source), tuple(entry.functions)))
    code.append(Reference(MODULE, _compiled(MODULE, "")))  # removes the earlier import of the file
    return code


@lru_cache(500)
def _compiled(module: str, text: str) -> bytes:
    """The compiled module, without docstrings, so that versions differ only in behavior."""
    return marshal.dumps(compile(text, f"{module}.py", "exec", dont_inherit=True, optimize=2))
