"""The test plan of a homework: every call that grading makes, recorded once from the suites and the public examples.

The suites run on the reference under pytest, without student processes. This reveals errors in the suites before any
grading: a test that fails on the reference or names no criterion, or a criterion without a test.
"""

import difflib
import os
import traceback
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import Rules, Target, TestCall
from autograder.grading.recorder import RECORDERS, RECORDING, Recorder, criterion_of
from autograder.homework import kit, library
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, TESTS, Rubric, RubricError
from autograder.values.compare import TOLERANCE, tolerance


@dataclass(frozen=True)
class Plan:
    """The test calls of each module and of "integration", in the order of the suites; public examples separately."""

    rubric: Rubric
    hidden: dict[str, tuple[TestCall, ...]]
    visible: dict[str, tuple[TestCall, ...]]
    examples: dict[str, tuple[TestCall, ...]]

    def shown(self, module: str) -> tuple[TestCall, ...]:
        """The test calls whose responses a student may see: those of visible criteria, then the public examples."""
        return self.visible.get(module, ()) + self.examples.get(module, ())

    def in_order(self, module: str) -> tuple[tuple[TestCall, ...], tuple[TestCall, ...]]:
        """The public calls of a module, and those of its second process: an example of each function, then the hidden calls."""
        first = {example.target.function: example for example in reversed(self.examples.get(module, ()))}
        return self.shown(module), (*reversed(first.values()), *self.hidden.get(module, ()))

    def together(self, criterion: str) -> tuple[TestCall, ...]:
        """The test calls of a criterion of the integration."""
        test_calls = self.visible.get(INTEGRATION, ()) + self.hidden.get(INTEGRATION, ())
        return tuple(test_call for test_call in test_calls if test_call.criterion == criterion)


@cache
def current() -> Plan:
    """The test plan of the installed homework, recorded once; raises the same errors as `record`."""
    return record(rubrics.current())


def record(rubric: Rubric) -> Plan:
    """Record the test plan of the installed homework.

    Raises RubricError if suites and rubric do not match, CommandError if a test fails on the reference.
    """
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        recorders = _run(rubric)
        examples = {module: tuple(_examples(module, rubric).test_calls) for module in rubric.modules}
    tested = {recorder.criterion for recorder in recorders if recorder.test_calls}
    for name in rubric.criteria.keys() - tested:
        raise RubricError(f"{rubric.place(name)}: the tests of this criterion make no call; add check.f(...) to one")
    hidden, visible = defaultdict[str, list[TestCall]](list), defaultdict[str, list[TestCall]](list)
    for recorder in recorders:
        for test_call in recorder.test_calls:
            # Answers to questions are checked immediately: these calls have no inputs that could leak.
            shown = rubric.criteria[recorder.criterion].visible or test_call.rules.question
            (visible if shown else hidden)[recorder.module].append(test_call)
    frozen_hidden, frozen_visible = ({m: tuple(own) for m, own in calls.items()} for calls in (hidden, visible))
    return Plan(rubric, frozen_hidden, frozen_visible, examples)


def _examples(module: str, rubric: Rubric) -> Recorder:
    """Every public example as a test call; its dtype counts if the arguments are float32."""
    first = 1_000_000 * (1 + list(rubric.modules).index(module))  # unique numbers
    recorder = Recorder(module, references.by_name(), first=first)
    for function in rubric.modules[module].functions:
        for args, kwargs in library.examples(module, function):
            try:
                references.functions()[function](*args, **kwargs)
                rules = Rules(dtype=tolerance((args, kwargs)) == TOLERANCE["float32"])
            except ValueError:
                rules = Rules(error="ValueError")
            recorder.call(Target(module, function), args, kwargs, rules, keep=False)
    return recorder


# The suites under pytest


def _run(rubric: Rubric) -> list[Recorder]:
    """Run every suite on the reference; returns the recorders of all tests."""
    recording = _Recording(rubric)
    options = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--disable-plugin-autoload"]
    options += ["--assert=plain", "--import-mode=importlib", "--capture=no", "-c", str(kit.suites() / "pytest.ini")]
    with pytest.MonkeyPatch.context() as environment:
        for name in list(os.environ):  # the user's settings
            if name.startswith("PYTEST_") and name != "PYTEST_CURRENT_TEST":
                environment.delenv(name)
        pytest.main([*options, str(kit.suites())], [recording])
    if recording.misfits:
        raise RubricError("\n".join(recording.misfits))
    if recording.faults:
        raise CommandError("; ".join([*dict.fromkeys(recording.faults)][:3]))
    return recording.recorders


class _Recording:
    """A pytest plugin; its hooks are in the order in which pytest calls them."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.recorders: list[Recorder] = []
        self.misfits: list[str] = []
        self.faults: list[str] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[RECORDING] = True

    def pytest_exception_interact(self, call: "pytest.CallInfo[Any]", report: Any) -> None:
        collected = isinstance(report, pytest.CollectReport)
        (self.misfits if collected else self.faults).append(_in_suite(call.excinfo, report.nodeid))

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        self.misfits = self.misfits or misfits(items, self.rubric)
        if self.misfits:
            items.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.faults.append(f"{report.nodeid} is skipped: a hidden test must run on the reference")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.recorders = session.config.stash.get(RECORDERS, [])


def _in_suite(caught: "pytest.ExceptionInfo[Any] | None", test: str) -> str:
    """An error in a suite on one line, with its line in the suite."""
    if caught is None:
        return f"{test}: failed"
    error = caught.value.__cause__ if isinstance(caught.value, pytest.Collector.CollectError) else caught.value
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    frames = traceback.extract_tb((error or caught.value).__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(kit.suites())]
    place = f"{own[-1].filename}:{own[-1].lineno}" if own else test
    kind = "" if isinstance(error, CommandError | AssertionError) else f"{type(error).__name__}: "
    text = str(error) or f"the reference fails: {own[-1].line if own else test}"
    return f"{place}: {kind}{text}"


def misfits(items: Sequence[pytest.Item], rubric: Rubric) -> list[str]:
    """The criteria that only the tests or only the rubric have, one line each."""
    used = {criterion_of(item) for item in items} | {criterion.id for criterion in rubric.of(TESTS)}
    unknown = {item.nodeid: criterion_of(item) for item in items if criterion_of(item) not in rubric.criteria}
    problems = []
    for name in (name for name in rubric.criteria if name not in used):
        near = difflib.get_close_matches(name, filter(None, unknown.values()), 1, 0.5)
        advice = f"tests name {near[0]!r}, which the rubric does not have" if near else f"add one in {kit.suites()}"
        problems.append(f"{rubric.place(name)}: no test names this criterion; {advice}")
    return problems or [
        f"{node} names the criterion {name!r}, which rubric.yaml does not have" if name else f"{node} has no @criterion"
        for node, name in unknown.items()
    ]
