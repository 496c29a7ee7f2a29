"""Grades the tests that students write (the optional group `tests` of the rubric) by the misconceptions they detect.

The file runs in the sandbox on correct solutions in several styles, which it must accept, and on correct code with one
misconception each. Their shuffled order depends on the file alone, so a test cannot rely on time or order. One process
runs many versions, because importing `numpy.testing` takes longer than all tests.
"""

import ast
import hashlib
import marshal
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from autograder.exceptions import SandboxError
from autograder.grading.runner import tests_session
from autograder.grading.runner.processes import extension
from autograder.grading.scoring import CriterionScore
from autograder.homework import kit, library
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.library import Misconception
from autograder.homework.rubric import TESTS, TESTS_FILE, Rubric
from autograder.sandbox.messages import Call, Reference, Response, prepared_load, prepared_request
from autograder.sandbox.process import SPENT, StudentProcess
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission
from autograder.values import errors, running_tests
from autograder.values.source import definitions

MODULE = TESTS_FILE.removesuffix(".py")
FINE = Response()
FRESH = prepared_request("fresh", MODULE)


@dataclass(frozen=True)
class Outcome:
    """The first test that fails on a version of the code, with its line, or in `response` a failing import or process."""

    test: str = ""
    line: int = 0
    response: Response = FINE

    @property
    def failed(self) -> bool:
        return not self.spent and (bool(self.test) or self.response != FINE)

    @property
    def spent(self) -> bool:
        return self.response == SPENT


PASSED = Outcome()


@dataclass(frozen=True)
class FunctionTests:
    """The tests of one function: how many of the `known` misconceptions they detect, or the `problem` that costs all
    points.

    "missing": there is no file. "few": the file tests too few functions. "import": it cannot be imported with correct
    code. "rejects": a test fails on a correct solution in a `style`, as `outcome` describes. "time": the correct
    solutions took too long. `undetected` is one misconception that no test detects. `not_run`: some tests did not run
    because time was up.
    """

    function: str = ""
    problem: str = ""
    detected: int = 0
    known: int = 0
    undetected: Misconception | None = None
    not_run: bool = False
    style: str = ""
    outcome: Outcome = PASSED

    @property
    def share(self) -> float:
        return self.detected / self.known if self.known and not self.problem else 0.0


@dataclass(frozen=True)
class Version:
    """The modules of the homework in a correct style (a folder, "" for the reference), with some functions replaced."""

    style: str = ""
    functions: tuple[library.Version, ...] = ()

    @property
    def misconception(self) -> Misconception | None:
        return next((m for version in self.functions for m in version.misconceptions), None)


def graded_tests(sandbox: Sandbox, rubric: Rubric, submission: Submission) -> tuple[CriterionScore, ...]:
    """The criteria of the students' tests: one per tested function, in the order of the file."""
    criteria, text = rubric.of(TESTS), submission.text(TESTS_FILE)
    tests = by_function(text, rubric, len(criteria))
    graded = _graded(sandbox, rubric, text, tests) if tests else []
    few = FunctionTests(problem="few" if text.strip() else "missing")
    graded += [few] * (len(criteria) - len(graded))
    return tuple(
        CriterionScore(criterion, "right" if own.share == 1 else "tests", share=own.share, tests=own)
        for criterion, own in zip(criteria, graded, strict=True)
    )


def by_function(text: bytes, rubric: Rubric, most: int) -> dict[str, list[str]]:
    """The names of the tests of each tested function, for the first `most` functions in the file."""
    functions = [name for name in references.functions() if known(name, rubric)]
    tests = dict[str, list[str]]()
    for name in definitions(text):
        if name.startswith("test_") and (function := running_tests.tested(name, functions)):
            tests.setdefault(function, []).append(name)
    return dict(list(tests.items())[:most])


def known(function: str, rubric: Rubric) -> list[Misconception]:
    """The misconceptions of a function, each in its first variant."""
    return [m for m in library.of_function(rubric.module_of(function), function) if m.way == 0]


