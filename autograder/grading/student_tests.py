"""Grades the tests that students write (the optional group `tests` of the rubric) by the misconceptions they detect.

The tests of a function run on correct solutions in several styles, which they must accept, and on correct code with one
misconception each. The order of these versions is shuffled. It depends only on the file and on the reference solutions,
so grading is reproducible, but student code cannot predict it.
"""

import ast
import inspect
import marshal
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from autograder.grading.scoring import CriterionScore
from autograder.homework import library
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.homework.rubric import TESTS, TESTS_FILE
from autograder.sandbox.process import SPENT
from autograder.sandbox.protocol import Call, Reference, Response
from autograder.sandbox.sandbox import Sandbox
from autograder.shared import running_tests
from autograder.shared.running_tests import tested
from autograder.shared.source import definitions
from autograder.submissions.submission import Submission

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


@dataclass(frozen=True)
class FunctionTests:
    """The tests of one function: how many of the `total` misconceptions they detect, or the `problem` that costs all
    points.

    "missing": there is no file. "few": the file tests too few functions. "import": it cannot be imported with correct
    code. "rejects": a test fails on a correct solution in a `style`, as `outcome` describes. "time": the correct
    solutions took too long. `undetected` is one misconception that no test detects. `not_run`: some tests did not run
    because time was up.
    """

    function: str = ""
    problem: str = ""
    detected: int = 0
    total: int = 0
    undetected: Misconception | None = None
    not_run: bool = False
    style: str = ""
    outcome: Outcome = PASSED

    @property
    def share(self) -> float:
        return self.detected / self.total if self.total else 0.0


def graded_tests(sandbox: Sandbox, homework: Homework, submission: Submission) -> tuple[CriterionScore, ...]:
    """Return the criteria of the students' tests: one per tested function, in the order of the file."""
    rubric, text = homework.rubric, submission.text(TESTS_FILE)
    criteria = rubric.of(TESTS)
    sandbox.write({TESTS_FILE: text})
    order = random.Random(text + b"".join(homework.files.values()))
    tests = by_function(text, homework, len(criteria))
    graded = [_graded(sandbox, homework, order, name, names) for name, names in tests.items()]
    sandbox.write({})
    few = FunctionTests(problem="few" if text.strip() else "missing")
    graded += [few] * (len(criteria) - len(graded))
    return tuple(
        CriterionScore(criterion, "right" if results.share == 1 else "tests", share=results.share, tests=results)
        for criterion, results in zip(criteria, graded, strict=True)
    )


def by_function(text: bytes, homework: Homework, most: int) -> dict[str, list[str]]:
    """Return the names of the tests of each tested function, for the first `most` functions in the file."""
    tables = (table for module in homework.library.values() for table in module.values())
    functions = [table.function for table in tables if table.misconceptions]
    tests = dict[str, list[str]]()
    for name in definitions(text):
        if name.startswith("test_") and (function := tested(name, functions)):
            tests.setdefault(function, []).append(name)
    return dict(list(tests.items())[:most])


def _graded(
    sandbox: Sandbox, homework: Homework, order: random.Random, function: str, tests: Sequence[str]
) -> FunctionTests:
    """Run the tests of a function on every version, up to a correct one that they do not accept."""
    module = homework.rubric.module_of(function)
    misconceptions = [m for m in homework.of_function(module, function) if m.way == 0]  # the first variant of each
    styles = ["", *sorted(path.name for path in homework.alternatives.glob("[!_.]*/"))]
    by_version = {Version(function=homework.alone(misconception)): misconception for misconception in misconceptions}
    versions = [Version(function=homework.correct(module, function)), *map(Version, styles), *by_version]
    order.shuffle(versions)
    outcomes = dict[Misconception, Outcome]()
    for version in versions:
        outcome = outcome_of(sandbox, homework, version, tests)
        if version in by_version:
            outcomes[by_version[version]] = outcome
        elif not outcome.passed:
            if (
                plain := outcome_of(sandbox, homework, Version(), tests)
            ).failed:  # the clearest case, if they reject it too
                version, outcome = Version(), plain
            problem = "time" if outcome.spent else "rejects" if outcome.test else "import"
            solution = homework.alternatives / version.style / f"{module}.py"  # none for the reference
            text = solution.read_text(encoding="utf-8") if solution.is_file() else ""
            style = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            return FunctionTests(function, problem, style=style, outcome=outcome)
    return FunctionTests(
        function,
        detected=sum(outcome.failed for outcome in outcomes.values()),
        total=len(outcomes),
        undetected=next((m for m in misconceptions if outcomes[m].passed), None),
        not_run=any(outcome.spent for outcome in outcomes.values()),
    )


# Versions of the code


def outcome_of(sandbox: Sandbox, homework: Homework, version: Version, tests: Sequence[str]) -> Outcome:
    """Import the placed file beside a version of the code in a new process, and run some of its tests until one fails."""
    process = sandbox.process
    # Without fork, a start would take a quarter of a second, so the last process is used again if it is alive.
    if process is None or process.ended is not None or "fork" in sandbox.layers:
        process = sandbox.start()
    loaded = process.load([MODULE], _references(homework, version), account=TESTS)
    if loaded != FINE:
        return Outcome(loaded)
    for test in tests:  # one at a time, to identify a test that does not end
        response = replace(process.run([Call(MODULE, test)], TESTS)[0], value=None)
        if response != FINE:
            return Outcome(response, test)
    return PASSED


def _references(homework: Homework, version: Version) -> list[Reference]:
    """Return a version of every module that has misconceptions."""
    folder, function = homework.alternatives / version.style, version.function
    files = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} if version.style else {}
    entries, reference_files = homework.rubric.modules, homework.files
    code = [Reference(name, _compiled(name, files[name])) for name in sorted(files.keys() - set(entries))]
    for name, entry in entries.items():
        if homework.of_module(name):
            source = files.get(name) or reference_files[f"{name}.py"].decode()
            definition = function.source if function is not None and function.module == name else ""
            code.append(Reference(name, _compiled(name, source, definition), tuple(entry.functions)))
    code.append(Reference("pytest", _compiled("pytest", inspect.getsource(running_tests)), ("raises", "mark")))
    # Remove the earlier import of the file.
    code.append(Reference(MODULE, _compiled(MODULE, "")))
    return code


@lru_cache(500)
def _compiled(module: str, text: str, definition: str = "") -> bytes:
    """Return the compiled module, perhaps with another definition of one function, without a trace of what was replaced.

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
