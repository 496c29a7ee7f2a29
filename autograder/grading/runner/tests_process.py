"""Runs tests that a student has written on versions of the code, in a new process for each version."""

import ast
import inspect
import marshal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from autograder.homework import library
from autograder.homework.homework import Homework
from autograder.homework.rubric import TESTS, TESTS_FILE
from autograder.sandbox.process import SPENT, StudentProcess
from autograder.sandbox.protocol import Call, Reference, Response
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
    """Runs the tests of one file, on one version of the code after another."""

    def __init__(self, sandbox: Sandbox, homework: Homework, text: bytes):
        sandbox.place({TESTS_FILE: text})
        self._sandbox, self._homework = sandbox, homework
        self._process: StudentProcess | None = None

    def outcome(self, version: Version, tests: Sequence[str]) -> Outcome:
        """Import the file beside a version of the code, and run some of its tests until one fails."""
        # Without fork, a start would take a quarter of a second, so the last process is used again if it is alive.
        if self._process is None or self._process.ended is not None or "fork" in self._sandbox.layers:
            self._process = self._sandbox.start()
        loaded = self._process.load([MODULE], _references(self._homework, version), account=TESTS)
        if loaded != FINE:
            return Outcome(loaded)
        for test in tests:  # one at a time, to identify a test that does not end
            response = replace(self._process.run([Call(MODULE, test)], TESTS)[0], value=None)
            if response != FINE:
                return Outcome(response, test)
        return PASSED

    def close(self) -> None:
        self._sandbox.place({})


def _references(homework: Homework, version: Version) -> list[Reference]:
    """A version of every module that has misconceptions."""
    folder, function = homework.alternatives / version.style, version.function
    own = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} if version.style else {}
    entries, given = homework.rubric.modules, homework.files
    code = [Reference(name, _compiled(name, own[name])) for name in sorted(own.keys() - set(entries))]
    for name, entry in entries.items():
        if homework.of_module(name):
            source = own.get(name) or given[f"{name}.py"].decode()
            definition = function.source if function is not None and function.module == name else ""
            code.append(Reference(name, _compiled(name, source, definition), tuple(entry.functions)))
    code.append(Reference("pytest", _compiled("pytest", inspect.getsource(running_tests)), ("raises", "mark")))
    # Remove the earlier import of the file.
    code.append(Reference(MODULE, _compiled(MODULE, "")))
    return code


@lru_cache(500)
def _compiled(module: str, text: str, definition: str = "") -> bytes:
    """The compiled module, perhaps with another definition of one function, without a trace of what was replaced.

    It has no docstrings, and everything is in line 1, so versions differ only in the code of that function.
    """
    tree = ast.parse(text)
    for function in ast.parse(definition).body:
        assert isinstance(function, ast.FunctionDef)
        names = [getattr(node, "name", "") for node in tree.body]
        tree.body[names.index(function.name)] = function
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            vars(node).update(lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)
    return marshal.dumps(compile(tree, f"{module}.py", "exec", dont_inherit=True, optimize=2))
