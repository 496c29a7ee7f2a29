"""Grades the tests that students write (the optional group `tests` of the rubric) by the misconceptions they detect.

The tests of a function run on correct solutions in several styles, which they must accept, and on correct code with one
misconception each. The order of these versions is shuffled. It depends only on the file and on the reference solutions,
so grading is reproducible, but student code cannot predict it.
"""

import ast
import random
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.grading.runner.tests_process import PASSED, Outcome, TestsProcess, Version
from autograder.grading.scoring import CriterionScore
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.homework.rubric import TESTS, TESTS_FILE
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission
from autograder.values.running_tests import tested
from autograder.values.source import definitions


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
        return self.detected / self.known if self.known else 0.0


def graded_tests(sandbox: Sandbox, homework: Homework, submission: Submission) -> tuple[CriterionScore, ...]:
    """The criteria of the students' tests: one per tested function, in the order of the file."""
    rubric, text = homework.rubric, submission.text(TESTS_FILE)
    criteria, process = rubric.of(TESTS), TestsProcess(sandbox, homework, text)
    order = random.Random(text + b"".join(homework.files.values()))
    tests = by_function(text, homework, len(criteria))
    graded = [_graded(homework, process, order, name, own) for name, own in tests.items()]
    process.close()
    few = FunctionTests(problem="few" if text.strip() else "missing")
    graded += [few] * (len(criteria) - len(graded))
    return tuple(
        CriterionScore(criterion, "right" if own.share == 1 else "tests", share=own.share, tests=own)
        for criterion, own in zip(criteria, graded, strict=True)
    )


def by_function(text: bytes, homework: Homework, most: int) -> dict[str, list[str]]:
    """The names of the tests of each tested function, for the first `most` functions in the file."""
    tables = (table for module in homework.library.values() for table in module.values())
    functions = [table.function for table in tables if table.misconceptions]
    tests = dict[str, list[str]]()
    for name in definitions(text):
        if name.startswith("test_") and (function := tested(name, functions)):
            tests.setdefault(function, []).append(name)
    return dict(list(tests.items())[:most])


def _graded(
    homework: Homework, process: TestsProcess, order: random.Random, function: str, tests: Sequence[str]
) -> FunctionTests:
    """Run the tests of a function on every version, up to a correct one that they do not accept."""
    module = homework.rubric.module_of(function)
    misconceptions = [m for m in homework.of_function(module, function) if m.way == 0]  # the first variant of each
    styles = ["", *sorted(path.name for path in homework.alternatives.glob("[!_.]*/"))]
    wrong = {Version(function=homework.alone(misconception)): misconception for misconception in misconceptions}
    versions = [Version(function=homework.correct(module, function)), *map(Version, styles), *wrong]
    order.shuffle(versions)
    outcomes = dict[Misconception, Outcome]()
    for version in versions:
        outcome = process.outcome(version, tests)
        if version in wrong:
            outcomes[wrong[version]] = outcome
        elif not outcome.passed:
            if (plain := process.outcome(Version(), tests)).failed:  # the clearest case, if they reject it too
                version, outcome = Version(), plain
            problem = "time" if outcome.spent else "rejects" if outcome.test else "import"
            solution = homework.alternatives / version.style / f"{module}.py"  # none for the reference
            text = solution.read_text(encoding="utf-8") if solution.is_file() else ""
            style = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
            return FunctionTests(function, problem, style=style, outcome=outcome)
    return FunctionTests(
        function,
        detected=sum(outcome.failed for outcome in outcomes.values()),
        known=len(outcomes),
        undetected=next((m for m in misconceptions if outcomes[m].passed), None),
        not_run=any(outcome.spent for outcome in outcomes.values()),
    )