def _graded(sandbox: Sandbox, rubric: Rubric, text: bytes, tests: dict[str, list[str]]) -> list[FunctionTests]:
    styles = ("", *sorted(path.name for path in kit.alternatives().glob("[!_.]*/")))
    library_style = Version(functions=tuple(library.correct(rubric.module_of(name), name) for name in tests))
    correct = [library_style, *map(Version, styles)]
    wrong = {name: [Version(functions=(m.alone,)) for m in known(name, rubric)] for name in tests}
    first, *runs = [(version, name) for name in tests for version in (*correct, *wrong[name])]
    random.Random(hashlib.sha256(text).digest()).shuffle(runs)
    sandbox.place({TESTS_FILE: text})
    outcomes: dict[str, dict[Version, Outcome]] = {name: {} for name in tests}
    process: StudentProcess | None = None
    for version, name in (first, *runs):
        if any(earlier.misconception is None and own.failed for earlier, own in outcomes[name].items()):
            continue  # its tests reject a correct solution
        if process is None or process.ended is not None:
            process = sandbox.start()
            error = process.run([extension(errors, running_tests, tests_session)], TESTS)[0].error
            if error is not None:
                raise SandboxError(f"the code that runs tests cannot be loaded: {error.kind}: {error.text}")
        outcomes[name][version] = _outcome(process, version, tests[name])
    sandbox.place({})
    return [_of_function(rubric, name, own) for name, own in outcomes.items()]


def _outcome(process: StudentProcess, version: Version, names: Sequence[str]) -> Outcome:
    """The outcome of some tests on a version of the code."""
    loaded = process.run([FRESH, _load(version)], TESTS)[-1]
    if loaded != FINE:
        return Outcome(response=loaded)
    for name in names:  # one at a time, to identify a test that does not end
        response = process.run([prepared_request("test", MODULE, name)], TESTS)[0]
        if response == SPENT:
            return Outcome(response=response)
        if response.value != tests_session.PASSES:
            return Outcome(name, response.value if type(response.value) is int else 0, response)
    return PASSED


def _of_function(rubric: Rubric, function: str, outcomes: dict[Version, Outcome]) -> FunctionTests:
    correct = {version: outcome for version, outcome in outcomes.items() if version.misconception is None}
    for version, outcome in correct.items():
        if outcome.failed:
            problem = "rejects" if outcome.test else "import"
            return FunctionTests(function, problem, style=_described(version, rubric, function), outcome=outcome)
    if any(outcome.spent for outcome in correct.values()):
        return FunctionTests(function, "time")
    wrong = {version.misconception: outcome for version, outcome in outcomes.items() if version.misconception}
    return FunctionTests(
        function,
        detected=sum(outcome.failed for outcome in wrong.values()),
        known=len(wrong),
        undetected=next((m for m in known(function, rubric) if wrong[m] == PASSED), None),
        not_run=any(outcome.spent for outcome in wrong.values()),
    )


def _described(version: Version, rubric: Rubric, function: str) -> str:
    """The style of a correct solution in words; "" for the reference."""
    path = kit.alternatives() / version.style / f"{rubric.module_of(function)}.py"
    text = path.read_text(encoding="utf-8") if version.style and path.is_file() else ""
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


# The code under test, as it is sent to a process


@lru_cache(1000)
def _load(version: Version) -> Call:
    """Import the file of tests with a version of every module that has misconceptions."""
    folder = kit.alternatives() / version.style
    files = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} if version.style else {}
    entries = rubrics.current().modules
    code = [Reference(name, _compiled(name, files[name])) for name in sorted(files.keys() - set(entries))]
    for name, entry in entries.items():
        if library.of_module(name):
            own = [function.source for function in version.functions if function.module == name]
            source = files.get(name) or "\n\n".join([references.files()[f"{name}.py"].decode(), *own])
            code.append(Reference(name, _compiled(name, source), tuple(entry.functions)))
    return prepared_load([MODULE], code)


@lru_cache(500)
def _compiled(module: str, text: str) -> bytes:
    """The compiled module, without docstrings, so that versions differ only in behavior."""
    return marshal.dumps(compile(text, f"{module}.py", "exec", dont_inherit=True, optimize=2))
