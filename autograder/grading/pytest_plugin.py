"""The hidden suites under pytest: the marker, the fixtures, and `--submission` to run them by hand.

Fails of a test are the student's when it raises Mismatch or AssertionError; anything else is a fault of the suite.
A suite is refused (pytest.UsageError) when a test names no criterion of the rubric, or a criterion has no test.
"""

import contextlib
import difflib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from autograder.grading.suite import Check, Log, Reference, rng_for
from autograder.grading.trial import Trial
from autograder.homework import kit
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, Rubric
from autograder.intake.reading import read
from autograder.sandbox.process import Sandbox


class Subject(Protocol):
    """What a test is run on."""

    module: str
    log: Log

    def check(self) -> Check: ...

    def student_object(self) -> Check: ...


class Bench:
    """Where the fixtures find the trial of a module: put there by the grader, or made for `--submission`."""

    def __init__(self) -> None:
        self.trials: dict[str, Subject] = {}
        self.cleanup = contextlib.ExitStack()


FIXTURES = {"check", "student", "reference", "rng"}
BENCH = pytest.StashKey[Bench]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion of rubric.yaml that the test belongs to")
    config.stash[BENCH] = Bench()


def criterion_of(item: pytest.Item) -> str:
    marker = item.get_closest_marker("criterion")
    return str(marker.args[0]) if marker is not None and marker.args else ""


def mismatches(items: Sequence[pytest.Item], rubric: Rubric) -> list[str]:
    """Where tests and rubric do not know the same criteria, one line each."""
    used = {criterion_of(item) for item in items}
    unknown = {item.nodeid: criterion_of(item) for item in items if criterion_of(item) not in rubric.criteria}
    found = []
    for name in (name for name in rubric.criteria if name not in used):
        near = difflib.get_close_matches(name, [name for name in unknown.values() if name], 1, 0.5)
        found.append(
            f"{rubric.place(name)}: no test names this criterion"
            + (f"; tests name {near[0]!r}, which the rubric does not have" if near else f"; add one in {kit.suites()}")
        )
    if not found:
        found = [
            f"{node} "
            + (f"names the criterion {name!r}, which rubric.yaml does not have" if name else "has no @criterion")
            for node, name in unknown.items()
        ]
    return found


@pytest.fixture
def trial(request: pytest.FixtureRequest) -> Subject:
    bench = request.config.stash[BENCH]
    module = criterion_of(request.node).partition(".")[0]
    if module not in bench.trials:
        if criterion_of(request.node) not in rubrics.current().criteria:
            raise pytest.UsageError(f"{request.node.nodeid} names no criterion of rubric.yaml")
        path = request.config.getoption("--submission")
        if path is None:
            pytest.exit(
                "say which submission to grade: pytest autograder/homework/suites --submission FOLDER", returncode=2
            )
        bench.trials[module] = by_hand(path, module, bench.cleanup)
    return bench.trials[module]


def provide(name: str, trial: Subject, test: str) -> Any:
    """The value of one of the four fixtures for a test."""
    if name == "check":
        return trial.check()
    if name == "student":
        return trial.student_object()
    return rng_for(test) if name == "rng" else reference_for(trial.module)


@cache
def reference_for(module: str) -> Reference:
    functions, modules = references.functions(), rubrics.current().modules
    if module == INTEGRATION:
        return Reference({name: Reference({f: functions[f] for f in modules[name].functions}) for name in modules})
    return Reference({name: functions[name] for name in modules[module].functions})


@pytest.fixture
def check(trial: Subject) -> Check:
    check: Check = provide("check", trial, "")
    return check


@pytest.fixture
def student(trial: Subject) -> Check:
    student: Check = provide("student", trial, "")
    return student


@pytest.fixture
def reference(trial: Subject) -> Reference:
    return reference_for(trial.module)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return rng_for(request.node.name)


# by hand: pytest autograder/homework/suites --submission FOLDER


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--submission", type=Path, help="the submission (folder, zip or file) that the hidden suites are run on"
    )


def by_hand(path: Path, module: str, cleanup: contextlib.ExitStack) -> Trial:
    """The module of the submission at `path` on trial, in a sandbox that lasts as long as pytest does."""
    limits = rubrics.current().limits
    submission = read(path, limits)
    sandbox = cleanup.enter_context(Sandbox(limits))
    sandbox.place(submission.files)
    trial = Trial(sandbox, rubrics.current(), module, submission)
    cleanup.callback(trial.close)
    return trial


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[BENCH].cleanup.close()
