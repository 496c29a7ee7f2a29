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


# The modules of the homework in a correct style (a folder, "" for the reference), perhaps with one function replaced.
Version = tuple[str, library.Version | None]
# The response to the first test that fails on a version of the code, and the test: "" for the import of the file.
Outcome = tuple[Response, str]
PASSED = FINE, ""


@dataclass(frozen=True)
class FunctionTests:
    """The tests of one function: how many of the `total` misconceptions they detect, or the `problem` that costs all
    points.

    "missing": there is no file. "few": the file tests too few functions. "import": it cannot be imported with correct
    code. "rejects": a `test` fails on a correct solution in a `style`, with this `response`. "time": the correct
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
    response: Response = FINE
    test: str = ""

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
    by_version = {("", homework.alone(misconception)): misconception for misconception in misconceptions}
    correct = homework.correct(module, function)
    versions: list[Version] = [("", correct), *((style, None) for style in styles), *by_version]
    order.shuffle(versions)
    responses = dict[Misconception, Response]()
    for version in versions:
        response, test = outcome_of(sandbox, homework, version, tests)
        if version[1] is not None and version[1] != correct:
            responses[by_version["", version[1]]] = response
        elif response != FINE:
            plain = outcome_of(sandbox, homework, ("", None), tests)
            style = version[0]
            if plain[0] not in (FINE, SPENT):  # the clearest case, if they reject it too
                style, (response, test) = "", plain
            problem = "time" if response == SPENT else "rejects" if test else "import"
            solution = homework.alternatives / style / f"{module}.py"  # none for the reference
            text = solution.read_text(encoding="utf-8") if solution.is_file() else ""
            words = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            return FunctionTests(function, problem, style=words, response=response, test=test)
    return FunctionTests(
        function,
        detected=sum(response not in (FINE, SPENT) for response in responses.values()),
        total=len(responses),
        undetected=next((m for m in misconceptions if responses[m] == FINE), None),
        not_run=SPENT in responses.values(),
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
        return loaded, ""
    for test in tests:  # one at a time, to identify a test that does not end
        response = replace(process.run([Call(MODULE, test)], TESTS)[0], value=None)
        if response != FINE:
            return response, test
    return PASSED


def _references(homework: Homework, version: Version) -> list[Reference]:
    """Return a version of every module that has misconceptions."""
    style, function = version
    paths = (homework.alternatives / style).glob("*.py") if style else ()
    files = {path.stem: path.read_text(encoding="utf-8") for path in paths}
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
